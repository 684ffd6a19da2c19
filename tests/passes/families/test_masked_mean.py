"""Means over the tokens that a mask keeps: the forms that exporters write, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import quantize_everywhere
from tests.support.models.networks import block, snr
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, dtype_of, op_name

WEIGHT = (np.random.default_rng(0).standard_normal((16, 16)) / 4).astype(np.float32)
SIGNATURE = (
    'x: R.Tensor((2, 9, 16), "float32"), mask: R.Tensor((2, 9), "int64"), w: R.Tensor((16, 16), "float32"), '
    'g: R.Tensor((16,), "float32"), b: R.Tensor((16,), "float32")'
)
CONSTANTS = {"w": WEIGHT, "g": np.ones(16, np.float32), "b": np.zeros(16, np.float32)}
RESULT = '(2, 16), "float32"'
STREAM = "a = R.add(x, R.matmul(x, w))\nn = R.nn.layer_norm(a, g, b, axes=[-1])\n"
NARROW = """f = R.astype(mask, "float32")
p = R.multiply(n, R.expand_dims(f, axis=2))
y = R.divide(R.sum(p, axis=[1]), R.sum(f, axis=[1], keepdims=True))"""
MOVED = """f = R.broadcast_to(R.expand_dims(R.astype(mask, "float32"), axis=2), R.shape([2, 9, 16]))
c = R.maximum(R.sum(f, axis=[1]), R.const(1e-9, "float32"))
y = R.divide(R.sum(R.multiply(n, f), axis=[1]), c)"""


def feeds() -> list[dict[str, np.ndarray]]:
    """Random tokens, the last ones padding."""
    random = np.random.default_rng(0)
    lengths = np.int64([[[9], [4]], [[1], [7]], [[8], [2]], [[5], [6]]])
    return [
        {"x": random.standard_normal((2, 9, 16)).astype(np.float32), "mask": (np.arange(9) < n) + 0} for n in lengths
    ]


def quantized(body: str) -> tvmq.tvm.IRModule:
    """With streams and norms in integers; built for every instruction set, equal to the definition."""
    options = {"integer_layer_norm": True, "residual_streams": "int16", "weight_rounding": "nearest"}
    return quantize_everywhere(block(SIGNATURE, STREAM + body, RESULT, **CONSTANTS), feeds(), feeds()[1], **options)


@pytest.mark.slow
@pytest.mark.parametrize("body", [NARROW, MOVED])
def test_forms_of_exporters_are_one_operator(body: str) -> None:
    made = quantized(body)
    view = View(made)
    assert [op_name(v) for var, v in view.bindings if dtype_of(var) == "float32"] == ["tvmq.dequantize"]
    assert [op_name(v) for _, v in view.bindings].count("tvmq.masked_mean") == 1
    assert all(layer["precision"] == "int8" for layer in get_ledger(made).layers.values())
    exact, found = tvmq.build(block(SIGNATURE, STREAM + body, RESULT, **CONSTANTS)), tvmq.build(made)
    assert snr(*(np.concatenate([exe.run(feed)[0] for feed in feeds()]) for exe in (exact, found))) > 30


@pytest.mark.thinned(2)
@pytest.mark.parametrize("body", [
    NARROW.replace("R.sum(f, axis=[1]", "R.sum(R.multiply(f, R.const(2.0, 'float32')), axis=[1]"),
    NARROW.replace(
        "R.sum(f, axis=[1], keepdims=True)", "R.add(R.sum(f, axis=[1], keepdims=True), R.const(1.0, 'float32'))"
    ),
    NARROW.replace(
        "R.sum(f, axis=[1], keepdims=True)",
        "R.clip(R.sum(f, axis=[1], keepdims=True), 0.5, 3.0)",  # from above as well
    ),
])  # fmt: skip
@pytest.mark.slow
def test_what_is_no_masked_mean(body: str) -> None:
    assert "tvmq.masked_mean" not in [op_name(v) for _, v in View(quantized(body)).bindings]


def test_a_kept_axis_stays_float() -> None:
    """(2, 1, 16), where the operator gives (2, 16)."""
    body = NARROW.replace("R.sum(p, axis=[1])", "R.sum(p, axis=[1], keepdims=True)")
    body = body.replace("R.sum(f, axis=[1]", "R.sum(R.expand_dims(f, axis=2), axis=[1]")
    made = tvmq.quantize(
        block(SIGNATURE, STREAM + body, '(2, 1, 16), "float32"', **CONSTANTS),
        None,
        feeds(),
        config=tvmq.qconfig(residual_streams="int16"),
        guard=None,
    )
    assert tvmq.build(made).run(feeds()[0])[0].shape == (2, 1, 16)
    assert "tvmq.masked_mean" not in [op_name(v) for _, v in View(made).bindings]
