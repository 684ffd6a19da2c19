"""Pools in C, over one to three axes: a block of one row of results at a time, as in convolutions.

Tests: tests/formats/c
"""

from __future__ import annotations

from tvmq.formats.c.shared_functions import CKernel

STRUCTURE = CKernel(
    "pool_t",
    """
typedef struct {
    int32_t batch, channels;
    int32_t x[3], y[3], kernel[3], stride[3], dilation[3], before[3];
    int32_t zero; /* zero point of x */
} pool_t;

/* the taps of a window along one axis that lie inside: the first one, and the one behind the last */
static void taps_inside(const pool_t *p, int32_t axis, int32_t place, int32_t *first, int32_t *end)
{
    const int32_t at = place * p->stride[axis] - p->before[axis], step = p->dilation[axis];
    *first = at < 0 ? (step - 1 - at) / step : 0;
    *end = at >= p->x[axis] ? 0 : (p->x[axis] - 1 - at) / step + 1;
    *end = *end < p->kernel[axis] ? *end : p->kernel[axis];
}
""",
)
WINDOW = """
    const int32_t row = p->x[2], rows = p->y[0] * p->y[1], planes = p->batch * p->channels;
    for (int32_t plane = 0; plane < planes; plane++, x += p->x[0] * p->x[1] * row)
        for (int32_t r = 0; r < rows; r++) {
            const int32_t z = r / p->y[1], v = r % p->y[1];
            int32_t low[3], high[3];
            taps_inside(p, 0, z, &low[0], &high[0]);
            taps_inside(p, 1, v, &low[1], &high[1]);
            for (int32_t u = 0; u < p->y[2]; u++, y++) {
                taps_inside(p, 2, u, &low[2], &high[2]);
                BEGIN
                for (int32_t k0 = low[0]; k0 < high[0]; k0++)
                    for (int32_t k1 = low[1]; k1 < high[1]; k1++) {
                        const int32_t at0 = z * p->stride[0] + k0 * p->dilation[0] - p->before[0];
                        const int32_t at1 = v * p->stride[1] + k1 * p->dilation[1] - p->before[1];
                        const TYPE *line = x + (at0 * p->x[1] + at1) * row + u * p->stride[2] - p->before[2];
                        for (int32_t k2 = low[2]; k2 < high[2]; k2++)
                            EACH
                    }
                END
            }
        }
"""


def _windows(kind: str, begin: str, each: str, end: str) -> str:
    return WINDOW.replace("TYPE", kind).replace("BEGIN", begin).replace("EACH", each).replace("END", end)


MAX_POOL = CKernel(
    "max_pool",
    "\nstatic void $name(const pool_t *p, const $T *restrict x, int32_t lowest, $T *restrict y)\n{"
    + _windows(
        "$T",
        "int32_t best = lowest;",
        "best = line[k2 * p->dilation[2]] > best ? line[k2 * p->dilation[2]] : best;",
        "*y = ($T)best;",
    )
    + "}\n",
    (STRUCTURE,),
)
SUM_POOL = CKernel(
    "sum_pool",
    """
static void $name(const pool_t *p, const $X *restrict x, const int32_t *restrict start, const finish_t *f,
    $Y *restrict y)
{"""
    + _windows(
        "$X",
        "int32_t sum = start[plane % p->channels];",
        "sum += line[k2 * p->dilation[2]] - p->zero;",
        "$finish(f, &sum, 1, plane % p->channels, 0, y);",
    )
    + "}\n",
    (STRUCTURE,),
)
ADAPTIVE = CKernel(
    "adaptive_sum_pool",
    """
/* window i of m over n elements is i * n / m up to (i + 1) * n / m, rounded up */
static void $name(const pool_t *p, const $X *restrict x, const int32_t *restrict start, const finish_t *f,
    $Y *restrict y)
{
    const int32_t row = p->x[2], planes = p->batch * p->channels;
    int32_t at[3], low[3], high[3];
    for (int32_t plane = 0; plane < planes; plane++, x += p->x[0] * p->x[1] * row)
        for (at[0] = 0; at[0] < p->y[0]; at[0]++)
            for (at[1] = 0; at[1] < p->y[1]; at[1]++)
                for (at[2] = 0; at[2] < p->y[2]; at[2]++, y++) {
                    int32_t sum = start[plane % p->channels];
                    for (int32_t axis = 0; axis < 3; axis++) {
                        low[axis] = at[axis] * p->x[axis] / p->y[axis];
                        high[axis] = ((at[axis] + 1) * p->x[axis] + p->y[axis] - 1) / p->y[axis];
                    }
                    for (int32_t k0 = low[0]; k0 < high[0]; k0++)
                        for (int32_t k1 = low[1]; k1 < high[1]; k1++)
                            for (int32_t k2 = low[2]; k2 < high[2]; k2++)
                                sum += x[(k0 * p->x[1] + k1) * row + k2] - p->zero;
                    $finish(f, &sum, 1, plane % p->channels, 0, y);
                }
}
""",
    (STRUCTURE,),
)
