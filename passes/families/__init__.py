"""What partition and realize do with one operator family: one file a family, each with an object FAMILY."""
