"""Inputs and results of a function of the virtual machine: which are copied, and which go on as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm_ffi

from tvmq.runtime.call_code import LEAST_SHARED, CacheNumbers, CallCode
from tvmq.runtime.inputs import aligned_zeros


def address(array: Any) -> int:
    return int(np.from_dlpack(array).__array_interface__["data"][0])


class Recorder:
    """A function that gives what it takes, and keeps the addresses."""

    def __call__(self, *tensors: Any) -> list[Any]:
        self.addresses = [address(tensor) for tensor in tensors]
        return list(tensors)


def cache(offset: int = 0, size: int = LEAST_SHARED) -> np.ndarray:
    """A cache that begins so many bytes behind a multiple of 64."""
    whole = aligned_zeros((size + 64,), "int8")
    return whole[offset : offset + size]


@pytest.mark.parametrize(
    ("array", "is_shared"),
    [(cache(), True), (cache(8), False), (cache()[::-1], False), (cache(size=5), True), (cache(size=0), False)],
    ids=["aligned", "unaligned", "backwards", "small", "empty"],
)
def test_a_cache_is_read_where_it_lies_if_it_can_be(array: np.ndarray, *, is_shared: bool) -> None:
    code = Recorder()
    call = CallCode(code, caches=CacheNumbers(frozenset([1])))
    array[:3] = (1, 2, 3)[: len(array)]
    for inputs in ([array.copy(), array], [array[:7].copy(), array], [array.copy(), array[:5]]):
        call.fit(inputs)
        results = call.run(inputs)
        assert all(map(np.array_equal, results, inputs))
        assert not array.size or code.addresses[0] != address(inputs[0])
        assert not array.size or (code.addresses[1] == address(inputs[1])) == is_shared


def test_results_that_are_caches_are_memory_of_the_machine() -> None:
    memory = [cache(), cache()]
    tensors = [tvm_ffi.from_dlpack(array) for array in memory]
    call = CallCode(lambda *_: tensors, caches=CacheNumbers(frozenset(), frozenset([1])))
    call.fit([])
    copied, handed_on = call.run([])
    assert address(copied) != address(memory[0]) and address(handed_on) == address(memory[1])
