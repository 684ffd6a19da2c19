"""Operator families: what partition and realize do with each; one file a family, each with an object FAMILY."""
