"""Whether the indices that a model is given lie inside of their axes; graph/indices.py finds such inputs.

Tests: tests/codegen/compile/legalize/test_bounds_checks.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmq.errors import DataError

# seen as unsigned, negative numbers are larger than any size
UNSIGNED: dict[str, Any] = {"<i8": np.dtype("<u8"), "<i4": np.dtype("<u4")}


class IndexUse:
    """An input that is an index, and the short way to see that all of it is inside.

    described  one of graph.indices.input_indices
    position   of the input
    """

    def __init__(self, described: dict[str, Any], position: int) -> None:
        self.described, self.position = described, position
        sizes = described["sizes"]
        self._end = min((size if isinstance(size, int) else 0 for size in sizes), default=0)

    def is_inside(self, array: np.ndarray) -> bool:
        """True if no index is negative or beyond the least axis; False says nothing."""
        unsigned = UNSIGNED.get(array.dtype.str)
        return unsigned is not None and bool(array.view(unsigned).max(initial=0) < self._end)


def check_indices(array: np.ndarray, use: dict[str, Any], sizes: dict[str, int], where: str) -> None:
    """DataError if an input of the model holds an index outside; `use` is one of graph.indices.input_indices.

    sizes  of dynamic dimensions by name
    """
    axes = [size if isinstance(size, int) else sizes.get(size, 2**63) for size in use["sizes"]]
    reader = f"layer '{use['layer']}', {use['operator']}"
    check_range(array, axes, f"{where}: input '{use['input']}', read by {reader}", DataError)


def check_range(indices: np.ndarray, sizes: Sequence[Any], where: str, error: type[Exception]) -> None:
    """Raise `error` if an index lies outside of its axis; sizes that are no numbers have no end."""
    columns = indices.reshape(-1, len(sizes)).T if len(sizes) > 1 else [indices]
    for column, size in zip(columns, sizes, strict=True):
        for value in (int(column.min(initial=0)), int(column.max(initial=0))) if isinstance(size, int) else ():
            if column.size and not -size <= value < size:
                raise error(f"{where}: index {value} lies outside of {-size}..{size - 1}; correct the indices")
