"""Operators as loops, where TVM's own are missing, wrong, or of other bits than the definition."""
