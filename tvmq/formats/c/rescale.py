"""From sums to codes in C: numerics.requantize with modes fixed_point and power_of_two.

The definition is ((acc << left) * multiplier + half) >> right with left or right above 31; with n = 31 - shift that is
(acc * multiplier + 2^(n - 1)) >> n for either sign of the shift, where nothing is shifted out on the left. So no
product leaves 62 bits, and sums that the definition clips leave all codes here as well.

Tests: tests/formats/c/test_operators.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.c.shared_functions import CKernel
from tvmq.formats.c.tensor import NAMES, Formula, Ints, broadcast_along
from tvmq.graph.view import const_value
from tvmq.numerics.rule_arithmetic import SMALLEST_SHIFT

if TYPE_CHECKING:
    from tvmq.formats.c.writer import CWriter

CLAMP = CKernel(
    "clamp",
    """
static inline int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}
""",
)
WIDE_CLAMP = CKernel(
    "wide_clamp",
    """
static inline int64_t wide_clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}
""",
)
RESCALE: dict[tuple[str, ...], CKernel] = {
    roundings: CKernel(
        name,
        f"""
/* clamp(sum * multiplier / 2^n, rounded, {where}) + zero */
static inline int32_t $name(int32_t sum, int32_t multiplier, int32_t n, int32_t low, int32_t high, int32_t zero)
{{
    const int64_t product = (int64_t)sum * multiplier;
    const int64_t half = (int64_t)(((uint64_t)1 << n) >> 1);
    const int64_t steps = (product + half{nudge}) >> n;
    return (int32_t)(steps < low ? low : steps > high ? high : steps) + zero;
}}
""",
    )
    for roundings, name, where, nudge in (
        (("upward",), "rescale", "ties upwards", ""),
        (("away",), "rescale_away", "ties away from zero", " - (product < 0)"),
        (("upward", "away"), "rescale_twice", "at 31 bits upwards, then away from zero",
         " + (n > 31 ? (product < 0 ? -(1 << 30) : 1 << 30) : 0)"),
    )
}  # fmt: skip
STRUCTURE = CKernel(
    "finish_t",
    """
typedef struct {
    const int32_t *multiplier; /* one, or one for each channel: then step is 1 */
    const uint8_t *n;
    int32_t step, low, high, zero;
} finish_t;
""",
)
FINISH = CKernel(
    "finish",
    """
/* codes of `count` sums of one channel (along is 0), or of channels one behind the other (along is 1) */
static void $name(const finish_t *f, const int32_t *restrict sums, int32_t count, int32_t channel, int32_t along,
    $Y *restrict y)
{
    const int32_t low = f->low, high = f->high, zero = f->zero, step = along * f->step;
    const int32_t *multiplier = f->multiplier + channel * f->step;
    const uint8_t *n = f->n + channel * f->step;
    for (int32_t i = 0; i < count; i++)
        y[i] = ($Y)$rescale(sums[i], multiplier[i * step], n[i * step], low, high, zero);
}
""",
    (STRUCTURE,),
)
KEEP = CKernel(
    "keep_sums",
    """
static void keep_sums(const finish_t *f, const int32_t *restrict sums, int32_t count, int32_t channel, int32_t along,
    s32 *restrict y)
{
    (void)f, (void)channel, (void)along;
    for (int32_t i = 0; i < count; i++)
        y[i] = sums[i];
}
""",
    (STRUCTURE,),
)


def constants_of(call: relax.Call) -> tuple[np.ndarray, np.ndarray]:
    """int32 multipliers and uint8 n, shape () or (C,)."""
    constants = (const_value(arg) for arg in call.args[1:])
    multiplier, shift = numerics.fixed_point_constants(*constants, mode=str(call.attrs.mode))
    n = 31 - np.maximum(shift, SMALLEST_SHIFT)
    shape = np.broadcast_shapes(np.shape(multiplier), np.shape(n))
    return np.broadcast_to(multiplier, shape).astype(np.int32), np.broadcast_to(n, shape).astype(np.uint8)


def _rescale(writer: CWriter, call: relax.Call) -> str:
    """Name of the C function of a requantize's rule."""
    rule = numerics.rule_of_mode(str(call.attrs.mode), str(call.attrs.rounding))
    return writer.library.use(RESCALE[rule.roundings])


def limits(call: relax.Call) -> Ints:
    """low, high, zero of a result."""
    zero = int(call.attrs.zero_point)
    return int(call.attrs.qmin) - zero, int(call.attrs.qmax) - zero, zero


def finish(writer: CWriter, call: relax.Call | None) -> tuple[str, str]:
    """Names of the C function that turns sums into results, and of its constant; without a call sums are kept."""
    if call is None:
        return writer.library.use(KEEP), "0"
    rescale = _rescale(writer, call)
    function = writer.library.use(FINISH, Y=NAMES[str(call.attrs.dtype)], rescale=rescale)
    multiplier, n = constants_of(call)
    low, high, zero = limits(call)
    fields = {
        "multiplier": writer.constants.tensor(multiplier.ravel(), "multiplier").storage.place,
        "n": writer.constants.tensor(n.ravel(), "n").storage.place,
        "step": str(int(multiplier.size > 1)),
        "low": str(low),
        "high": str(high),
        "zero": str(zero),
    }
    return function, "&" + writer.constants.structure("finish_t", "finish", fields)


def formula(writer: CWriter, call: relax.Call, argument: Formula) -> Formula:
    """The requantized values of a formula."""
    rescale = _rescale(writer, call)
    multiplier, n = constants_of(call)
    low, high, zero = limits(call)
    operands, rank = list(argument.operands), len(argument.shape)
    if multiplier.size == 1:
        texts = [str(int(multiplier.ravel()[0])), str(int(n.ravel()[0]))]
    else:
        axis = int(call.attrs.axis) % rank
        texts = [f"{{{len(operands)}}}", f"{{{len(operands) + 1}}}"]
        vectors = (writer.constants.tensor(v, h) for v, h in ((multiplier, "multiplier"), (n, "n")))
        operands += [broadcast_along(vector, axis, rank) for vector in vectors]
    text = f"{rescale}({argument.text}, {', '.join(texts)}, {low}, {high}, {zero})"
    return Formula(argument.shape, NAMES[str(call.attrs.dtype)], tuple(operands), text)
