"""Questions about dimensions, numbers or expressions of dynamic ones.

The windows of a pool, from the shape of its result.

Tests: tests/graph/test_resolve_shapes.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm
from tvm.sym import Analyzer
from tvm.tirx import floormod
from tvm.tirx.analysis import undefined_vars

MOST_OF_LEAST = 4096  # least sizes that least_positive looks for
Dim = Any  # an int, or TVM's expression of dynamic dimensions


def is_number(size: Dim) -> bool:
    """True for a size that is known before a run."""
    return isinstance(size, int | tvm.tirx.IntImm)


def name_dynamic_sizes(sizes: Sequence[Any]) -> tuple[int | str, ...]:
    """Sizes as a kernel takes them: numbers, and one name for each dynamic one."""
    return tuple(int(n) if is_number(n) else f"size{i}" for i, n in enumerate(sizes))


def is_multiple(a: Dim, b: Dim) -> bool:
    """True if `a` is proved to be a multiple of `b`.

    >>> rows = tvm.tirx.Var("rows", "int64")
    >>> is_multiple(6, 3), is_multiple(rows * 2, rows), is_multiple(rows, 2)
    (True, True, False)
    """
    if is_number(b) and int(b) == 0:
        return False
    rest = Analyzer().simplify(floormod(tvm.tirx.IntImm("int64", 0) + a, tvm.tirx.IntImm("int64", 0) + b))
    return isinstance(rest, tvm.tirx.IntImm) and int(rest) == 0


def product(dims: Sequence[Dim]) -> Dim:
    """Number of elements."""
    count: Dim = tvm.tirx.IntImm("int64", 1)
    for dim in dims:
        count = count * dim
    return Analyzer().simplify(count)


def are_equal(a: Dim, b: Dim) -> bool:
    """True if two dimensions are proved to be equal."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return bool(Analyzer().can_prove_equal(a, b))


def solve_size(a: Dim, b: Dim) -> tuple[str, int] | None:
    """(dynamic dimension, size) for which alone a and b are equal; None where several dimensions or no size do it.

    >>> batch = tvm.tirx.Var("batch", "int64")
    >>> solve_size(batch * 12, tvm.tirx.IntImm("int64", 36)), solve_size(batch * 12, tvm.tirx.IntImm("int64", 35))
    (('batch', 3), None)
    >>> words = tvm.tirx.Var("words", "int64")  # a factor that both have does not count: it is at least 1
    >>> solve_size(batch * words * 4, words * 4)
    ('batch', 1)
    """
    a, b = _without_common_dimensions(a, b)
    difference = a - b
    symbols = undefined_vars(difference)
    if len(symbols) != 1:
        return None
    at_one, at_two, at_three = (evaluate_at(difference, symbols[0], size) for size in (1, 2, 3))
    step = at_two - at_one
    if step == 0 or at_three - at_two != step or at_one % step:
        return None
    size = 1 - at_one // step
    return (str(symbols[0].name)[:], size) if size >= 1 else None


def _without_common_dimensions(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Both sizes, divided by the dynamic dimensions that are factors of both."""
    if is_number(a) or is_number(b):
        return a, b
    for symbol in undefined_vars(a):
        one = Analyzer()
        one.bind(symbol, tvm.tirx.IntImm(str(symbol.ty.dtype), 1))
        rest = one.simplify(a), one.simplify(b)
        if are_equal(a, symbol * rest[0]) and are_equal(b, symbol * rest[1]):
            a, b = rest
    return a, b


def least_positive(size: Dim) -> dict[str, int] | None:
    """{dynamic dimension: least size} from which on a size of them is at least 1; None where that does not show.

    It is proved, or, where the analyzer ends, it holds at the next 256 sizes and at the largest.

    >>> rows = tvm.tirx.Var("rows", "int64")
    >>> least_positive(rows // 2), least_positive(rows - 4), least_positive(rows * 3)
    ({'rows': 2}, {'rows': 5}, {'rows': 1})
    """
    if isinstance(size, tvm.tirx.Mul):
        factors = [least_positive(factor) for factor in (size.a, size.b)]
        return None if None in factors else _largest_of(*factors)  # type: ignore[arg-type]
    symbols = undefined_vars(size)
    if len(symbols) > 1:
        return {str(symbol.name)[:]: 1 for symbol in symbols} if _is_positive(size, symbols, 1) else None
    if not symbols:
        return {} if int(Analyzer().simplify(size)) >= 1 else None
    (symbol,) = symbols
    first = next((n for n in range(1, MOST_OF_LEAST) if evaluate_at(size, symbol, n) >= 1), None)
    if first is None:
        return None
    sizes = (*range(first, first + MOST_OF_LEAST // 16), 2**31 - 1)
    # what keeps slices inside is beyond the analyzer: minima and maxima of steps
    if _is_positive(size, symbols, first) or all(evaluate_at(size, symbol, n) >= 1 for n in sizes):
        return {str(symbol.name)[:]: first}
    return None


def is_at_least(size: Dim, least: int) -> bool:
    """True if a size is proved to be at least a number for all dimensions of at least 1.

    >>> rows = tvm.tirx.Var("rows", "int64")
    >>> is_at_least(rows + 2, 3), is_at_least(rows, 2), is_at_least(5, 5)
    (True, False, True)
    """
    if is_number(size):
        return int(size) >= least
    limits = least_positive(size - least + 1)
    return limits is not None and all(one <= 1 for one in limits.values())


def _largest_of(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {name: max(a.get(name, 1), b.get(name, 1)) for name in {**a, **b}}


def _is_positive(size: Dim, symbols: Sequence[tvm.ir.Var], least: int) -> bool:
    """True if a size is proved to be at least 1 wherever its dimensions are at least `least`."""
    analyzer = Analyzer()
    for symbol in symbols:
        analyzer.bind(symbol, tvm.ir.Range(least, tvm.tirx.const(2**31, "int64")))
    return bool(analyzer.can_prove(size >= 1))


def evaluate_at(expr: Dim, var: tvm.ir.Var, size: int) -> int:
    """Value of an expression of one dynamic dimension at a size."""
    analyzer = Analyzer()
    analyzer.bind(var, tvm.tirx.IntImm(str(var.ty.dtype), size))
    return int(analyzer.simplify(expr))


def covering_padding(
    padding: Sequence[int],
    size: Sequence[int],
    out_size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Padding (all befores, then all afters) that gives `out_size` windows when their number is rounded down.

    Rounding up (ceil_mode) adds windows beyond the given padding; those that would begin in the padding are left out
    again, by TVM as by onnxruntime. Here the result's shape says what happened.

    >>> covering_padding((0, 0, 0, 0), (7, 8), (4, 4), (3, 2), (2, 2))
    (0, 0, 2, 0)
    """
    result = [int(p) for p in padding]
    rank = len(size)
    for axis in range(rank):
        stride = int(strides[axis])
        span = (int(kernel[axis]) - 1) * (int(dilation[axis]) if dilation else 1) + 1
        needed = (int(out_size[axis]) - 1) * stride + span - int(size[axis]) - result[axis]
        result[axis + rank] = max(min(result[axis + rank], needed + stride - 1), needed)
    return tuple(result)
