"""Recurrent layers of all kinds with their operands, for the kernels of every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq import numerics
from tvmq.codegen.kernels.recurrent.recurrent import Recurrent
from tvmq.numerics.recurrent import CELLS, WHOLE_LENGTH

STEPS = 5
CASES: list[tuple[str, dict[str, Any]]] = [
    ("lstm", {"ends": True, "hidden": 24}),
    ("lstm", {"reverse": True, "lengths": "each", "batch": 5, "dynamic": True, "ends": True}),
    ("lstm_peepholes", {"clip": 0.5, "batch": 3}),
    ("gru", {"batch": 6, "hidden": 40, "shared_state": True}),
    ("gru_reset_after", {"dynamic": True, "batch": 2, "lengths": "one"}),
    ("rnn", {"activations": "relu", "hidden": 7, "ends": True, "reverse": True}),
]


@dataclass(frozen=True)
class Case:
    """A recurrent layer; inputs: gates, state, and lengths where a kernel reads them."""

    layer: Recurrent
    inputs: list[np.ndarray]
    weight: np.ndarray
    terms: np.ndarray
    scale: np.ndarray | None
    lengths: np.ndarray
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, kind: str, options: dict[str, Any], *, is_codes: bool) -> Case:
        """options: fields of Recurrent, and `dynamic` for sizes that only a run tells."""
        facts = {"activations": CELLS[kind].activations, "clip": 0.0, "reverse": False, "ends": False, "batch": 1}
        facts |= {"hidden": 19, "shared_state": False, "lengths": "all", "dynamic": False} | options
        dynamic, batch, hidden = facts.pop("dynamic"), facts["batch"], facts["hidden"]
        cell, random = CELLS[kind], np.random.default_rng(1)
        width = cell.gates * hidden
        gates, weight, terms = (
            random.normal(0, 1, shape).astype(np.float32)
            for shape in ((STEPS, batch, width), (hidden, width), (max(cell.terms, 1) * hidden,))
        )
        state = random.normal(0, 1, (cell.states, 1 if facts["shared_state"] else batch, hidden)).astype(np.float32)
        gates[1, 0, 3], gates[2, 0, ::7] = 200, -200
        lengths = np.int32([WHOLE_LENGTH] if facts["lengths"] == "all" else [3] * (facts["lengths"] == "one") or
                           [STEPS + 2, 0, 3, 1, STEPS])  # fmt: skip
        scale = None
        if is_codes:
            weight = random.integers(-127, 128, weight.shape).astype(np.int8)
            scale = random.uniform(1e-3, 5e-2, width).astype(np.float32)
        rows = STEPS + cell.states * facts["ends"]
        sizes = ("n", "b", "m") if dynamic else (STEPS, batch, rows)
        layer = Recurrent(kind, steps=sizes[0], is_codes=is_codes, rows=sizes[2], **facts | {"batch": sizes[1]})
        inputs = [gates, state, *([] if facts["lengths"] == "all" else [lengths])]
        return cls(layer, inputs, weight, terms, scale, lengths, (rows, batch, hidden))

    def expected(self) -> np.ndarray:
        """Expected result by the definition."""
        layer, (gates, state, *_) = self.layer, self.inputs
        options = {name: getattr(layer, name) for name in ("kind", "activations", "clip", "reverse", "ends")}
        if self.scale is None:
            return numerics.recurrent(gates, self.weight, self.terms, state, self.lengths, **options)
        return numerics.recurrent_codes(gates, self.weight, self.terms, state, self.lengths, self.scale, **options)
