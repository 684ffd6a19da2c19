"""Quantize moved before pools, joins and repeated pixels; bounds on floats.

Ranges of codes, from how tensors are made.
"""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net, block, drive, feeds_of
from tvmq.codegen.lower.code_range import code_range, magnitude_bound
from tvmq.codegen.lower.early_codes import codes_early
from tvmq.graph import ops
from tvmq.graph.view import View, op_name, shape_of

SUMS = 's: R.Tensor((1, 4, 6, 6), "int32")'
FLOATS = 'x = R.tvmq.dequantize(s, R.const(0.01, "float32"), R.const(0, "int32"))\n'
CODES = 'y = R.tvmq.quantize({}, R.const(0.5, "float32"), R.const(3, "int32"))'
POOL = "m = R.nn.max_pool2d({}, pool_size=[3, 3], padding=[1, 1, 1, 1])\n"


def operators(body: str, shape: str, signature: str = SUMS) -> list[str]:
    """Operators of a block after the pass, in order."""
    mod = codes_early(block(signature, body, f'{shape}, "uint8"'))
    return [op_name(value).removeprefix("tvmq.") for _, value in View(mod).bindings]


@pytest.mark.parametrize(("body", "shape", "expected"), [
    (FLOATS + POOL.format("x") + CODES.format("m"), "(1, 4, 6, 6)", "dequantize quantize nn.max_pool2d"),
    (
        FLOATS + POOL.format("x") + "j = R.concat((x, m), axis=1)\n" + CODES.format("j"), "(1, 8, 6, 6)",
        "dequantize quantize nn.max_pool2d concat",
    ),
    (  # somebody else wants the floats
        FLOATS + POOL.format("x") + "r = R.nn.relu(m)\nn = R.nn.max_pool2d(m)\nj = R.concat((r, n), axis=1)\n"
        + CODES.format("j"), "(1, 8, 6, 6)",
        "dequantize nn.max_pool2d nn.relu quantize nn.max_pool2d quantize concat",
    ),
    (  # the exponential may be infinite, its difference with itself NaN
        FLOATS + "e = R.exp(x)\nd = R.subtract(e, e)\n" + POOL.format("d") + CODES.format("m"), "(1, 4, 6, 6)",
        "dequantize exp subtract nn.max_pool2d quantize",
    ),
    (  # a window outside of the picture gives the lowest float
        FLOATS + "m = R.nn.max_pool2d(x, pool_size=[1, 1], strides=[2, 2], padding=[1, 1, 1, 1])\n"
        + CODES.format("m"), "(1, 4, 4, 4)", "dequantize nn.max_pool2d quantize",
    ),
])  # fmt: skip
def test_what_goes_ahead(body: str, shape: str, expected: str) -> None:
    assert operators(body, shape) == expected.split()


def test_an_input_may_be_nan() -> None:
    signature = 'x: R.Tensor((1, 4, 6, 6), "float32")'
    assert operators(POOL.format("x") + CODES.format("m"), "(1, 4, 6, 6)", signature) == ["nn.max_pool2d", "quantize"]


def test_bounds() -> None:
    body = FLOATS + "t = R.sigmoid(x)\na = R.add(t, t)\np = R.multiply(a, x)\ne = R.exp(p)\ny = R.add(e, e)"
    view = View(block(SUMS, body, '(1, 4, 6, 6), "float32"'))
    bounds = {name: magnitude_bound(view, view.var[name]) for name in "xtapey"}
    most = float(np.float32(0.01)) * 2.0**32
    assert bounds == pytest.approx({"x": most, "t": 1.0, "a": 2.0, "p": 2 * most, "e": None, "y": None})


@pytest.mark.slow
def test_pools_and_joins_between_products_are_exact() -> None:
    """Operators that are float in the module run on codes, with the bits of the module's definition."""
    n = Net((1, 3, 12, 12))
    y = n.op("LeakyRelu", n.conv("x", 3, 8))
    pools = [n.op("MaxPool", y, kernel_shape=[k, k], strides=[1, 1], pads=[k // 2] * 4) for k in (5, 9)]
    y = n.conv(n.op("Concat", y, *pools, axis=1), 24, 8, 1)
    up = n.op("Resize", y, "", n.constant(np.float32([1, 1, 2, 2])), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    road = drive(n.model(n.conv(up, 8, 4)), rules=(tvmq.Rule(lambda layer: layer.macs == 0, None),))
    assert road.verification.exact
    values = [value for _, value in View(codes_early(road.quantized)).bindings]
    pools_of = [str(value.ty.dtype) for value in values if op_name(value) == "nn.max_pool2d"]
    assert pools_of == ["uint8", "uint8"] or pools_of == ["int8", "int8"]
    assert shape_of(values[-1])


def ranges(nbit: int) -> dict[str, tuple[int, int]]:
    """{operator: range of its codes} of a network of 7-bit activations with a pool, a table, a pad and a concat."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    y = n.op("Concat", n.op("MaxPool", y, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]), y, axis=1)
    y = n.conv(n.op("Sigmoid", y), 16, 4, 1)
    model = n.model(y)
    with tvmq.qconfig(nbit_input=nbit, calibrate_mode="minmax"):
        view = View(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), guard=None))
    return {
        op_name(value): code_range(view, var)
        for var, value in view.bindings
        if getattr(var.ty, "dtype", None) in ("uint8", "int8")
    }


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("nbit", [7, 8])
def test_ranges_follow_the_bits_of_activations(nbit: int) -> None:
    found = ranges(nbit)
    most = 2**nbit - 1
    assert {"tvmq.quantize", "tvmq.requantize", "concat", "nn.max_pool2d", "tvmq.table"} <= set(found)
    assert all(0 <= low <= high <= most for low, high in found.values()), found
    assert found["tvmq.quantize"] == (0, most) and found["tvmq.table"][1] > most // 2


def test_a_stack_has_the_range_of_its_parts() -> None:
    one, zero = relax.const(np.float32(1)), relax.const(np.int32(0))

    def body(builder: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        codes = builder.emit(ops.quantize(x, one, zero, dtype="int8", qmin=-9, qmax=7))
        return relax.op.repeat(builder.emit(relax.op.stack([codes, codes], 0)), 2, 1)

    view = View(build_module({"x": (2, 3)}, body))
    assert code_range(view, view.var[view.outputs[0]]) == (-9, 7)
