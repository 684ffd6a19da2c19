"""From operators to calls of kernels: patterns, rules, the choice of a kernel."""
