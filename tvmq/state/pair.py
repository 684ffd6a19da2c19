"""`StatePair`: an input of a model and the output that takes its place in the next call.

The module holds its pairs as JSON in the attribute "tvmq.state" of its main function (graph/state_pairs.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

REPLACED, APPENDED = "replaced", "appended"


@dataclass(frozen=True)
class StatePair:
    """A state between calls.

    input, output  their names in the source
    kind           "replaced": the output takes the place of the input, such as the state of an LSTM or the cache of a
                   causal convolution; "appended": the output is the input with rows added, such as a cache of keys
    axis           along which rows are added; None of what is replaced
    initial        value that the input has before the first call
    scale          of its codes, and their `zero_point`; None of what is kept in the model's own type

    >>> print(StatePair("past_key", "present_key", APPENDED, 2))
    past_key -> present_key, appended along axis 2
    >>> print(StatePair("h_in", "h_out"))
    h_in -> h_out, replaced
    """

    input: str
    output: str
    kind: str = REPLACED
    axis: int | None = None
    initial: float = 0.0
    scale: float | None = None
    zero_point: int = 0

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> StatePair:
        """Inverse of `to_json`."""
        return cls(**{name: entry[name] for name in cls.__dataclass_fields__ if name in entry})

    def to_json(self) -> dict[str, Any]:
        """Plain data, without what is None."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        along = f" along axis {self.axis}" if self.kind == APPENDED else ""
        return f"{self.input} -> {self.output}, {self.kind}{along}"


def split_names(names: Sequence[str], pairs: Sequence[StatePair]) -> list[str]:
    """Names of inputs or outputs that are no state, in order.

    >>> split_names(["x", "h_in"], [StatePair("h_in", "h_out")])
    ['x']
    """
    states = {name for pair in pairs for name in (pair.input, pair.output)}
    return [name for name in names if name not in states]
