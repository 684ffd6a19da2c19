"""Calls of a model that hands a state to its next call: the state joins the inputs, and takes what they give.

Compiled code and the definition (tvmq.reference) run so; they share states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.errors import ConfigError, DataError
from tvmq.state.model_states import ModelStates
from tvmq.state.session_state import SessionState, refuse_other_model

Run = Callable[..., list[np.ndarray]]


def begin_session(
    states: ModelStates, batch: int, capacity: int | None, sizes: Mapping[str, int] | None
) -> SessionState:
    """The state before the first call.

    raises  ConfigError for a model without a state, a batch that it does not take, and an impossible capacity
    """
    if not states:
        raise ConfigError(
            "new_state: the model has no state; import it with from_onnx(..., state={input: output}) of what each "
            "call hands to the next one"
        )
    if capacity is not None and (not isinstance(capacity, int | np.integer) or capacity < 1):
        raise ConfigError(f"new_state: capacity must be a whole number of at least 1. Got {capacity!r} instead")
    if capacity is not None and not any(one.is_appended for one in states.tensors):
        raise ConfigError("new_state: no state of the model is appended to, all are replaced; leave capacity out")
    return SessionState(states, states.begin(batch, sizes), batch, capacity)


def run_session(
    run: Run,
    inputs: Mapping[str, Any],
    state: SessionState | None,
    states: ModelStates,
    outputs: Sequence[str],
    keep_tensors: Callable[[Mapping[str, Any], SessionState], list[np.ndarray] | None] | None = None,
    **options: Any,
) -> list[np.ndarray]:
    """The results of a call that are no state; the state is then what the call gave.

    run           gives all results for all inputs; without a state it is given them, and they are its
    states        of the model
    outputs       names of all of them, in order
    keep_tensors  does the same faster where it can, and gives None where it cannot (state_calls.py)
    raises        DataError for a state that is missing, or of another model or batch, and where it has no room
    """
    if state is None:
        names = [one.name for one in states.tensors]
        if isinstance(inputs, Mapping) and not any(name in inputs for name in names):
            raise DataError(
                f"run: the model hands a state to its next call ({', '.join(names)}); give one, "
                "run(inputs, exe.new_state()), and the same one to the next call"
            )
        return run(inputs, **options)
    if not isinstance(state, SessionState):
        raise DataError(f"run: a state is what new_state() gives. Got {type(state).__name__} instead")
    if not states:
        raise DataError("run: the model has no state; leave it out")
    refuse_other_model("run", state.model.digest, states)
    _refuse_other_batch(inputs, state, states)
    rest = None if keep_tensors is None else keep_tensors(inputs, state)
    if rest is not None:
        return rest
    results = run(state.join(inputs), **options)
    pairs, handed_on = list(zip(outputs, results, strict=True)), states.outputs
    state.advance({name: array for name, array in pairs if name in handed_on})
    return [array for name, array in pairs if name not in handed_on]


def _refuse_other_batch(inputs: Mapping[str, Any], state: SessionState, states: ModelStates) -> None:
    size = states.sizes_in(inputs).get(states.batch, state.batch) if isinstance(inputs, Mapping) else state.batch
    if size != state.batch:
        raise DataError(
            f"run: the state is of a batch of {state.batch}, the inputs have {size}; make one with "
            f"new_state(batch={size})"
        )
