"""Products of matrices in C.

Tests: tests/formats/c
"""

from __future__ import annotations

from tvmq.formats.c.shared_functions import CKernel

DENSE = CKernel(
    "dense",
    """
/* y = x w^T for rows x of `depth` elements and a constant w of `columns` rows */
static void $name(int32_t rows, int32_t depth, int32_t columns, const $X *restrict x, const $W *restrict w,
    const int32_t *restrict start, const finish_t *f, $Y *restrict y)
{
    for (int32_t r = 0; r < rows; r++)
        for (int32_t column = 0; column < columns; column++) {
            const $X *a = x + r * depth;
            const $W *b = w + column * depth;
            int32_t sum = start[column];
            for (int32_t k = 0; k < depth; k++)
                sum += a[k] * b[k];
            $finish(f, &sum, 1, column, 0, y + r * columns + column);
        }
}
""",
)
COLUMNS = CKernel("columns", "enum { COLUMNS = 64 }; /* results that are summed at a time */")
MATMUL = CKernel(
    "matmul",
    """
/* y = (a - a_zero) (b - b_zero) for matrices (rows, depth) and (depth, columns) */
static void $name(int32_t rows, int32_t depth, int32_t columns, const $A *restrict a, int32_t a_zero,
    const $B *restrict b, int32_t b_zero, const int32_t *restrict start, const finish_t *f, $Y *restrict y)
{
    int32_t sums[COLUMNS];
    for (int32_t r = 0; r < rows; r++)
        for (int32_t first = 0; first < columns; first += COLUMNS) {
            const int32_t count = columns - first < COLUMNS ? columns - first : COLUMNS;
            for (int32_t i = 0; i < count; i++)
                sums[i] = start[first + i];
            for (int32_t k = 0; k < depth; k++) {
                const int32_t factor = a[r * depth + k] - a_zero;
                const $B *row = b + k * columns + first;
                for (int32_t i = 0; i < count; i++)
                    sums[i] += factor * (row[i] - b_zero);
            }
            $finish(f, sums, count, first, 1, y + r * columns + first);
        }
}
""",
    (COLUMNS,),
)
