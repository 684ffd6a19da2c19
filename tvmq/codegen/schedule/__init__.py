"""Schedules of loops that no kernel made, equal in value to the definition."""
