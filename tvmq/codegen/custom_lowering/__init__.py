"""Operators of the integer module lowered by others: a function of the user's, a library, a code generator of TVM."""
