"""Constants in large pages: apart from each other, aligned, and with memory of their own where there is none."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import pytest

from tvmq.runtime.artifact import weight_memory
from tvmq.runtime.artifact.weight_memory import ALIGNMENT, LEAST_CONSTANT, PAGE, WeightMemory

SIZE = 2 * PAGE
SHAPES = [
    ([LEAST_CONSTANT], "int8"),
    ([3, 5, 1001], "float32"),
    ([7], "int64"),
    ([2000, 3], "float16"),
    ([4097], "uint8"),
]


def fill_all(memory: WeightMemory) -> list[tuple[Any, np.ndarray]]:
    """Tensors of all shapes, and what was written into them."""
    random, pairs = np.random.default_rng(0), []
    for shape, dtype in SHAPES:
        tensor, values = memory.allocate(shape, dtype), random.integers(0, 100, shape).astype(dtype)
        assert tuple(tensor.shape) == tuple(shape) and str(tensor.dtype) == dtype
        assert tensor.data_ptr() % ALIGNMENT == 0
        np.from_dlpack(tensor)[...] = values
        pairs.append((tensor, values))
    return pairs


def check_all(pairs: list[tuple[Any, np.ndarray]]) -> None:
    for tensor, values in pairs:
        np.testing.assert_array_equal(np.from_dlpack(tensor), values)


@pytest.mark.parametrize("size", [SIZE, 100])
def test_tensors_keep_what_is_written_into_them(size: int) -> None:
    memory = WeightMemory(size)
    pairs = fill_all(memory) + fill_all(memory)
    del memory  # the tensors hold it
    check_all(pairs)


def test_more_than_was_announced_has_memory_of_its_own() -> None:
    memory = WeightMemory(SIZE)
    first, second = memory.allocate([SIZE], "int8"), memory.allocate([SIZE], "int8")
    np.from_dlpack(first)[...], np.from_dlpack(second)[...] = 1, 2
    assert np.from_dlpack(first).max() == 1 and np.from_dlpack(second).min() == 2


def has_large_pages() -> bool:
    """True on a system that has them; a kernel may be built without."""
    try:
        mmap.mmap(-1, PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).madvise(mmap.MADV_HUGEPAGE)
    except (AttributeError, OSError):
        return False
    return True


@pytest.mark.skipif(not has_large_pages(), reason="this system has no large pages")
def test_constants_lie_in_large_pages() -> None:
    memory = WeightMemory(SIZE)
    tensor = memory.allocate([LEAST_CONSTANT], "int8")
    assert tensor.data_ptr() % PAGE == 0
    assert memory.allocate([4], "int8").data_ptr() // PAGE != tensor.data_ptr() // PAGE  # too small for them


def test_types_that_numpy_lacks_have_memory_of_their_own() -> None:
    assert str(WeightMemory(SIZE).allocate([LEAST_CONSTANT], "bfloat16").dtype) == "bfloat16"


@pytest.mark.parametrize("fault", ["absent", "refused"])
def test_systems_without_large_pages(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    class Refusing:
        MADV_HUGEPAGE, MAP_PRIVATE, MAP_ANONYMOUS = 14, 2, 32

        @staticmethod
        def mmap(*_args: object, **_options: object) -> object:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(weight_memory, "mmap", Refusing if fault == "refused" else object())
    check_all(fill_all(WeightMemory(SIZE)))
