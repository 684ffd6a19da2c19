"""R.tvmq.observe(x, token, control, tables, extremes, totals): statistics of x, written into the last four.

The result is the token, so that calls that pass it on run in their order and none is dropped; see
observers/statistics_buffers.py for the memory, kernels/calibrate/observe.py for what is computed. There is no other way
to compute it: a tensor that the kernel does not take (of dynamic sizes, not float32) is not observed. It is in no model
of users, and registered where passes/calibrate/observed_model.py asks for it.

Tests: tests/formats/exporting/test_formats_page.py
"""

from __future__ import annotations

import tvm
from tvm import relax
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Observe", frozen=True)
class ObserveAttrs(tvm.ir.Attrs):
    """tensor, begin, slots, batched, counted as observers.streamed has them; axis of the channels, -1 for none."""

    tensor: int
    begin: int
    slots: int
    batched: bool = True
    counted: bool = True
    axis: int = -1


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    return call.args[1].ty


def _legalize(_builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    raise ValueError(f"tvmq.observe: no kernel takes a tensor of {call.args[0].ty}; calibrate without observing")


ARGUMENTS = ("x", "token", "control", "tables", "extremes", "totals")
observe = register("observe", ARGUMENTS, ObserveAttrs, _infer, _legalize)
