"""Calls of a compiled model whose appended states stay tensors from one call to the next.

A language model has a hundred caches. As arrays each of them is looked at, shared with the compiler's runtime and taken
back in every call, which costs a seventh of a token of a small model. What a call gave fits the next one: here only the
other inputs are looked at, and one state of each shape for its sizes.

Tests: tests/runtime/test_state_calls.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tvmq.runtime.call_code import is_sharable, share_memory
from tvmq.runtime.inputs import Inputs, TensorInfo, aligned_zeros, sizes_of_inputs
from tvmq.state.model_states import ModelStates
from tvmq.state.session_state import SessionState

if TYPE_CHECKING:
    from tvmq.runtime.compiled_function import CompiledFunction


class ShapeOfState(NamedTuple):
    """A state's shape in place of its array."""

    shape: tuple[int, ...]


class StateCalls:
    """Calls of a function with states, all of which are appended to.

    function  main of a model for a CPU
    states    of the model
    """

    def __init__(self, function: CompiledFunction, states: ModelStates) -> None:
        self._function = function
        outputs = {info.name: number for number, info in enumerate(function.output_info)}
        self._outputs = {one.name: outputs[one.pair.output] for one in states.tensors}
        self._rest = [number for name, number in outputs.items() if name not in states.outputs]
        infos = function.input_info
        self._feed = [info for info in infos if info.name not in self._outputs]
        self._inputs = Inputs(self._feed)
        # one state of each shape, which tells the sizes
        self._kinds = list({info.shape: info for info in infos if info.name in self._outputs}.values())

    def run(self, inputs: Mapping[str, Any], state: SessionState) -> list[np.ndarray] | None:
        """Results that are no state, which is then what the call gave; None where a batch takes several calls.

        raises  what CompiledFunction.run raises, and DataError where the state has no room
        """
        function, limits = self._function, self._function.limits
        if state.tensors is None:
            arrays = function.check_inputs(state.join(inputs))
            sizes = sizes_of_inputs(function.input_info, arrays, limits)
            values = [self._as_tensor(info, array) for info, array in zip(function.input_info, arrays, strict=True)]
        else:
            if len(inputs) != len(self._feed):
                state.join(inputs)  # names a state among them
            arrays = self._inputs.check(inputs)
            shapes = [ShapeOfState(tuple(state.tensors[info.name].shape)) for info in self._kinds]
            sizes = sizes_of_inputs([*self._feed, *self._kinds], [*arrays, *shapes], limits)
            by_name = state.tensors | {info.name: array for info, array in zip(self._feed, arrays, strict=True)}
            values = [by_name[info.name] for info in function.input_info]
            function.check_indices(values, lambda: sizes)
        results = function.run_once(values, sizes)
        if results is None:
            return None
        state.advance_tensors({name: results[number] for name, number in self._outputs.items()})
        return [results[number] for number in self._rest]

    def _as_tensor(self, info: TensorInfo, array: np.ndarray) -> Any:
        """A state as a tensor, on memory of its own where the array's cannot be read; other inputs as they are."""
        if info.name not in self._outputs:
            return array
        if not is_sharable(array):
            own = aligned_zeros(array.shape, info.dtype)
            own[...] = array
            array = own
        return share_memory(array)


def state_calls(function: CompiledFunction, states: ModelStates) -> StateCalls | None:
    """Calls of main; None for a model with a state that is replaced, whose memory the code may write into."""
    is_able = states and len(function.caches.inputs) == len(function.caches.results) == len(states.tensors)
    return StateCalls(function, states) if is_able else None
