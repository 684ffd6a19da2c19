"""Preprocessing inside of a model: its operators before the first product tell which values an input must have.

Tests: tests/graph/test_input_preprocessing.py
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.names import input_names
from tvmq.graph.operators import where
from tvmq.graph.operators.record import MOVE, RESIZE
from tvmq.graph.view import View, const_value, is_const, op_name

MOST = 8
MOVES = where(kind=(MOVE, RESIZE)) | {"astype", "clip"}
NAMES = {"nn.batch_norm": "batch_norm"}


def first_operators(mod: tvm.IRModule, params: Mapping[str, np.ndarray], name: str) -> list[tuple[str, float]]:
    """(operator, largest magnitude of its constants) from an input on, as long as one operator reads the last.

    mod, params   as a front end gives them
    name          of the input in the source; what only moves or converts values is left out

    Of a batch norm the magnitude is that of its moving mean.
    """
    view = View(mod)
    parameters = {source: parameter for parameter, source in input_names(view.func).items()}
    current, operators = parameters.get(name, name), []
    for _ in range(MOST):
        reader = view.only_reader(current) if current in view.readers else None
        call = view.value.get(reader) if reader else None
        if reader is None:
            break
        if isinstance(call, relax.Call):
            operator = op_name(call)
            constants = [value for arg in call.args if (value := _value(arg, view, params)) is not None]
            if operator not in MOVES and constants:
                chosen = constants[2:3] if operator == "nn.batch_norm" else constants
                largest = max((float(np.abs(value).max()) for value in chosen if value.size), default=0.0)
                operators.append((NAMES.get(operator, operator), largest))
            if operator.startswith("nn.conv") or operator == "matmul":
                break
        current = reader
    return operators


def _value(arg: relax.Expr, view: View, params: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The array of a constant or a weight; None for what is computed."""
    if is_const(arg):
        return const_value(arg)
    if not isinstance(arg, relax.Var):
        return None
    if arg.name in params:
        return np.asarray(params[arg.name])
    value = view.value.get(arg.name)
    return const_value(value) if value is not None and is_const(value) else None
