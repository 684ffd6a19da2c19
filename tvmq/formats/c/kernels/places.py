"""Indices in C: those outside of an axis mean what numerics.place says.

Tests: tests/formats/c
"""

from __future__ import annotations

from tvmq.formats.c.shared_functions import CKernel

PLACE = CKernel(
    "place",
    """
/* the index modulo the size, never negative */
static inline int32_t place(int64_t index, int32_t size)
{
    const int32_t rest = (int32_t)(index % size);
    return rest < 0 ? rest + size : rest;
}
""",
)
CLIPPED = CKernel(
    "clipped_place",
    """
static inline int32_t clipped_place(int64_t index, int32_t size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : (int32_t)index;
}
""",
)
