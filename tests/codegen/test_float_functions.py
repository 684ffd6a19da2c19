"""exp, sigmoid and their kind: near float64, right at the ends, the same alone and fused, vectors in the code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tvm import relax
from tvm.relax import op as R

import tvmq
from tvmq.codegen.float_functions import FUNCTIONS

POINTS = np.concatenate([
    np.linspace(-100, 100, 4001), np.linspace(-10, 10, 8001), np.linspace(-0.01, 0.01, 101),
    [0.0, -0.0, 1e-30, 88.72, 88.73, 200, -86.9, -103.9, -150, 3e38, -3e38, np.inf, -np.inf, np.nan],
]).astype(np.float32)  # fmt: skip
erf = np.vectorize(math.erf, otypes=[np.float64])
EXPECTED = {
    "exp": np.exp,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "erf": erf,
    "nn.silu": lambda x: x / (1 + np.exp(-x)),
    "nn.gelu": lambda x: 0.5 * x * (1 + erf(x * math.sqrt(0.5))),
}
# largest relative and absolute error; gelu of numbers far below zero is a difference of nearly equal numbers
BOUNDS = {"exp": (2e-7, 1e-44), "sigmoid": (4e-7, 1e-38), "nn.silu": (4e-7, 2e-36), "nn.gelu": (1e-6, 1.5e-6)}


def built(body, shape, target="llvm"):
    """Executable of a function of one float tensor."""
    builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType(shape, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(builder.normalize(body(x)))
        builder.emit_func_output(result)
    return tvmq.build(builder.get(), target)


def of_name(name):
    """The Relax operator."""
    family, _, last = name.rpartition(".")
    return getattr(getattr(R, family) if family else R, last)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_near_float64(name):
    (y,) = built(of_name(name), POINTS.shape).run({"x": POINTS})
    with np.errstate(all="ignore"):
        expected = EXPECTED[name](POINTS.astype(np.float64))
        single = expected.astype(np.float32)
    whole = np.isfinite(single)
    np.testing.assert_array_equal(y[~whole], single[~whole])
    relative, absolute = BOUNDS.get(name, (5e-7, 1e-37))
    np.testing.assert_allclose(y[whole], expected[whole], rtol=relative, atol=absolute)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_alone_and_fused_are_equal(name):
    x = np.random.default_rng(0).normal(0, 4, (3, 5, 37)).astype(np.float32)
    scale = relax.const(np.float32(1.7), "float32")

    def fused(value):
        before = R.multiply(value, scale)
        return R.multiply(R.add(of_name(name)(before), before), value)

    before = x * np.float32(1.7)
    (alone,) = built(of_name(name), x.shape).run({"x": before})
    (together,) = built(fused, x.shape).run({"x": x})
    np.testing.assert_array_equal(together, (alone + before) * x)


@pytest.mark.parametrize("target", ["llvm -mcpu=haswell", "llvm -mcpu=skylake-avx512", "llvm -mcpu=x86-64"])
def test_no_call_for_each_number(target):
    exe = built(lambda x: R.sigmoid(R.tanh(x)), (4, 50), target)
    assert not [name for name in (b"expf", b"tanhf") if b"\0" + name + b"\0" in exe._parts.native]


def test_other_types_are_left_to_tvm():
    x = relax.Var("x", relax.TensorType((4,), "float64"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(builder.normalize(R.exp(x)))
        builder.emit_func_output(result)
    (y,) = tvmq.build(builder.get()).run({"x": np.float64([0, 1, 2, 3])})
    np.testing.assert_allclose(y, np.exp([0, 1, 2, 3]), rtol=1e-14)


def test_of_padded_pictures():
    """Where padding is constant, what lies beside it is not."""
    x = np.random.default_rng(0).normal(size=(1, 3, 5, 7)).astype(np.float32)
    (y,) = built(lambda value: R.nn.gelu(R.nn.pad(value, [0, 0, 0, 0, 2, 2, 2, 0])), x.shape).run({"x": x})
    padded = np.pad(x, [(0, 0), (0, 0), (2, 2), (2, 0)])
    np.testing.assert_allclose(y, EXPECTED["nn.gelu"](padded.astype(np.float64)), rtol=1e-6, atol=1.5e-6)
