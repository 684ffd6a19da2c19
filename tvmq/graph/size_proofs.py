"""Proofs that one size is at most another, for all sizes of the dynamic dimensions.

TVM's analyzer proves most of them, but not that n // 2 is at most n. There a dimension is split by its remainder:
n = 2 k + r, where each r leaves an expression without a division.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import tvm
from tvm import tirx
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.sizes import Dim, evaluate_at, is_number

MOST_CASES = 4096  # remainders that are tried
MOST = 2**31  # sizes are below


def is_at_most(small: Dim, large: Dim) -> bool:
    """True if `small` is proved to be at most `large` wherever the dynamic dimensions are at least 0.

    >>> rows = tirx.Var("rows", "int64")
    >>> is_at_most(rows // 2, rows), is_at_most((rows + 1) // 2, rows), is_at_most(rows // 2 + 1, rows)
    (True, True, False)
    """
    difference = tirx.const(0, "int64") + large - small
    symbols = undefined_vars(difference)
    if _is_proved(difference, symbols, 1, [0] * len(symbols)):
        return True
    period = find_period(difference)
    if not symbols or period == 1 or period ** len(symbols) > MOST_CASES:
        return False
    remainders = product(range(period), repeat=len(symbols))
    return all(_is_proved(difference, symbols, period, case) for case in remainders)


def largest_value(size: Dim) -> int | None:
    """The most that an expression of one dynamic dimension can be; None where no bound is proved.

    >>> rows = tirx.Var("rows", "int64")
    >>> largest_value((rows + 31) // 32 * 32 - rows), largest_value(tirx.max(9 - rows, 0)), largest_value(rows)
    (31, 9, None)
    """
    if is_number(size):
        return int(size)
    symbols, period = undefined_vars(size), find_period(size)
    if len(symbols) != 1 or period > MOST_CASES:
        return None
    most = max(evaluate_at(size, symbols[0], n) for n in range(period + 1))
    return most if is_at_most(size, most) else None


def _is_proved(
    difference: tvm.ir.PrimExpr, symbols: Sequence[tvm.ir.Var], period: int, remainders: Sequence[int]
) -> bool:
    """True if an expression is at least 0 for dimensions that leave these remainders by the period."""
    analyzer = Analyzer()
    for symbol, remainder in zip(symbols, remainders, strict=True):
        quotient = tirx.Var(f"{symbol.name}_quotient", "int64")
        analyzer.bind(quotient, tvm.ir.Range(0, tirx.const(MOST, "int64")))
        analyzer.bind(symbol, quotient * period + remainder)
    return bool(analyzer.can_prove(difference >= 0))


def find_period(size: Dim) -> int:
    """By so much, or a multiple of it, a dimension grows to leave the remainder of every division as it is."""
    operands = [getattr(size, side) for side in ("a", "b") if hasattr(size, side)]
    period = math.lcm(*map(find_period, operands))
    if isinstance(size, tirx.FloorDiv | tirx.FloorMod) and isinstance(size.b, tirx.IntImm):
        return period * max(abs(int(size.b)), 1)
    return period
