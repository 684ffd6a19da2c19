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

from tvmq.graph.sizes import Dim, are_equal
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
    unit = tirx.Var("unit", "int64")
    for multiple in range(2, LARGEST + 1):
        analyzer = Analyzer()
        analyzer.bind(var, unit * multiple)
        if analyzer.can_prove_equal(_expression(one), _expression(other)):
            return str(var.name), multiple
    return None


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
