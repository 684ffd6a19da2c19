"""Calibration of a model that hands a state to its next call, over whole sequences.

    unroll(prepared, data)   the float model runs each sequence once: every call with the state that it read is a batch
                             of calibration, like those of any other model
    StatePlayer           the guard's samples are whole sequences: a module plays them with a state of its own, so
                             that errors that grow from call to call are seen at the end

A batch that is a sequence holds its arrays under (number of the call, input).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.call_sequences import CallSequences
from tvmq.calibration.dataset import BatchSpool, Dataset, Feed, Input, samples_in
from tvmq.graph.describe_states import describe_states
from tvmq.graph.names import output_names
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.symbolic import inputs_of
from tvmq.graph.view import View
from tvmq.quantization.guard.calibration_cache import MOST_BYTES, MOST_SAMPLES, Batch
from tvmq.state.model_states import ModelStates

Run = Callable[[Any], Sequence[np.ndarray]]
Evaluator = Callable[[tvm.IRModule], Run]


class UnrolledData(Dataset):
    """The calls of all sequences as batches of calibration, each with the state that the float model had there.

    sequences  some of them whole, for the guard
    """

    def __init__(self, inputs: Sequence[Input], spool: BatchSpool, sequences: Sequence[Batch]) -> None:
        super().__init__(spool, inputs)
        self.sequences = list(sequences)

    def __iter__(self) -> Iterator[tuple[Feed, int]]:
        for feed in self._source:
            yield feed, samples_in(feed)

    def items(self) -> Iterator[Feed]:
        """All calls."""
        return iter(self._source)

    def first(self) -> Feed:
        """The first call."""
        return next(iter(self._source))


def unroll(prepared: tvm.IRModule, data: Any, evaluator: Evaluator) -> UnrolledData:
    """The calls of sequences, with the states that the float model hands on.

    data    see tvmq/calibration/call_sequences.py
    raises  DataError for data that do not fit the model, or hold no sequence
    """
    inputs, view = inputs_of(prepared), View(prepared)
    states, names = describe_states(view), output_names(view.func, len(view.outputs))
    run, spool, kept = evaluator(prepared), BatchSpool(inputs), list[Batch]()
    for calls in CallSequences(data, inputs, [one.name for one in states.tensors]):
        state = states.begin_for(calls[0])
        for call in calls:
            feed = {**call, **state}
            spool.add_checked({info.name: feed[info.name] for info in inputs})
            results = dict(zip(names, run(feed), strict=True))
            state = {one.name: np.array(results[one.pair.output]) for one in states.tensors}
        if sum(batch.count for batch in kept) < MOST_SAMPLES and sum(map(_bytes, kept)) < MOST_BYTES:
            flat = {(step, name): value for step, call in enumerate(calls) for name, value in call.items()}
            kept.append(Batch(flat, samples_in(calls[0])))  # type: ignore[arg-type]
    return UnrolledData(inputs, spool, kept)


def _bytes(batch: Batch) -> int:
    return sum(value.nbytes for value in batch.feed.values())


class StatePlayer:
    """Plays whole sequences with modules of one model, float or integer: each with a state of its own.

    outputs  names of the model's outputs
    """

    def __init__(self, prepared: tvm.IRModule) -> None:
        view = View(prepared)
        self.outputs = output_names(view.func, len(view.outputs))
        self.states = frozenset(pair.output for pair in state_pairs(prepared))

    def player(self, module: tvm.IRModule, run: Run) -> Run:
        """A run of a sequence by a module, whose single calls `run` makes; results of the calls follow each other along
        the first axis. Outputs that are states are those of the last call."""
        states = describe_states(View(module))
        return lambda feed: self._play(run, states, feed)

    def _play(self, run: Run, states: ModelStates, feed: Mapping[Any, np.ndarray]) -> list[np.ndarray]:
        calls, common = _calls_of(feed)
        state, rows = states.begin_for(calls[0]), list[list[np.ndarray]]()
        for call in calls:
            results = run({**call, **common, **state})
            rows.append([np.array(one) for one in results])
            last = dict(zip(self.outputs, rows[-1][len(rows[-1]) - len(self.outputs) :], strict=True))
            state = {one.name: last[one.pair.output] for one in states.tensors}
        names = [""] * (len(rows[0]) - len(self.outputs)) + self.outputs
        return [
            parts[-1] if name in self.states else _join(parts)
            for name, parts in zip(names, zip(*rows, strict=True), strict=True)
        ]


def _calls_of(feed: Mapping[Any, np.ndarray]) -> tuple[list[Feed], Feed]:
    """The calls of a sequence, and what is the same in all of them."""
    calls: dict[int, Feed] = {}
    common: Feed = {}
    for key, value in feed.items():
        if isinstance(key, tuple):
            calls.setdefault(key[0], {})[key[1]] = value
        else:
            common[key] = value
    return [calls[step] for step in sorted(calls)], common


def _join(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Results of all calls, one after the other; flat where their shapes differ behind the first axis."""
    if all(part.ndim and part.shape[1:] == parts[0].shape[1:] for part in parts):
        return np.concatenate(parts)
    return np.concatenate([part.ravel() for part in parts])
