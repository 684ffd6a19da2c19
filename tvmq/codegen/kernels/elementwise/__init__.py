"""Operators on one value at a time: sums, products, tables, conversions."""
