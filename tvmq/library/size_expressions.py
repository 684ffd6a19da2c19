"""TIR's integer expressions as numbers of a table of sizes.

Tests: tests/library/test_size_table.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm
from tvm import tirx

from tvmq.library.size_table import SizeTable

BINARY = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "FloorDiv": "floor_divide", "FloorMod": "floor_modulo",
    "Div": "divide", "Mod": "modulo", "Min": "minimum", "Max": "maximum", "LT": "less", "EQ": "equal",
    "And": "minimum", "Or": "maximum", "RShift": "shift_right",
}  # fmt: skip
IF = "prim.if_then_else"
GROWING = ("Add", "Sub", "Mul", "Cast")  # what may leave 32 bits


class Unknown(Exception):
    """An expression of something else than sizes; its argument is what."""


def number_of(table: SizeTable, expr: Any, variable: Callable[[Any], int]) -> int:
    """Number of an expression in a table.

    variable  gives the number of a variable, or raises Unknown
    raises    Unknown
    """

    def walk(node: Any) -> int:
        kind = type(node).__name__
        if isinstance(node, int):
            return table.constant(node)
        if isinstance(node, tirx.IntImm):
            return table.constant(int(node.value))
        if isinstance(node, tvm.ir.Var):
            return variable(node)
        if isinstance(node, tirx.Cast):
            number = walk(node.value)
        elif isinstance(node, tirx.Select):
            number = table.apply("select", walk(node.condition), walk(node.true_value), walk(node.false_value))
        elif str(getattr(getattr(node, "op", None), "name", "")) == IF:
            number = table.apply("select", *map(walk, node.args))
        elif isinstance(node, tirx.Not):
            number = table.apply("equal", walk(node.a), 0)
        elif kind in ("LE", "GE"):  # not a > b, not a < b
            a, b = (node.b, node.a) if kind == "LE" else (node.a, node.b)
            number = table.apply("equal", table.apply("less", walk(a), walk(b)), 0)
        elif kind == "GT":
            number = table.apply("less", walk(node.b), walk(node.a))
        elif kind == "NE":
            number = table.apply("equal", table.apply("equal", walk(node.a), walk(node.b)), 0)
        elif kind in BINARY:
            number = table.apply(BINARY[kind], walk(node.a), walk(node.b))
        else:
            raise Unknown(f"{node} ({kind})")
        is_narrow = str(node.ty) == "int32" and kind in GROWING
        return table.apply("int32", number) if is_narrow else number

    return walk(expr)
