"""Range of an elementwise operator's result, from the ranges of its operands.

Operators that rise or fall with each of their operands are applied, as they are defined, to the ends of the ranges:
rounding is monotone as well, so the range holds for every bit. A range that nothing is known of is that of its type.

Tests: tests/graph/test_padding.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from tvm import relax

from tvmq.graph.evaluate import EXACT, evaluate, evaluator
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import COMPARISON
from tvmq.graph.view import dtype_of, op_name, sizes_of

MOST_CODES = 1 << 16  # of which a function is computed one by one
# Functions that are approximated: compiled code may give neighbours of what NumPy gives
SLACK = 1e-4


class Range(NamedTuple):
    """Lowest and highest value."""

    low: float
    high: float

    @property
    def reach(self) -> float:
        """Largest magnitude."""
        return max(-self.low, self.high, 0.0)

    @property
    def is_finite(self) -> bool:
        """True if neither end is infinite."""
        return bool(np.isfinite(self.reach))


Operand = Range | np.ndarray  # of a tensor that is computed; a constant

WHOLE = Range(-np.inf, np.inf)  # NaN as well, which no other range holds
# Rise or fall with each operand where the others stay
MONOTONE = frozenset(
    """add subtract multiply maximum minimum negative floor ceil round trunc sqrt nn.relu clip astype exp log sigmoid
    tanh erf tvmq.quantize tvmq.dequantize tvmq.requantize tvmq.add tvmq.multiply tvmq.scale_shift tvmq.add_mask
    tvmq.dynamic_dequantize logical_and logical_or logical_not""".split()
) | (where(kind=COMPARISON) - {"equal", "not_equal"})
WRAPPING = ("add", "subtract", "multiply", "negative", "astype")  # of integers that leave their type


def range_of_type(dtype: str) -> Range:
    """All values of an element type.

    >>> range_of_type("int8"), range_of_type("float32") == WHOLE
    (Range(low=-128, high=127), True)
    """
    if dtype == "bool":
        return Range(0, 1)
    if "int" not in dtype:
        return WHOLE
    limits = np.iinfo(dtype)
    return Range(limits.min, limits.max)


def range_of_array(array: np.ndarray) -> Range:
    """Range of a constant; of one with NaN nothing is known.

    >>> range_of_array(np.float32([-1, 2]))
    Range(low=-1.0, high=2.0)
    """
    if not array.size or np.isnan(array).any():
        return WHOLE
    return Range(float(array.min()), float(array.max()))


def join_ranges(ranges: Sequence[Range]) -> Range:
    """The range that holds all of them.

    >>> join_ranges([Range(0, 1), Range(-3, 0)])
    Range(low=-3, high=1)
    """
    return Range(min(one.low for one in ranges), max(one.high for one in ranges))


def clip_range(values: Range, bound: Range) -> Range:
    """The part of a range that lies in another one, or the end of that which is nearer.

    >>> clip_range(Range(-5, 1), Range(-2, 2))
    Range(low=-2, high=1)
    """
    return Range(*(min(max(end, bound.low), bound.high) for end in values))


def elementwise_range(call: relax.Call, operands: Sequence[Operand]) -> Range:
    """Range of the result of an operator that computes each value from those at the same place."""
    name, dtype = op_name(call), dtype_of(call)
    ranges = [one if isinstance(one, Range) else range_of_array(one) for one in operands]
    if name == "tvmq.table":
        return _clip(_enumerate(call, operands), dtype)
    if name == "where":
        return _clip(_choose(*ranges), dtype)
    if WHOLE in ranges and name not in ("tvmq.quantize", "tvmq.dynamic_quantize"):
        return range_of_type(dtype)
    if name in WRAPPING and not dtype.startswith("float") and not _stays_in_type(name, ranges, dtype):
        return range_of_type(dtype)
    if name == "tvmq.dynamic_quantize":
        return _divide_codes(ranges[0], int(call.attrs.largest_code))
    if name == "divide" and ranges[1].low <= 0 <= ranges[1].high:
        return range_of_type(dtype)
    is_known = all(one.low == one.high for one in ranges)
    if name in MONOTONE or name == "divide" or is_known:
        return _clip(_apply_to_ends(call, operands), dtype)
    record = OPERATORS.get(name)
    if record is not None and record.bounded_by_one:
        return Range(-1, 1)
    if record is not None and record.bounded_by_input:
        reach = ranges[0].reach * (1 + SLACK)
        return _clip(Range(-reach, reach), dtype)
    return range_of_type(dtype)


def _stays_in_type(name: str, ranges: Sequence[Range], dtype: str) -> bool:
    """True if integers neither wrap round nor become true and false between both ends."""
    if dtype == "bool":
        return not ranges[0].low <= 0 <= ranges[0].high or ranges[0].low == ranges[0].high
    whole = range_of_type(dtype)
    if name == "astype":
        return clip_range(ranges[0], whole) == ranges[0]
    reach = math.prod(one.reach for one in ranges) if name == "multiply" else sum(one.reach for one in ranges)
    return reach <= whole.high


def _apply_to_ends(call: relax.Call, operands: Sequence[Operand]) -> Range:
    """Lowest and highest of what the definition gives for the ends of all ranges."""
    record, function = OPERATORS.get(op_name(call)), evaluator(call)
    if function is None and (record is None or record.definition is None):
        return WHOLE
    lows, highs = [], []
    choices: list[Sequence[Any]] = [one if isinstance(one, Range) else [one] for one in operands]
    with np.errstate(all="ignore"):
        for ends in product(*choices):
            arrays = [_fill(call, place, end) for place, end in enumerate(ends)]
            result = evaluate(call, arrays) if function else record.evaluate(call, *arrays)  # type: ignore[union-attr]
            both = range_of_array(np.asarray(result))
            lows.append(both.low)
            highs.append(both.high)
    exact = function is None or op_name(call) in EXACT
    return _widen_range(Range(min(lows), max(highs)), 0.0 if exact else SLACK)


def _fill(call: relax.Call, place: int, value: float | np.ndarray) -> np.ndarray:
    """An operand that is one number everywhere, as small as the operator takes it; constants as they are."""
    expr = call.args[place]
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(getattr(expr, "ty", None), relax.TensorType):
        return np.asarray(value)
    axis, sizes = int(getattr(call.attrs, "axis", -1) or 0), sizes_of(expr)
    shape = [size if at == axis and isinstance(size, int) else 1 for at, size in enumerate(sizes)]
    return np.full(shape, _clip_to_type(value, dtype_of(expr)), dtype_of(expr))


def _clip_to_type(value: float, dtype: str) -> float | int:
    """A number that the type holds: integers of 64 bits end between two floats."""
    if "int" not in dtype or not np.isfinite(value):
        return value
    limits = np.iinfo(dtype)
    return min(max(int(value), int(limits.min)), int(limits.max))


def _widen_range(result: Range, slack: float) -> Range:
    low, high = (slack * (1 + abs(end)) if slack else 0.0 for end in result)
    return Range(result.low - low, result.high + high)


def _clip(result: Range, dtype: str) -> Range:
    return clip_range(result, range_of_type(dtype))


def _enumerate(call: relax.Call, operands: Sequence[Operand]) -> Range:
    """Range of a function of codes that a table holds."""
    codes, table = operands
    if not isinstance(codes, Range) or not isinstance(table, np.ndarray) or codes.high - codes.low >= MOST_CODES:
        return WHOLE
    every = np.arange(int(codes.low), int(codes.high) + 1).astype(dtype_of(call.args[0]))
    return range_of_array(OPERATORS["tvmq.table"].evaluate(call, every, table))


def _choose(condition: Range, yes: Range, no: Range) -> Range:
    """Range of what a condition, 0 or 1, chooses."""
    if condition.low > 0:
        return yes
    return no if condition.low == condition.high == 0 else join_ranges([yes, no])


def _divide_codes(x: Range, largest: int) -> Range:
    """Codes of a scale that is positive: they have the sign of the value, and 0 is 0."""
    return Range(-largest if x.low < 0 else 0, largest if x.high > 0 else 0)
