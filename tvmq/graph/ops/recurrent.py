"""R.tvmq.recurrent and recurrent_codes: a layer of LSTM, GRU or RNN in one direction, numerics.recurrent.

    y = recurrent(gates, weight, terms, state, lengths)                  the state's product in float32
    y = recurrent_codes(gates, weight, terms, state, lengths, scale)     in exact sums of int8 codes

Their loops are written by kernels alone (kernels/recurrent, kernels/cuda): nothing else can follow a loop over time.

Tests: tests/formats/onnx/exporter/test_recurrent.py
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import known_shape, register
from tvmq.numerics.recurrent import CELLS


@py_class("tvmq.attrs.Recurrent", frozen=True)
class RecurrentAttrs(tvm.ir.Attrs):
    """See numerics.recurrent."""

    kind: str
    activations: str
    clip: float = 0.0
    reverse: bool = False
    ends: bool = False


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    steps, batch, width = known_shape(call)
    cell = CELLS[str(call.attrs.kind)]
    hidden = width // cell.gates
    return relax.TensorType([steps + (cell.states if call.attrs.ends else 0), batch, hidden], "float32")


def _legalize(_bb: relax.BlockBuilder, call: relax.Call) -> Any:
    # no class of ours comes back through TVM
    raise ValueError(f"{call.op.name}: its loop over time is a kernel of its own, with a constant weight")


ARGUMENTS = ("gates", "weight", "terms", "state", "lengths")
recurrent = register("recurrent", ARGUMENTS, RecurrentAttrs, _infer, _legalize)
recurrent_codes = register("recurrent_codes", (*ARGUMENTS, "scale"), RecurrentAttrs, _infer, _legalize)
