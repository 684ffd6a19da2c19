"""Sizes as people write them, `2*rows + 1`: TVM prints `rows * T.int64(2) + T.int64(1)`.

Tests: tests/graph/test_size_proofs.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tvm import tirx
from tvm.sym import Analyzer

TYPED_NUMBER = re.compile(r"T\.u?int\d+\((-?\d+)\)")
SUM, PRODUCT, ATOM = range(3)  # how tightly an expression holds together
SYMBOLS = {
    "Add": ("{} + {}", SUM), "Sub": ("{} - {}", SUM), "Mul": ("{}*{}", PRODUCT),
    "FloorDiv": ("{} // {}", PRODUCT), "FloorMod": ("{} % {}", PRODUCT), "Div": ("{} / {}", PRODUCT),
}  # fmt: skip


def size_text(size: Any) -> str:
    """A size as text: a number, the name of a dynamic dimension, or the expression of it.

    >>> rows = tirx.Var("rows", "int64")
    >>> size_text(rows * 2 + 1), size_text((rows - 1) // 2 * 4), size_text(tirx.min(rows, 7))
    ('2*rows + 1', '4*((rows - 1) // 2)', 'min(rows, 7)')
    """
    is_plain = isinstance(size, int | tirx.IntImm | tirx.Var)
    return _text_and_strength(size if is_plain else Analyzer().simplify(size))[0]


def shape_text(sizes: Iterable[Any]) -> str:
    """A shape as text.

    >>> shape_text([tirx.Var("rows", "int64"), 3])
    '[rows, 3]'
    """
    return f"[{', '.join(map(size_text, sizes))}]"


def _text_and_strength(size: Any) -> tuple[str, int]:
    kind = type(size).__name__
    if isinstance(size, tirx.IntImm):
        return str(int(size)), ATOM
    if kind == "Cast":
        return _text_and_strength(size.value)
    if kind in ("Min", "Max"):
        return f"{kind.lower()}({_enclose(size.a, SUM)}, {_enclose(size.b, SUM)})", ATOM
    if kind not in SYMBOLS:
        return TYPED_NUMBER.sub(r"\1", str(size)), ATOM
    form, strength = SYMBOLS[kind]
    a, b = size.a, size.b
    if kind == "Add" and isinstance(b, tirx.IntImm) and int(b) < 0:
        form, b = "{} - {}", tirx.const(-int(b), "int64")
    if kind == "Mul" and isinstance(b, tirx.IntImm):
        if int(b) == -1:
            return f"-{_enclose(a, ATOM)}", SUM
        a, b = b, a
    return form.format(_enclose(a, strength), _enclose(b, strength + 1)), strength


def _enclose(size: Any, least: int) -> str:
    """The text of an operand, in parentheses where it holds together less than it must."""
    text, strength = _text_and_strength(size)
    return text if strength >= least else f"({text})"
