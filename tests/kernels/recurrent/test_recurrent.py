"""Recurrent layers: the kernel against numerics.recurrent, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

from tests.kernels.harness import compile_function, levels
from tvmq import numerics
from tvmq.kernels.isa import isa_named
from tvmq.kernels.recurrent.recurrent import Recurrent, recurrent
from tvmq.numerics.recurrent import CELLS, WHOLE_LENGTH

LEVELS = levels("generic", "avx2", "avx512bw", "avxvnni", "avx512vnni")
CASES: list[tuple[str, dict[str, Any]]] = [
    ("lstm", {"ends": True, "hidden": 24}),
    ("lstm", {"reverse": True, "lengths": "each", "batch": 5, "free": True, "ends": True}),
    ("lstm_peepholes", {"clip": 0.5, "batch": 3}),
    ("gru", {"batch": 6, "hidden": 40, "shared_state": True}),
    ("gru_reset_after", {"free": True, "batch": 2, "lengths": "one"}),
    ("rnn", {"activations": "relu", "hidden": 7, "ends": True, "reverse": True}),
]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("is_codes", [False, True])
@pytest.mark.parametrize(("kind", "options"), CASES)
@pytest.mark.parametrize("level", LEVELS)
def test_equals_the_definition(level: str, kind: str, options: dict[str, Any], is_codes: bool) -> None:
    facts = {"activations": CELLS[kind].activations, "clip": 0.0, "reverse": False, "ends": False, "batch": 1}
    facts |= {"hidden": 19, "shared_state": False, "lengths": "all", "free": False} | options
    free, steps, batch, hidden = facts.pop("free"), 5, facts["batch"], facts["hidden"]
    cell, random = CELLS[kind], np.random.default_rng(1)
    width = cell.gates * hidden
    gates, weight, terms = (
        random.normal(0, 1, shape).astype(np.float32)
        for shape in ((steps, batch, width), (hidden, width), (max(cell.terms, 1) * hidden,))
    )
    state = random.normal(0, 1, (cell.states, 1 if facts["shared_state"] else batch, hidden)).astype(np.float32)
    gates[1, 0, 3], gates[2, 0, ::7] = 200, -200
    lengths = np.int32([WHOLE_LENGTH] if facts["lengths"] == "all" else [3] * (facts["lengths"] == "one") or
                       [steps + 2, 0, 3, 1, steps])  # fmt: skip
    scale = None
    if is_codes:
        weight = random.integers(-127, 128, weight.shape).astype(np.int8)
        scale = random.uniform(1e-3, 5e-2, width).astype(np.float32)
    rows = steps + cell.states * facts["ends"]
    sizes = ("n", "b", "m") if free else (steps, batch, rows)
    layer = Recurrent(kind, steps=sizes[0], is_codes=is_codes, rows=sizes[2], **facts | {"batch": sizes[1]})
    kernel = recurrent(layer, isa_named(level), weight, terms, scale)
    y = np.full((rows, batch, hidden), 77, np.float32)
    inputs = [gates, state, *([] if facts["lengths"] == "all" else [lengths])]
    tensors = [tvm.runtime.tensor(array) for array in (*inputs, *kernel.constants, y)]
    compile_function(kernel.name, kernel.func, level)(*tensors)
    options = {name: facts[name] for name in ("activations", "clip", "reverse", "ends")} | {"kind": kind}
    define = numerics.recurrent_codes if is_codes else numerics.recurrent
    expected = define(gates, weight, terms, state, lengths, *([scale] if is_codes else []), **options)
    np.testing.assert_array_equal(tensors[-1].numpy().view(np.int32), expected.view(np.int32))
