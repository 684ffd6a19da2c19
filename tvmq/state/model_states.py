"""`ModelStates`: all states of a model, from which a session's first state is made.

Tests: tests/state/test_session_state.py
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq.errors import ConfigError
from tvmq.state.state_tensor import StateTensor

Shape = Sequence[int | str]


@dataclass(frozen=True)
class ModelStates:
    """States of a model; of one without any `tensors` is empty.

    tensors  its states, in the order of its inputs
    inputs   (name, shape) of the inputs that are no state
    batch    dynamic dimension that is the batch; "" where that is fixed
    digest   of the model, by which a state of another one is told
    """

    tensors: tuple[StateTensor, ...] = ()
    inputs: tuple[tuple[str, tuple[int | str, ...]], ...] = ()
    batch: str = ""
    digest: str = ""

    @classmethod
    def of(
        cls, tensors: Sequence[StateTensor], inputs: Sequence[tuple[str, Shape]], batch: str, facts: Any
    ) -> ModelStates:
        """The states of a model.

        inputs  (name, shape) of all its inputs
        batch   the dimension that is proved to be the batch; where states have none of that name, it is the first
                dynamic one that they share with the other inputs
        facts   JSON of what tells this model from others: the scales of its codes
        """
        states = {one.name for one in tensors}
        plain = tuple((name, tuple(shape)) for name, shape in inputs if name not in states)
        named_sizes = {size for _, shape in plain for size in shape}
        shared = [
            size
            for one in tensors
            for axis, size in enumerate(one.shape)
            if isinstance(size, str) and size in named_sizes and not (one.is_appended and axis == one.pair.axis)
        ]
        text = json.dumps([[one.to_json() for one in tensors], [[n, list(s)] for n, s in inputs], facts])
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(tuple(tensors), plain, batch if batch in shared else next(iter(shared), ""), digest)

    def __bool__(self) -> bool:
        return bool(self.tensors)

    @property
    def outputs(self) -> frozenset[str]:
        """Names of the outputs that are states."""
        return frozenset(one.pair.output for one in self.tensors)

    def begin(self, batch: int = 1, sizes: Mapping[str, int] | None = None) -> dict[str, np.ndarray]:
        """{input: array} before the first call.

        sizes    {dynamic dimension: size} of those that are neither the batch nor rows that are appended
        raises   ConfigError for a batch that the model does not take, and for dimensions without a size
        """
        if not isinstance(batch, int | np.integer) or isinstance(batch, bool) or batch < 1:
            raise ConfigError(f"new_state: batch must be a whole number of at least 1. Got {batch!r} instead")
        fixed = next((int(shape[0]) for _, shape in self.inputs if shape and not isinstance(shape[0], str)), 1)
        if not self.batch and batch not in (1, fixed):
            raise ConfigError(
                f"new_state: the batch of the model is fixed at {fixed}. Got {batch} instead; import it with a "
                "dynamic batch"
            )
        known = {**({self.batch: int(batch)} if self.batch else {}), **(sizes or {})}
        return {one.name: one.begin(known) for one in self.tensors}

    def begin_for(self, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """{input: array} before the first call, whose other inputs are these; states among them begin as given."""
        sizes = self.sizes_in(feed)
        initial = {one.name: one.encode(feed[one.name]) for one in self.tensors if one.name in feed}
        missing = [one for one in self.tensors if one.name not in initial]
        return initial | ModelStates(tuple(missing), self.inputs, self.batch).begin(sizes.get(self.batch, 1), sizes)

    def sizes_in(self, feed: Mapping[str, Any]) -> dict[str, int]:
        """{dynamic dimension: size} in what is given to a call."""
        sizes: dict[str, int] = {}
        for name, shape in self.inputs:
            own = np.shape(feed[name]) if name in feed else ()
            for wanted, size in zip(shape, own, strict=False):
                if isinstance(wanted, str):
                    sizes.setdefault(wanted, size)
        return sizes

    def to_json(self) -> dict[str, Any]:
        """Plain data; {} of a model without states."""
        if not self:
            return {}
        inputs = [[name, list(shape)] for name, shape in self.inputs]
        return {
            "tensors": [one.to_json() for one in self.tensors],
            "inputs": inputs, "batch": self.batch, "digest": self.digest,
        }  # fmt: skip

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> ModelStates:
        """Inverse of `to_json`."""
        if not entry:
            return cls()
        tensors = tuple(map(StateTensor.from_json, entry["tensors"]))
        inputs = tuple((name, tuple(shape)) for name, shape in entry["inputs"])
        return cls(tensors, inputs, entry["batch"], entry["digest"])
