"""How chains of operators become kernel calls: one file an operator family; see codegen/lower.py."""
