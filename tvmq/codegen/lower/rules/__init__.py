"""How chains of operators become kernel calls: one file an operator family; see lower/lowerer.py."""
