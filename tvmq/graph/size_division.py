"""Quotients and remainders of sizes, in forms that TVM's analyzer compares.

Padding to a multiple of 32 is written as (32 - n % 32) % 32, as -n % 32, or as (n + 31) // 32 * 32 - n; here all three
become the last one, so that what is padded is seen to be a multiple.

Tests: tests/graph/test_size_proofs.py
"""

from __future__ import annotations

import operator
from typing import Any

from tvm import tirx
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.size_proofs import is_at_most
from tvmq.graph.sizes import Dim, is_number

LARGE = 10**6  # a dimension at which the sign of an expression is looked at
COMBINE = {
    tirx.Add: operator.add, tirx.Sub: operator.sub, tirx.Mul: operator.mul, tirx.FloorDiv: operator.floordiv,
    tirx.Min: tirx.min, tirx.Max: tirx.max,
}  # fmt: skip


def divide(a: Dim, b: Dim) -> Dim:
    """a / b, rounded towards zero as ONNX has it; what rises with the dimensions counts as at least 0.

    >>> from tvmq.graph.size_text import size_text
    >>> rows = tirx.Var("rows", "int64")
    >>> [size_text(divide(a, 2)) for a in (rows + 1, -rows, 3 - rows)]
    ['(rows + 1) // 2', '-(rows // 2)', '(3 - rows) / 2']
    """
    if is_number(a) and is_number(b):
        return abs(int(a)) // abs(int(b)) * (1 if (int(a) < 0) == (int(b) < 0) else -1)
    if not _falls(a):
        return a // b
    return -(Analyzer().simplify(-a) // b) if is_at_most(a, 0) else tirx.truncdiv(a, b)


def remainder(a: Dim, b: Dim) -> Dim:
    """a % b, from 0 to b - 1 for a positive b.

    >>> rows = tirx.Var("rows", "int64")
    >>> from tvmq.graph.size_text import size_text
    >>> size_text(remainder(32 - remainder(rows, 32), 32))
    '31 - (rows + 31) % 32'
    """
    if is_number(a) or not is_number(b) or int(b) < 1:
        return a % b
    whole = Analyzer().simplify(_reduce(a, int(b)))
    if not _falls(whole):
        return whole % int(b)
    rising = Analyzer().simplify(-whole)
    return (rising + (int(b) - 1)) // int(b) * int(b) - rising


def simplify_size(size: Dim) -> Dim:
    """A size in the simplest form: remainders inside of it become multiples, which the others meet.

    >>> rows = tirx.Var("rows", "int64")
    >>> from tvmq.graph.size_text import size_text
    >>> size_text(simplify_size(rows + 31 - (rows + 31) % 32))
    '32*((rows + 31) // 32)'
    """
    return Analyzer().simplify(_without_remainders(size)) if not is_number(size) else int(size)


def _without_remainders(size: Dim) -> Dim:
    if isinstance(size, tirx.FloorMod) and is_number(size.b):
        inner = _without_remainders(size.a)
        return inner - inner // size.b * size.b
    combine = COMBINE.get(type(size))
    return combine(*map(_without_remainders, (size.a, size.b))) if combine else size


def _reduce(a: Dim, b: int) -> Any:
    """An expression that leaves the same remainder by b, without remainders inside of it where that is possible."""
    if is_number(a):
        return int(a) % b
    if isinstance(a, tirx.FloorMod) and is_number(a.b) and int(a.b) % b == 0:
        return _reduce(a.a, b)
    if isinstance(a, tirx.Add):
        return _reduce(a.a, b) + _reduce(a.b, b)
    if isinstance(a, tirx.Sub):
        return _reduce(a.a, b) - _reduce(a.b, b)
    return a


def _falls(size: Dim) -> bool:
    """True for an expression that is negative where the dimensions are large: -rows, 32 - rows."""
    if is_number(size):
        return int(size) < 0
    analyzer = Analyzer()
    for symbol in undefined_vars(size):
        analyzer.bind(symbol, tirx.const(LARGE, "int64"))
    value = analyzer.simplify(size)
    return is_number(value) and int(value) < 0
