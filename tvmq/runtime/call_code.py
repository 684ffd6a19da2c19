"""A compiled function on arrays: inputs go into memory as TVM needs it, results become arrays."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

import numpy as np
import tvm_ffi

from tvmq.base.tvm_runtime import allocate_tensor, list_items
from tvmq.runtime.inputs import aligned_zeros

# Behind the name of a function
DIRECT = "_direct"  # the same as native code (compile/native_main.py)
SAMPLES = "_samples"  # the same for any number of samples, one after the other (compile/native_samples.py)

# What the virtual machine says of arguments of other types, shapes or numbers than a function has
MISFITS = ("ErrorContext(fn=", "arguments were provided")
ALIGNMENT = 64  # of what TVM's kernels read
LEAST_SHARED = 32 * 1024  # bytes of an input; to share it costs as much as to copy so many


class CacheNumbers(NamedTuple):
    """Appended states among what a function takes and gives: a concat reads the input, and its result is new memory.

    inputs   their numbers; the function writes into none of them
    results  their numbers; no other result, no input and no constant is their memory
    """

    inputs: frozenset[int] = frozenset()
    results: frozenset[int] = frozenset()


NO_CACHES = CacheNumbers()


class CallCode:
    """Calls of one function of a virtual machine; one at a time.

    code       the function
    unaligned  numbers of the inputs that it takes at any address
    fresh      its results are memory of their own, another in every run
    caches     inputs and results that are appended states, which go from call to call without a copy
    """

    def __init__(
        self,
        code: Callable[..., Any],
        unaligned: Sequence[int] = (),
        *,
        fresh: bool = False,
        caches: CacheNumbers = NO_CACHES,
    ) -> None:
        self.code, self.caches = code, caches
        self._fresh, self._unaligned = fresh, frozenset(unaligned)
        self.own: list[np.ndarray] = []
        self._tensors: list[Any] = []

    def prepare(self, own: Sequence[np.ndarray]) -> None:
        """Take these arrays, aligned to 64 bytes, as the memory of the inputs."""
        self.own, self._tensors = list(own), [share_memory(array) for array in own]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run the function; results are fresh arrays."""
        result = self.code(*map(self._tensor, range(len(arrays)), arrays))
        if self._fresh:
            return take_results(result)
        return copy_results(result, self.caches.results) if self.caches.results else copy_results(result)

    def run_tensors(self, values: Sequence[Any]) -> list[Any]:
        """Run the function on arrays and tensors; states are given as tensors, other results as fresh arrays."""
        if len(self.own) != len(values):
            self.prepare([aligned_zeros([0] * len(value.shape), str(value.dtype)) for value in values])
        tensors = [value if isinstance(value, tvm_ffi.Tensor) else self._fitting_tensor(index, value)
                   for index, value in enumerate(values)]  # fmt: skip
        result, take = self.code(*tensors), take_results if self._fresh else copy_results
        items = [result] if isinstance(result, tvm_ffi.Tensor) else list_items(result)
        return [item if number in self.caches.results else take(item)[0] for number, item in enumerate(items)]

    def _fitting_tensor(self, index: int, array: np.ndarray) -> Any:
        """A checked input of any sizes as a tensor."""
        self._fit_input(index, array)
        return self._tensor(index, array)

    def look(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run the function without copies: results are valid until the next run, at most."""
        return take_results(self.code(*map(self._tensor, range(len(arrays)), arrays)))

    def fit(self, arrays: Sequence[np.ndarray]) -> None:
        """Allocate memory for inputs of these shapes, where it has none yet and needs some."""
        if len(self.own) != len(arrays):
            self.prepare([aligned_zeros(array.shape, str(array.dtype)) for array in arrays])
            return
        for index, array in enumerate(arrays):
            self._fit_input(index, array)

    def _fit_input(self, index: int, array: np.ndarray) -> None:
        if self.own[index].shape != array.shape and not self._is_shared(index, array):
            self.own[index] = aligned_zeros(array.shape, str(array.dtype))
            self._tensors[index] = share_memory(self.own[index])

    def _tensor(self, index: int, array: np.ndarray) -> Any:
        """A checked input as a tensor: itself where that is possible and worth it, else a copy."""
        if self._is_shared(index, array):
            return tvm_ffi.from_dlpack(array, require_alignment=array.itemsize)
        if array is not self.own[index]:
            self.own[index][...] = array
        return self._tensors[index]

    def _is_shared(self, index: int, array: np.ndarray) -> bool:
        # a cache has another shape in each call, so that a copy of it takes new memory
        if index in self.caches.inputs and is_sharable(array):
            return True
        return index in self._unaligned and array.nbytes >= LEAST_SHARED and _can_be_shared(array)


class SampleCode(CallCode):
    """Calls with any number of samples in the first axis; memory is that of the largest number so far.

    code, unaligned  as of CallCode
    """

    def __init__(self, code: Callable[..., Any], unaligned: Sequence[int] = ()) -> None:
        super().__init__(code, unaligned, fresh=True)
        self._whole: list[np.ndarray] = []

    def fit(self, arrays: Sequence[np.ndarray]) -> None:
        """Have the memory of the inputs begin with arrays of these shapes."""
        if [own.shape for own in self.own] == [array.shape for array in arrays]:
            return
        if len(self._whole) != len(arrays) or not all(map(_holds, self._whole, arrays)):
            self._whole = [aligned_zeros(array.shape, str(array.dtype)) for array in arrays]
        pairs = zip(self._whole, arrays, strict=True)
        self.prepare([whole if whole.shape == array.shape else whole[: len(array)] for whole, array in pairs])


def _holds(whole: np.ndarray, array: np.ndarray) -> bool:
    return whole.shape == array.shape or (whole.shape[1:] == array.shape[1:] and len(whole) > len(array))


def _can_be_shared(array: np.ndarray) -> bool:
    flags = array.flags
    return bool(flags.c_contiguous and flags.aligned and flags.writeable)  # NumPy exports no read-only memory


def is_sharable(array: np.ndarray) -> bool:
    """True for an array whose memory kernels read as it is."""
    return bool(array.size) and _is_aligned(array) and _can_be_shared(array)


def _is_aligned(array: np.ndarray) -> bool:
    return bool(array.__array_interface__["data"][0] % ALIGNMENT == 0)


def share_memory(array: np.ndarray) -> Any:
    """A tensor on the array's memory; one of no elements has memory of its own, whose address TVM accepts."""
    return tvm_ffi.from_dlpack(array) if array.size else allocate_tensor(array.shape, str(array.dtype))


def copy_results(result: Any, own: Container[int] = ()) -> list[np.ndarray]:
    """Results as arrays of their own: a tensor of TVM may be memory of an input or of another output.

    own  numbers of those that are memory of their own as they are
    """
    if isinstance(result, tvm_ffi.Tensor):
        return [np.from_dlpack(result).copy()]  # five times as fast as result.numpy(), which copies as well
    return [
        array
        for number, item in enumerate(result)
        for array in (take_results(item) if number in own else copy_results(item))
    ]


def take_results(result: Any) -> list[np.ndarray]:
    """Results that are memory of their own as arrays on this memory."""
    if isinstance(result, tvm_ffi.Tensor):
        array = np.from_dlpack(result)
        return [array if array.flags.writeable else array.copy()]  # NumPy 2.2.0 and older share it to be read alone
    return [array for item in result for array in take_results(item)]


def is_misfit(error: Exception) -> bool:
    """True if the virtual machine refused the arguments of a call."""
    return any(text in str(error) for text in MISFITS)


def entry(machine: Any, name: str) -> tuple[Any, bool]:
    """A function of a virtual machine, and True where it is native code: its results are then memory of their own."""
    try:
        return machine[name + DIRECT], True
    except AttributeError:
        return machine[name], False
