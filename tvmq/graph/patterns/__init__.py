"""The pattern language: patterns of operators as trees, how they match, and rules that rewrite what they match."""
