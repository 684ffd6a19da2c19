"""Ways out: integer modules in formats that other tools read."""
