"""R.tvmq.observe: statistics of a tensor, written into buffers while a model is calibrated.

Tests: tests/formats/exporting/test_formats_page.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.record import FUNCTION


def _infer_observe(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    return call.args[1].ty


@declare(FUNCTION, infer=_infer_observe, integer=True)
def observe(
    builder: relax.BlockBuilder,
    x: relax.Expr,
    token: relax.Expr,
    control: relax.Expr,
    tables: relax.Expr,
    extremes: relax.Expr,
    totals: relax.Expr,
    *,
    tensor: int,
    begin: int,
    slots: int,
    batched: bool = True,
    counted: bool = True,
    axis: int = -1,
) -> relax.Expr:
    """Statistics of x, written into the last four tensors.

    The result is the token, so that calls that pass it on run in their order and none is dropped; see
    observers/statistics_buffers.py for the memory, kernels/calibrate/observe.py for what is computed. There is no other
    way to compute it: a tensor that the kernel does not take (of dynamic sizes, not float32) is not observed.

    tensor, begin, slots, batched, counted  as observers.streamed has them
    axis                                    of the channels, -1 for none
    """
    raise ValueError(f"tvmq.observe: no kernel takes a tensor of {x.ty}; calibrate without observing")
