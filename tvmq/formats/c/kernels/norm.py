"""Softmax, layer norm and masked means in C.

The order of operations and the bounds of all products stand in numerics/fixed_point.py, integer_softmax.py,
integer_layer_norm.py and masked_mean.py; constants are taken from there.

Tests: tests/formats/c
"""

from __future__ import annotations

from tvmq.formats.c.rescale import WIDE_CLAMP
from tvmq.formats.c.shared_functions import CKernel
from tvmq.numerics import fixed_point as fp
from tvmq.numerics.integer_softmax import SUM_SHIFTS
from tvmq.numerics.masked_mean import COUNT_BITS

EXP2 = CKernel(
    "exp2_negative",
    f"""
/* 2^-t for t in Q{fp.EXPONENT_BITS}, as Q30 */
static inline int64_t exp2_negative(int64_t t)
{{
    const int64_t n = t >> {fp.EXPONENT_BITS}, r = t & {(1 << fp.EXPONENT_BITS) - 1};
    int64_t p = {fp.EXP2_COEFFICIENTS[-1]};
"""
    + "\n".join(f"    p = ((p * r) >> {fp.EXPONENT_BITS}) + ({c});" for c in fp.EXP2_COEFFICIENTS[-2::-1])
    + """
    return (p + (((int64_t)1 << n) >> 1)) >> n;
}
""",
)
RECIPROCAL = CKernel(
    "reciprocal",
    f"""
/* 1 / a for a in Q31, as Q30: Newton's iteration */
static inline int64_t reciprocal(int64_t a)
{{
    int64_t y = {fp.RECIPROCAL_START[0]} - (({fp.RECIPROCAL_START[1]} * a) >> 31);
    for (int32_t step = 0; step < {fp.RECIPROCAL_STEPS}; step++)
        y = (y * (2147483648 - ((a * y) >> 31))) >> 30;
    return y;
}}
""",
)
INVERSE_SQRT = CKernel(
    "inverse_sqrt",
    f"""
/* 1 / sqrt(a) for a in Q31, as Q30: Newton's iteration */
static inline int64_t inverse_sqrt(int64_t a)
{{
    int64_t y = {fp.INVERSE_SQRT_START[0]} - (({fp.INVERSE_SQRT_START[1]} * a) >> 31);
    for (int32_t step = 0; step < {fp.INVERSE_SQRT_STEPS}; step++) {{
        const int64_t square = (y * y) >> 31;
        y = (y * ({3 * (fp.ONE >> 1)} - ((a * square) >> 31))) >> 30;
    }}
    return y;
}}
""",
)
SOFTMAX = CKernel(
    "integer_softmax",
    f"""
/* rows of `length` elements that lie `inner` apart; `powers` has room for a row */
static void $name(int32_t outer, int32_t length, int32_t inner, const $X *x, int64_t multiplier, int32_t shift,
    int64_t out_multiplier, int32_t out_shift, int64_t low, int64_t high, int32_t zero, s32 *powers, $Y *y)
{{
    for (int32_t i = 0; i < outer * inner; i++) {{
        const int32_t begin = i / inner * length * inner + i % inner;
        const $X *row = x + begin;
        int64_t most = row[0], total = 0;
        for (int32_t k = 1; k < length; k++)
            most = row[k * inner] > most ? row[k * inner] : most;
        for (int32_t k = 0; k < length; k++) {{
            const int64_t t = ((most - row[k * inner]) * multiplier + ((int64_t)1 << (shift - 1))) >> shift;
            powers[k] = (int32_t)exp2_negative(t < {fp.LARGEST_EXPONENT} ? t : {fp.LARGEST_EXPONENT});
            total += powers[k];
        }}
        int32_t k = 0;
        while (k < {SUM_SHIFTS} && total >= (int64_t)1 << (31 + k))
            k++;
        const int64_t factor = (reciprocal(total >> k) * out_multiplier + ((int64_t)1 << 30)) >> 31;
        const int32_t n = 30 + k - out_shift;
        for (int32_t j = 0; j < length; j++) {{
            const int64_t steps = (((powers[j] * factor) >> 31) + ((int64_t)1 << (n - 1))) >> n;
            y[begin + j * inner] = ($Y)(wide_clamp(steps, low, high) + zero);
        }}
    }}
}}
""",
    (WIDE_CLAMP, EXP2, RECIPROCAL),
)
LAYER_NORM = CKernel(
    "integer_layer_norm",
    """
static void $name(int32_t rows, int32_t count, const $X *x, const int32_t *multiplier, const int64_t *offset,
    int64_t epsilon, int32_t shift, int32_t spare, int32_t centred, int32_t x_zero, int64_t low, int64_t high,
    int32_t zero, $Y *y)
{
    const int64_t least = (int64_t)1 << 2 * spare;
    for (int32_t r = 0; r < rows; r++, x += count, y += count) {
        int64_t total = 0, squares = 0;
        for (int32_t i = 0; i < count; i++) {
            const int32_t value = x[i] - (centred ? 0 : x_zero);
            total += value;
            squares += (int64_t)value * value;
        }
        total = centred ? total : 0;
        int64_t w = (count * squares - total * total) * least + epsilon;
        int32_t k = 0;
        w = w > least ? w : least;
        for (int32_t bits = 16; bits > 0; bits /= 2)
            if (w < (int64_t)1 << (62 - 2 * bits)) {
                w *= (int64_t)1 << 2 * bits;
                k += bits;
            }
        const int64_t root = inverse_sqrt(w >> 31);
        const int32_t m = 39 - k - spare;
        for (int32_t i = 0; i < count; i++) {
            const int64_t d = (int64_t)count * (x[i] - (centred ? 0 : x_zero)) - total;
            const int64_t z = (d * root + ((int64_t)1 << (m - 1))) >> m;
            y[i] = ($Y)(wide_clamp((z * multiplier[i] + offset[i]) >> shift, low, high) + zero);
        }
    }
}
""",
    (WIDE_CLAMP, INVERSE_SQRT),
)
MASKED_MEAN = CKernel(
    "masked_mean",
    f"""
static int32_t $name(const $X *x, int32_t step, const $M *mask, int32_t mask_step, int32_t length,
    int64_t multiplier, int32_t shift, int32_t x_zero, int64_t low, int64_t high, int32_t zero)
{{
    int64_t total = 0, count = 0;
    for (int32_t i = 0; i < length; i++)
        if (mask[i * mask_step] > 0) {{
            total += x[i * step] - x_zero;
            count++;
        }}
    count = count ? count : 1;
    int32_t k = {30 - COUNT_BITS};
    for (int32_t bit = 1; bit <= {COUNT_BITS}; bit++)
        k += count < (int64_t)1 << bit;
    const int64_t factor = (reciprocal(count << k) * multiplier + ((int64_t)1 << 30)) >> 31;
    const int32_t n = 61 - k - shift;
    return (int32_t)(wide_clamp((total * factor + ((int64_t)1 << (n - 1))) >> n, low, high) + zero);
}}
""",
    (WIDE_CLAMP, RECIPROCAL),
)
