"""Texts of the functions in C that layers share."""
