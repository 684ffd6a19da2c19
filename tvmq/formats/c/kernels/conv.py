"""Convolution and transposed convolution in C, over one to three axes.

A block of one row of results is summed at a time, so that the inner loop runs along memory and a compiler makes vectors
of it. Four input channels are added at once: the sums are then read and written for every fourth product only.
A border is not stored: all sums begin with what it would give under every tap (`start`), and the taps inside add
w * (x - border). Each partial sum is one that the module's proof of its accumulators covers.

Tests: tests/formats/c
"""

from __future__ import annotations

from tvmq.formats.c.shared_functions import CKernel

STRUCTURE = CKernel(
    "conv_t",
    """
typedef struct {
    int32_t batch, groups, depth, filters; /* depth and filters are those of one group */
    int32_t x[3], y[3], kernel[3], stride[3], dilation[3], before[3];
    int32_t border; /* code around x, or between its elements in a transposed convolution */
} conv_t;

enum { BLOCK = 64 }; /* results that are summed at a time */
""",
)
ROW = CKernel(
    "add_row",
    """
/* sums[i] += sum over channels c of w[c * taps] * (x[c * plane + i * stride] - border) */
static void $name(int32_t *restrict sums, int32_t count, const $X *restrict x, int32_t plane, int32_t stride,
    const $W *restrict w, int32_t taps, int32_t depth, int32_t border)
{
    int32_t c = 0;
    for (; c + 4 <= depth; c += 4) {
        const $X *x0 = x + c * plane, *x1 = x0 + plane, *x2 = x1 + plane, *x3 = x2 + plane;
        const $W *v = w + c * taps;
        const int32_t w0 = v[0], w1 = v[taps], w2 = v[2 * taps], w3 = v[3 * taps];
        if (stride == 1)
            for (int32_t i = 0; i < count; i++)
                sums[i] += w0 * (x0[i] - border) + w1 * (x1[i] - border) + w2 * (x2[i] - border)
                    + w3 * (x3[i] - border);
        else
            for (int32_t i = 0, k = 0; i < count; i++, k += stride)
                sums[i] += w0 * (x0[k] - border) + w1 * (x1[k] - border) + w2 * (x2[k] - border)
                    + w3 * (x3[k] - border);
    }
    for (; c < depth; c++) {
        const $X *x0 = x + c * plane;
        const int32_t w0 = w[c * taps];
        if (stride == 1)
            for (int32_t i = 0; i < count; i++)
                sums[i] += w0 * (x0[i] - border);
        else
            for (int32_t i = 0, k = 0; i < count; i++, k += stride)
                sums[i] += w0 * (x0[k] - border);
    }
}
""",
)
END_OF_CHANNEL = """
        }
}
"""
COPY = """
            for (int32_t i = 0; i < rows * c->y[2]; i++)
                y[(n * channels + channel) * rows * c->y[2] + i] = plane_y[i];"""
_CONV = """
static void $name(const conv_t *c, const $X *restrict x, const $W *restrict w, const int32_t *restrict start,
    const finish_t *f, $Y *restrict y)
{
    const int32_t row = c->x[2], plane = c->x[0] * c->x[1] * row, taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
    const int32_t rows = c->y[0] * c->y[1], channels = c->groups * c->filters, stride = c->stride[2];
    int32_t sums[BLOCK];
    for (int32_t n = 0; n < c->batch; n++)
        for (int32_t channel = 0; channel < channels; channel++) {
            const $X *group = x + (n * c->groups + channel / c->filters) * c->depth * plane;
            const $W *filter = w + channel * c->depth * taps;
            for (int32_t r = 0; r < rows; r++)
                for (int32_t first = 0; first < c->y[2]; first += BLOCK) {
                    const int32_t z = r / c->y[1] * c->stride[0] - c->before[0];
                    const int32_t v = r % c->y[1] * c->stride[1] - c->before[1];
                    const int32_t count = c->y[2] - first < BLOCK ? c->y[2] - first : BLOCK;
                    const $W *tap = filter;
                    for (int32_t i = 0; i < count; i++)
                        sums[i] = start[channel];
                    for (int32_t k0 = 0; k0 < c->kernel[0]; k0++)
                        for (int32_t k1 = 0; k1 < c->kernel[1]; k1++) {
                            const int32_t at0 = z + k0 * c->dilation[0], at1 = v + k1 * c->dilation[1];
                            if (at0 < 0 || at0 >= c->x[0] || at1 < 0 || at1 >= c->x[1]) {
                                tap += c->kernel[2];
                                continue;
                            }
                            for (int32_t k2 = 0; k2 < c->kernel[2]; k2++, tap++) {
                                const int32_t at2 = first * stride + k2 * c->dilation[2] - c->before[2];
                                const int32_t room = row - 1 - at2; /* steps up to the end of the row */
                                const int32_t low = at2 >= 0 ? 0 : stride == 1 ? -at2 : (stride - 1 - at2) / stride;
                                int32_t high = room < 0 ? 0 : stride == 1 ? room + 1 : room / stride + 1;
                                high = high < count ? high : count;
                                if (low < high) {
                                    const $X *line = group + (at0 * c->x[1] + at1) * row + at2;
                                    $row(sums + low, high - low, line + low * stride, plane, stride, tap, taps,
                                        c->depth, c->border);
                                }
                            }
                        }
                    $finish(f, sums, count, channel, 0, y + ((n * channels + channel) * rows + r) * c->y[2] + first);
                }
        }
}
"""
CONV = CKernel("conv", _CONV, (STRUCTURE,))
# The result may take the place of x: a channel, which is read by itself alone, is finished apart and copied then.
DEPTHWISE = CKernel(
    "depthwise",
    _CONV.replace("const $X *restrict x", "const $X *x")
    .replace("$Y *restrict y)", "$Y *restrict plane_y, $Y *y)")
    .replace("y + ((n * channels + channel) * rows + r) * c->y[2] + first", "plane_y + r * c->y[2] + first")
    .replace(END_OF_CHANNEL, COPY + END_OF_CHANNEL),
    (STRUCTURE,),
)
TRANSPOSED = CKernel(
    "conv_transpose",
    """
static void $name(const conv_t *c, const $X *restrict x, const $W *restrict w, const int32_t *restrict start,
    const finish_t *f, $Y *restrict y)
{
    const int32_t row = c->x[2], plane = c->x[0] * c->x[1] * row, taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
    const int32_t rows = c->y[0] * c->y[1], channels = c->groups * c->filters, stride = c->stride[2];
    int32_t sums[BLOCK];
    for (int32_t n = 0; n < c->batch; n++)
        for (int32_t channel = 0; channel < channels; channel++) {
            const int32_t from = channel / c->filters * c->depth;
            for (int32_t r = 0; r < rows; r++)
                for (int32_t first = 0; first < c->y[2]; first += BLOCK) {
                    const int32_t count = c->y[2] - first < BLOCK ? c->y[2] - first : BLOCK;
                    for (int32_t i = 0; i < count; i++)
                        sums[i] = start[channel];
                    for (int32_t k = 0; k < taps; k++) {
                        const int32_t k2 = k % c->kernel[2], k1 = k / c->kernel[2] % c->kernel[1];
                        const int32_t k0 = k / c->kernel[2] / c->kernel[1];
                        const int32_t z = r / c->y[1] + c->before[0] - k0 * c->dilation[0];
                        const int32_t v = r % c->y[1] + c->before[1] - k1 * c->dilation[1];
                        /* the first element of x whose place is not before the block, and that place */
                        const int32_t left = first + c->before[2] - k2 * c->dilation[2];
                        const int32_t at2 = left <= 0 ? 0 : (left + stride - 1) / stride;
                        const int32_t place = at2 * stride - left;
                        if (z < 0 || v < 0 || z % c->stride[0] || v % c->stride[1] || place >= count || at2 >= row
                            || z / c->stride[0] >= c->x[0] || v / c->stride[1] >= c->x[1])
                            continue;
                        int32_t steps = (count - 1 - place) / stride + 1;
                        steps = steps < row - at2 ? steps : row - at2;
                        for (int32_t d = 0; d < c->depth; d++) {
                            const $X *source = x + (n * c->groups * c->depth + from + d) * plane
                                + (z / c->stride[0] * c->x[1] + v / c->stride[1]) * row + at2;
                            const int32_t weight = w[((from + d) * c->filters + channel % c->filters) * taps + k];
                            for (int32_t i = 0; i < steps; i++)
                                sums[place + i * stride] += weight * (source[i] - c->border);
                        }
                    }
                    $finish(f, sums, count, channel, 0, y + ((n * channels + channel) * rows + r) * c->y[2] + first);
                }
        }
}
""",
    (STRUCTURE,),
)
