"""A text encoder in integers only: attention with a mask, norms, streams and the mean over the tokens, everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import quantize_everywhere
from tests.support.models.networks import block, snr
from tvmq.graph.view import View, dtype_of, op_name

RANDOM = np.random.default_rng(5)
CONSTANTS = {
    "words": RANDOM.standard_normal((40, 16)).astype(np.float32),
    "places": RANDOM.standard_normal((9, 16)).astype(np.float32),
    **{name: (RANDOM.standard_normal((16, 16)) / 4).astype(np.float32) for name in ("wq", "wk", "wv", "wo", "u", "d")},
    "g": np.linspace(0.5, 1.5, 16).astype(np.float32),
    "b": np.linspace(-0.2, 0.2, 16).astype(np.float32),
}
BODY = """e = R.add(R.take(words, ids, axis=0), places)
n = R.nn.layer_norm(e, g, b, axes=[-1])
f = R.astype(mask, "float32")
m = R.multiply(R.subtract(R.const(1.0, "float32"), R.expand_dims(f, axis=1)), R.const(-10000.0, "float32"))
q = R.matmul(n, wq)
k = R.permute_dims(R.matmul(n, wk), axes=[0, 2, 1])
a = R.add(R.multiply(R.matmul(q, k), R.const(0.25, "float32")), m)
o = R.matmul(R.matmul(R.nn.softmax(a, axis=-1), R.matmul(n, wv)), wo)
h = R.nn.layer_norm(R.add(n, o), g, b, axes=[-1])
i = R.nn.layer_norm(R.add(h, R.matmul(R.nn.gelu(R.matmul(h, u)), d)), g, b, axes=[-1])
p = R.sum(R.multiply(i, R.expand_dims(f, axis=2)), axis=[1])
y = R.divide(p, R.sum(f, axis=[1], keepdims=True))"""
OPTIONS = {
    "requantize": "fixed_point",
    "residual_streams": "int16",
    "integer_layer_norm": True,
    "integer_softmax": True,
}


def model(batch: str, length: str) -> tvmq.tvm.IRModule:
    """The encoder; `batch` and `length` are numbers or names of dynamic sizes."""
    inputs = [f'{name}: R.Tensor(({batch}, {length}), "int64")' for name in ("ids", "mask")]
    constants = [f'{name}: R.Tensor({array.shape}, "float32")' for name, array in CONSTANTS.items()]
    # without places where the length is free
    body = BODY if length == "9" else BODY.replace("R.add(R.take(words, ids, axis=0), places)", "R.take(words, ids, axis=0)")
    return block(", ".join(inputs + constants), body, f'({batch}, 16), "float32"', **CONSTANTS)


def feeds(batch: int = 2, length: int = 9, count: int = 6) -> list[dict[str, np.ndarray]]:
    """Random words, the last ones padding."""
    random = np.random.default_rng(0)
    lengths = random.integers(1, length + 1, (count, batch, 1))
    ids = random.integers(0, 40, (count, batch, length))
    return [{"ids": i, "mask": (np.arange(length) < n).astype(np.int64)} for i, n in zip(ids, lengths, strict=True)]


@pytest.mark.slow
def test_integers_only_and_near_the_float_model() -> None:
    quantized = quantize_everywhere(model("2", "9"), feeds(), *feeds()[:3], **OPTIONS)
    assert [op_name(v) for var, v in View(quantized).bindings if dtype_of(var) == "float32"] == ["tvmq.dequantize"]
    true, found = tvmq.build(model("2", "9")), tvmq.build(quantized)
    assert snr(*(np.concatenate([exe.run(feed)[0] for feed in feeds()]) for exe in (true, found))) > 20


@pytest.mark.slow
def test_the_proof_holds() -> None:
    config = tvmq.qconfig(**OPTIONS, partition_conversions="fully_integral")
    made = tvmq.quantize(model("2", "9"), None, feeds(), config=config, guard=None)
    assert {"quantized_main", "dequantize_outputs"} <= {var.name_hint for var in made.get_global_vars()}


@pytest.mark.slow
def test_dynamic_sizes() -> None:
    made = tvmq.quantize(model('"n"', '"t"'), None, feeds(), config=tvmq.qconfig(**OPTIONS), guard=None)
    exe = tvmq.build(made)
    for batch, length in ((2, 9), (1, 3), (3, 20)):
        feed = feeds(batch, length, 1)[0]
        np.testing.assert_array_equal(exe.run(feed)[0], tvmq.reference.run(made, feed)[0])
    assert [op_name(v) for var, v in View(made).bindings if dtype_of(var) == "float32"] == ["tvmq.dequantize"]
