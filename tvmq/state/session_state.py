"""`SessionState`: the state of one session of a model, between its calls; `exe.new_state()` makes one.

    state = exe.new_state()
    for chunk in audio:
        y, = exe.run({"x": chunk}, state)      # the state is what the next call reads

Each session has a state of its own; a state is for one thread at a time. Nothing of a state is float that the integer
layers hold in codes: what one call writes is what the next one reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.errors import ArtifactError, DataError, OutputError
from tvmq.state.model_states import ModelStates

FORMAT = "tvmq state 1"


class SessionState:
    """State of one session.

    model     what the model says of its states
    arrays    {input: array} as the next call reads them
    batch     sessions that run together in it
    capacity  rows that appended states may have at most; None: any number
    tensors   the same as tensors of the compiler's runtime, which the last call gave; None once `arrays` were asked for
    """

    def __init__(
        self, model: ModelStates, arrays: Mapping[str, np.ndarray], batch: int = 1, capacity: int | None = None
    ) -> None:
        self.model, self.batch, self.capacity = model, batch, capacity
        self._arrays: dict[str, np.ndarray] = dict(arrays)
        self.tensors: dict[str, Any] | None = None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """{input: array} as the next call reads them."""
        if self.tensors is not None:
            # what is written into them, or put in their place, is for the next call
            self._arrays, self.tensors = {name: _as_array(tensor) for name, tensor in self.tensors.items()}, None
        return self._arrays

    @property
    def length(self) -> int:
        """Rows that appended states have, such as the tokens of a text; 0 of a model without any."""
        arrays: Mapping[str, Any] = self._arrays if self.tensors is None else self.tensors
        lengths = [arrays[one.name].shape[one.pair.axis or 0] for one in self.model.tensors if one.is_appended]
        return max(map(int, lengths), default=0)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    def join(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """All inputs of a call: those of the feed, and the state's.

        raises   DataError for a state in the feed
        """
        states_in_feed = [name for name in feed if name in self.arrays]
        if states_in_feed:
            raise DataError(f"run: input '{states_in_feed[0]}' is a state, which exe.new_state() holds; leave it out")
        return {**feed, **self.arrays}

    def advance(self, results: Mapping[str, np.ndarray]) -> None:
        """Take over what a call gave, {output: array}.

        raises   DataError where appended rows exceed the capacity; the state is then what it was
        """
        news = {one.name: results[one.pair.output] for one in self.model.tensors}
        self._refuse_beyond_capacity(news)
        self._arrays, self.tensors = news, None

    def advance_tensors(self, tensors: dict[str, Any]) -> None:
        """Take over {input: tensor} that a call of compiled code gave, as `advance`."""
        self._refuse_beyond_capacity(tensors)
        self._arrays, self.tensors = {}, tensors

    def _refuse_beyond_capacity(self, news: Mapping[str, Any]) -> None:
        if self.capacity is None:
            return
        for one in self.model.tensors:
            rows = int(news[one.name].shape[one.pair.axis or 0]) if one.is_appended else 0
            if rows > self.capacity:
                raise DataError(
                    f"run: the state holds {self.length} of at most {self.capacity} rows, and {rows - self.length} "
                    "more do not fit; make it with a larger capacity, or rewind it"
                )

    def copy(self) -> SessionState:
        """A state that goes its own way from here."""
        arrays = {name: array.copy() for name, array in self.arrays.items()}
        return SessionState(self.model, arrays, self.batch, self.capacity)

    def rewind(self, length: int) -> None:
        """Forget what was appended behind the first `length` rows.

        raises   DataError for more rows than there are, and for a model with a state that is replaced: what it was
                 before is gone
        """
        replaced = [one.name for one in self.model.tensors if not one.is_appended]
        if replaced:
            raise DataError(
                f"rewind: state '{replaced[0]}' is replaced at each call, what it was before is gone; keep a copy() "
                "of the state at the places to come back to"
            )
        if not 0 <= length <= self.length:
            raise DataError(f"rewind: the state has {self.length} rows. Got {length} instead of 0 to {self.length}")
        for one in self.model.tensors:
            rows = (slice(None),) * (one.pair.axis or 0) + (slice(0, length),)
            self.arrays[one.name] = self.arrays[one.name][rows].copy()

    def save(self, path: str | Path) -> None:
        """Write the state to an .npz file, which `exe.load_state` reads.

        raises   OutputError if it cannot be written
        """
        head = {"format": FORMAT, "model": self.model.digest, "batch": self.batch, "capacity": self.capacity}
        arrays = [self.arrays[one.name] for one in self.model.tensors]
        try:
            with open(path, "wb") as file:
                np.savez(file, np.frombuffer(json.dumps(head).encode(), np.uint8), *arrays)
        except OSError as error:
            raise OutputError(f"save: the state cannot be written to '{path}' ({error.strerror})") from error

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in self.arrays.items())
        return f"SessionState({kinds})"


def _as_array(tensor: Any) -> np.ndarray:
    """A tensor as an array on its memory, which may be written."""
    array = np.from_dlpack(tensor)
    return array if array.flags.writeable else array.copy()  # NumPy 2.2.0 and older share it to be read alone


def load_session(path: str | Path, model: ModelStates) -> SessionState:
    """A state that `SessionState.save` wrote.

    raises   ArtifactError for a file that is none, DataError for the state of another model
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(file["arr_0"].tobytes())
            if head["format"] != FORMAT:
                raise ValueError(f"format {head['format']!r}")
            arrays = [file[f"arr_{number + 1}"] for number in range(len(file.files) - 1)]
            batch, capacity = int(head["batch"]), head["capacity"]
            digest = str(head["model"])
    except Exception as error:  # zipfile, NumPy and JSON raise many kinds
        raise ArtifactError(f"load_state: '{path}' is no state that SessionState.save wrote ({error})") from error
    refuse_other_model("load_state", digest, model)
    shapes_fit = len(arrays) == len(model.tensors) and all(
        array.dtype == one.dtype and array.ndim == len(one.shape)
        for array, one in zip(arrays, model.tensors, strict=True)
    )
    if not shapes_fit:
        raise ArtifactError(f"load_state: the arrays of '{path}' are not those of the model's states; save it again")
    names = [one.name for one in model.tensors]
    return SessionState(model, dict(zip(names, arrays, strict=True)), batch, capacity)


def refuse_other_model(caller: str, digest: str, model: ModelStates) -> None:
    """DataError for a state of another model."""
    if digest != model.digest:
        raise DataError(
            f"{caller}: the state belongs to another model (its digest is {digest[:12]}, this one's "
            f"{model.digest[:12]}); make one with new_state() of this model"
        )
