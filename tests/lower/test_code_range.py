"""Ranges of codes, from how tensors are made."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.models import Net, feeds_of
from tvmq.graph import ops
from tvmq.graph.view import View, op_name
from tvmq.lower.code_range import code_range


def ranges(nbit: int) -> dict[str, tuple[int, int]]:
    """{operator: range of its codes} of a network of 7-bit activations with a pool, a table, a pad and a concat."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    y = n.op("Concat", n.op("MaxPool", y, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]), y, axis=1)
    y = n.conv(n.op("Sigmoid", y), 16, 4, 1)
    model = n.model(y)
    with tvmq.qconfig(nbit_input=nbit, calibrate_mode="minmax"):
        view = View(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model)))
    return {
        op_name(value): code_range(view, var)
        for var, value in view.bindings
        if getattr(var.ty, "dtype", None) in ("uint8", "int8")
    }


@pytest.mark.thinned(2)
@pytest.mark.parametrize("nbit", [7, 8])
def test_ranges_follow_the_bits_of_activations(nbit: int) -> None:
    found = ranges(nbit)
    most = 2**nbit - 1
    assert {"tvmq.quantize", "tvmq.requantize", "concat", "nn.max_pool2d", "tvmq.table"} <= set(found)
    assert all(0 <= low <= high <= most for low, high in found.values()), found
    assert found["tvmq.quantize"] == (0, most) and found["tvmq.table"][1] > most // 2


def test_a_stack_has_the_range_of_its_parts() -> None:
    x, builder = relax.Var("x", relax.TensorType((2, 3), "float32")), relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            zero = relax.const(np.int32(0))
            codes = builder.emit(ops.quantize(x, relax.const(np.float32(1)), zero, dtype="int8", qmin=-9, qmax=7))
            y = builder.emit_output(relax.op.repeat(builder.emit(relax.op.stack([codes, codes], 0)), 2, 1))
        builder.emit_func_output(y)
    view = View(builder.get())
    assert code_range(view, view.var[view.outputs[0]]) == (-9, 7)
