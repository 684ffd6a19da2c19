"""Loops: pieces of vectors, broadcasting walks, and every kernel in two threads on guarded memory."""

from __future__ import annotations

import subprocess
import sys
from math import prod
from pathlib import Path

import numpy as np
import pytest

from tvmq.kernels.parts.loops import broadcast_strides, collapse, tail_pieces


@pytest.mark.parametrize("lanes", [1, 4, 16, 64])
@pytest.mark.parametrize("count", [*range(1, 70), 100, 127, 128, 129, 1000])
def test_pieces_cover_the_rest(count: int, lanes: int) -> None:
    covered = set(range(count // lanes * lanes))
    for offset, size in tail_pieces(count, lanes):
        assert offset >= 0 and offset + size <= count
        assert size <= lanes and size & (size - 1) == 0
        covered |= set(range(offset, offset + size))
    assert covered == set(range(count))


@pytest.mark.parametrize(
    "shape,other",
    [((2, 5, 3), (2, 1, 3)), ((2, 5, 3), (5, 1)), ((2, 5, 3), ()), ((2, 5, 3), (2, 5, 3)), ((1, 1), (1, 1))],
)
def test_collapsed_walks_visit_the_same_elements(shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    sizes, (strides,) = collapse(shape, broadcast_strides(shape, other))
    visited = sum(np.indices(sizes)[i] * strides[i] for i in range(len(sizes))).ravel()
    expected = np.broadcast_to(np.arange(prod(other)).reshape(other), shape).ravel()
    np.testing.assert_array_equal(visited, expected)


@pytest.mark.slow
def test_two_threads_and_guarded_memory() -> None:
    """In a process of its own: the first parallel call fixes the number of threads, and a fault ends it."""
    script = Path(__file__).parents[1] / "guarded_cases.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 faults" in done.stdout
