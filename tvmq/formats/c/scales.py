"""Scales and zero points of the core's inputs and results, as the two functions around it convert them.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import function_module
from tvmq.graph.names import input_names
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.view import View, const_value, op_name
from tvmq.state.pair import StatePair

Encoding = tuple[np.ndarray, np.ndarray] | None


def input_scales(mod: tvm.IRModule) -> list[Encoding]:
    """Scale and zero point of each input; None for plain integers."""
    view = View(function_module(mod, "quantize_inputs"))
    names, states = input_names(view.func), {pair.input: pair for pair in state_pairs(mod)}
    return [
        _of_state(states.get(names.get(name, ""))) or _constants(view.value.get(name), "tvmq.quantize")
        for name in view.outputs
    ]


def _of_state(pair: StatePair | None) -> Encoding:
    """Scale and zero point of a state that is codes between calls; None for other inputs."""
    if pair is None or pair.scale is None:
        return None
    return np.asarray(pair.scale, np.float32), np.asarray(pair.zero_point, np.int32)


def result_scales(mod: tvm.IRModule) -> list[Encoding]:
    """Scale, one or one for each channel, and zero point of each result."""
    view, codes = View(function_module(mod, "dequantize_outputs")), get_ledger(mod).codes
    encodings: list[Encoding] = []
    for name in view.params:
        read = [_constants(view.value[reader], "tvmq.dequantize") for reader in view.readers[name]]
        known = next((encoding for encoding in read if encoding is not None), None)
        if known is None and name in codes:
            known = np.asarray(codes[name][0], np.float32), np.asarray(codes[name][1], np.int32)
        encodings.append(known)
    return encodings


def _constants(value: relax.Expr | None, operator: str) -> Encoding:
    if value is None or op_name(value) != operator:
        return None
    return const_value(value.args[1]), const_value(value.args[2])
