"""Groups of bindings that become one kernel."""
