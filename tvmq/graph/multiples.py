"""Dynamic dimensions of which a model takes multiples only.

A network that halves a picture and doubles it again adds what has (rows + 1) // 2 and 2 * ((rows + 3) // 4) rows: equal
for multiples of 4. Its importer then reshapes the input

    x [batch, 3, rows, columns]  ->  [batch, 3, rows // 4 * 4, columns]

which moves nothing, as other sizes are refused before a run (analysis/limits.py), and from which the sizes behind it
are seen to be equal.

Tests: tests/graph/test_multiples.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tvm
from tvm import relax, tirx
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.size_proofs import find_period
from tvmq.graph.sizes import Dim, are_equal, is_multiple, is_number
from tvmq.graph.view import op_name

LARGEST = 256  # multiples that are tried


class OnlyMultiples(Exception):
    """A layer holds for multiples of a dynamic dimension only: its importer cuts the dimension, and begins anew."""

    def __init__(self, name: str, multiple: int) -> None:
        super().__init__(name, multiple)
        self.name, self.multiple = name, multiple


def cut_size(size: Dim, multiple: int) -> Dim:
    """A size, cut to a multiple of a number."""
    return size if multiple == 1 else size // multiple * multiple


def find_multiple(one: Dim, other: Dim) -> tuple[str, int] | None:
    """(dynamic dimension, m): the two sizes are equal where the dimension is a multiple of m, the least such number.

    None where no m up to LARGEST makes them equal, or where they depend on several dimensions.

    >>> rows = tirx.Var("rows", "int64")
    >>> find_multiple((rows + 1) // 2, (rows + 3) // 4 * 2)
    ('rows', 4)
    """
    variables = {var.name: var for size in (one, other) for var in undefined_vars(_expression(size))}
    if len(variables) != 1:
        return None
    (var,) = variables.values()
    multiple = next((m for m in range(2, LARGEST + 1) if _are_equal_at(one, other, [var], m)), None)
    return None if multiple is None else (str(var.name), multiple)


def require_multiple(size: Dim, number: int) -> bool:
    """True for a size that is proved to be a multiple of a number, False for one that no multiple makes so.

    raises  OnlyMultiples for a size that is one where its dynamic dimension is
    """
    if is_multiple(size, number):
        return True
    needed = None if is_number(size) else find_multiple(size, cut_size(size, number))
    if needed is not None:
        raise OnlyMultiples(*needed)
    return False


def require_equal(one: Dim, other: Dim) -> None:
    """Ask for multiples where sizes of several dimensions, as those of a reshape to windows, are equal for these alone.

    raises  OnlyMultiples for the first dimension that has to be one
    """
    symbols = undefined_vars(_expression(one) - _expression(other))
    period = find_period(_expression(one) - _expression(other))
    if not symbols or period > LARGEST or are_equal(one, other):
        return
    for multiple in (m for m in range(2, period + 1) if period % m == 0):
        if _are_equal_at(one, other, symbols, multiple):
            others = ([s for s in symbols if not s.same_as(symbol)] for symbol in symbols)
            places = zip(symbols, others, strict=True)
            raise OnlyMultiples(
                next(str(s.name) for s, rest in places if not _are_equal_at(one, other, rest, multiple)), multiple
            )


def _are_equal_at(one: Dim, other: Dim, symbols: Sequence[tvm.ir.Var], multiple: int) -> bool:
    """True if two sizes are equal where these dimensions are multiples of a number."""
    analyzer = Analyzer()
    for symbol in symbols:
        analyzer.bind(symbol, tirx.Var(f"{symbol.name}_unit", "int64") * multiple)
    return bool(analyzer.can_prove_equal(_expression(one), _expression(other)))


def unequal_sizes(shapes: Sequence[Sequence[Dim]], skipped: int | None = None) -> Iterator[tuple[Dim, Dim]]:
    """Pairs of sizes that broadcasting asks to be equal, and that are not proved to be; `skipped`: an axis, from 0."""
    first, *others = shapes
    for other in others:
        for axis in range(1, min(len(first), len(other)) + 1):
            a, b = first[-axis], other[-axis]
            if len(first) - axis != skipped and not are_equal(a, 1) and not are_equal(b, 1) and not are_equal(a, b):
                yield a, b


def multiples_of(reshape: relax.Expr) -> dict[str, int]:
    """{dynamic dimension: number} of a reshape that cuts dimensions to multiples and does nothing else; else empty."""
    if op_name(reshape) != "reshape" or reshape.args[0].ty.shape is None:
        return {}
    before, after = list(reshape.args[0].ty.shape), list(reshape.args[1])
    if len(before) != len(after):
        return {}
    multiples: dict[str, int] = {}
    for size, cut in zip(before, after, strict=True):
        if are_equal(size, cut):
            continue
        multiple = _factor(cut)
        if not isinstance(size, tirx.Var) or multiple is None or not are_equal(cut, cut_size(size, multiple)):
            return {}
        multiples[str(size.name)] = multiple
    return multiples


def _factor(size: Dim) -> int | None:
    """The number of a product with one."""
    factors = [size.a, size.b] if isinstance(size, tirx.Mul) else []
    return next((int(factor) for factor in factors if isinstance(factor, tirx.IntImm)), None)


def _expression(size: Dim) -> tvm.ir.PrimExpr:
    return tirx.const(size, "int64") if isinstance(size, int) else size
