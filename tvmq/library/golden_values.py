"""Golden values of a library's self-test: hashes of what each layer gives for inputs that native code makes anew.

They come from the definition, so they are the same wherever a library is made, and for all instruction sets. A kernel's
result is compared where the definition has its values in the same order or with the channels last; results behind a
float operator without a definition of its own, and of models whose inputs refuse these values, are not.

Tests: tests/library/test_selftest.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm

from tvmq import reference
from tvmq.codegen.lower.main_calls import MainCall
from tvmq.errors import DataError
from tvmq.graph.names import merge, output_names
from tvmq.graph.view import View
from tvmq.library.call_plan import OUTPUT, STORAGE, Call, CallPlan, TensorLocation
from tvmq.library.size_table import value_of
from tvmq.options.rules import short_names

PLAIN_SCALE = 1 / 64  # of floats that are no codes
INDICES = ("int32", "int64")  # what may count things: zeros and ones
MOST_HASHES = 2


@dataclass(frozen=True)
class GoldenValue:
    """Hashes that the bytes of a place may have after so many steps; layer: its name, as `explain` has it."""

    steps: int
    place: TensorLocation
    layer: str
    hashes: tuple[int, ...]


def mix_numbers(count: int, first: int = 0) -> np.ndarray:
    """Well mixed 64 bit numbers of `first` and its successors; mixed() of runtime.c.

    >>> mix_numbers(2).tolist()
    [14555800124870461561, 7796372880487179078]
    """
    with np.errstate(over="ignore"):
        numbers = (np.arange(count, dtype=np.uint64) + np.uint64(first + 1)) * np.uint64(0x9E3779B9_7F4A7C15)
        numbers = (numbers ^ numbers >> np.uint64(29)) * np.uint64(0xBF58476D_1CE4E5B9)
    return numbers ^ numbers >> np.uint64(32)


def hash_array(array: np.ndarray) -> int:
    """Hash of an array's bytes, in which each single byte counts; hashed() of runtime.c."""
    data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8).astype(np.uint64)
    return int(np.sum((data + np.uint64(1)) * (mix_numbers(len(data)) | np.uint64(1)), dtype=np.uint64))


def golden_input(number: int, tensor: Mapping[str, Any]) -> np.ndarray | None:
    """Values of input `number`; None for a type that has none."""
    shape, dtype = tensor["shape"], np.dtype(tensor["dtype"])
    values: np.ndarray
    numbers = mix_numbers(int(np.prod(shape)), number << 32) >> np.uint64(56)
    if dtype == np.float32:
        scale = np.ravel(tensor.get("scale") or 0)
        step = float(scale[0]) if scale.size == 1 and scale[0] else PLAIN_SCALE
        values = (numbers.astype(np.float64) - 128) * step
    elif dtype.itemsize == 1 and dtype != np.bool_:
        return numbers.astype(np.uint8).view(dtype).reshape(shape)
    elif dtype == np.bool_ or str(dtype) in INDICES:
        values = numbers & np.uint64(1)
    else:
        return None
    return values.astype(dtype).reshape(shape)


class GoldenRun:
    """The definition's values of all variables for the golden inputs, until the first that has none.

    inputs  of the module, of fixed shapes
    sizes   of the dynamic dimensions, which these shapes have
    """

    def __init__(
        self, mod: tvm.IRModule, inputs: Sequence[Mapping[str, Any]], sizes: Mapping[str, int] | None = None
    ) -> None:
        self.sizes = dict(sizes or {})
        self.values: dict[str, np.ndarray] = {}
        self.outputs: list[np.ndarray] = []
        self._view = View(mod)
        arrays = [golden_input(number, tensor) for number, tensor in enumerate(inputs)]
        if all(array is not None for array in arrays):
            self._run(mod, {tensor["name"]: array for tensor, array in zip(inputs, arrays, strict=True)})

    def _run(self, mod: tvm.IRModule, inputs: Mapping[str, Any]) -> None:
        definition = reference.Reference(mod)
        is_defined = True

        def watch(name: str, value: Any) -> None:
            nonlocal is_defined
            is_defined = is_defined and name not in definition.islands
            if is_defined and isinstance(value, np.ndarray):
                self.values[name] = value

        try:
            outputs = definition.run(inputs, watch=watch)
        except DataError:  # an index beyond what it counts
            self.values = {}
            return
        self.outputs = outputs if is_defined else []

    def golden_values(self, plan: CallPlan, calls: Sequence[MainCall]) -> list[GoldenValue]:
        """Those of a plan, in the order of its steps."""
        steps = [step for step in plan.steps if isinstance(step, Call)]
        if [step.kernel for step in steps] != [call.function for call in calls]:
            return list(self._of_outputs(plan))
        pairs = enumerate(zip(steps, calls, strict=True), 1)
        numbers = plan.sizes.values(self.sizes)
        values = [self._of_step(number, step, call, numbers) for number, (step, call) in pairs]
        return [value for value in values if value is not None] + list(self._of_outputs(plan))

    def _of_step(self, number: int, step: Call, call: MainCall, numbers: Sequence[int]) -> GoldenValue | None:
        written = [place for place in step.places if place.memory in (STORAGE, OUTPUT)]
        value = self.values.get(call.variables[-1])
        if value is None or not written:
            return None
        layer = short_names(merge(*map(self._view.sources, call.variables)))
        hashes = _hashes_of(written[-1], value, numbers)
        return GoldenValue(number, written[-1], layer, hashes) if hashes else None

    def _of_outputs(self, plan: CallPlan) -> Iterator[GoldenValue]:
        names = output_names(self._view.func, len(self.outputs))
        for number, (name, value) in enumerate(zip(names, self.outputs, strict=True)):
            yield GoldenValue(len(plan.steps), plan.outputs[number], f"output '{name}'", (hash_array(value),))


def _hashes_of(place: TensorLocation, value: np.ndarray, numbers: Sequence[int]) -> tuple[int, ...]:
    """Hashes of the orders of a value's axes that fit a place; numbers: the plan's table."""
    shape = tuple(value_of(size, numbers) for size in place.shape)
    if str(value.dtype) != place.dtype:
        return ()
    orders = [value] if value.ndim < 3 else [value, np.moveaxis(value, 1, -1)]
    fitting = (hash_array(order) for order in orders if order.shape == shape)
    return tuple(dict.fromkeys(fitting))[:MOST_HASHES]
