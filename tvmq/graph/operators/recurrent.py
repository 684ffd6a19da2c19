"""R.tvmq.recurrent and recurrent_codes: a layer of LSTM, GRU or RNN in one direction, numerics.recurrent.

    y = recurrent(gates, weight, terms, state, lengths)                  the state's product in float32
    y = recurrent_codes(gates, weight, terms, state, lengths, scale)     in exact sums of int8 codes

Their loops are written by kernels alone (kernels/recurrent, kernels/cuda): nothing else can follow a loop over time.

Tests: tests/formats/onnx/exporter/test_recurrent.py
"""

from __future__ import annotations

from functools import partial

from tvm import relax

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import known_shape
from tvmq.graph.operators.products import state_products
from tvmq.graph.operators.record import RECURRENT
from tvmq.numerics.recurrent import CELLS

NO_LOOPS = "relax.tvmq.{}: its loop over time is a kernel of its own, with a constant weight"


def _infer_recurrent(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    steps, batch, width = known_shape(call)
    cell = CELLS[str(call.attrs.kind)]
    hidden = width // cell.gates
    return relax.TensorType([steps + (cell.states if call.attrs.ends else 0), batch, hidden], "float32")


_declare = partial(
    declare,
    RECURRENT,
    infer=_infer_recurrent,
    attributes="Recurrent",
    batch="loops",
    weight=1,
    weight_axis=1,
    macs=state_products,
)


@_declare(numerics.recurrent)
def recurrent(
    builder: relax.BlockBuilder,
    gates: relax.Expr,
    weight: relax.Expr,
    terms: relax.Expr,
    state: relax.Expr,
    lengths: relax.Expr,
    *,
    kind: str,
    activations: str,
    clip: float = 0.0,
    reverse: bool = False,
    ends: bool = False,
) -> relax.Expr:
    """See numerics.recurrent."""
    raise ValueError(NO_LOOPS.format("recurrent"))


@_declare(numerics.recurrent_codes)
def recurrent_codes(
    builder: relax.BlockBuilder,
    gates: relax.Expr,
    weight: relax.Expr,
    terms: relax.Expr,
    state: relax.Expr,
    lengths: relax.Expr,
    scale: relax.Expr,
    *,
    kind: str,
    activations: str,
    clip: float = 0.0,
    reverse: bool = False,
    ends: bool = False,
) -> relax.Expr:
    """See numerics.recurrent_codes."""
    raise ValueError(NO_LOOPS.format("recurrent_codes"))
