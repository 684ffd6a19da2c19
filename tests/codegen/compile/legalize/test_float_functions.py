"""exp, sigmoid and their kind in compiled code: the same alone and fused, vectors; test_defined_floats.py compares bits."""

import numpy as np
import pytest
from tvm import relax
from tvm.relax import op as R

import tvmq
from tests.support.models.built_modules import build_module
from tvmq.numerics.elementary import ELEMENTARY


def built(body, shape, target="llvm"):
    """Executable of a function of one float tensor."""
    return tvmq.build(build_module({"x": shape}, lambda _, x: body(x)), target)


def of_name(name):
    """The Relax operator."""
    family, _, last = name.rpartition(".")
    return getattr(getattr(R, family) if family else R, last)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEMENTARY)
def test_alone_and_fused_are_equal(name):
    x = np.random.default_rng(0).normal(0, 4, (3, 5, 37)).astype(np.float32)
    scale = relax.const(np.float32(1.7), "float32")

    def fused(value):
        before = R.multiply(value, scale)
        return R.multiply(R.add(of_name(name)(before), before), value)

    if name in ("log", "rsqrt"):
        x = np.abs(x)
    before = x * np.float32(1.7)
    (alone,) = built(of_name(name), x.shape).run({"x": before})
    (together,) = built(fused, x.shape).run({"x": x})
    np.testing.assert_array_equal(together, (alone + before) * x)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("target", ["llvm -mcpu=haswell", "llvm -mcpu=skylake-avx512", "llvm -mcpu=x86-64"])
def test_no_call_for_each_number(target):
    exe = built(lambda x: R.nn.gelu_tanh(R.log(R.sigmoid(R.tanh(R.exp(x))))), (4, 50), target)
    assert not [name for name in (b"expf", b"tanhf", b"logf") if b"\0" + name + b"\0" in exe._parts.native]


def test_other_types_are_left_to_tvm():
    mod = build_module({"x": ((4,), "float64")}, lambda _, x: R.exp(x))
    (y,) = tvmq.build(mod).run({"x": np.float64([0, 1, 2, 3])})
    np.testing.assert_allclose(y, np.exp([0, 1, 2, 3]), rtol=1e-14)


@pytest.mark.slow
def test_of_padded_pictures():
    """A function of constant padding is constant; a function of the picture beside it is not."""
    x = np.random.default_rng(0).normal(size=(1, 3, 5, 7)).astype(np.float32)
    (y,) = built(lambda value: R.nn.gelu(R.nn.pad(value, [0, 0, 0, 0, 2, 2, 2, 0])), x.shape).run({"x": x})
    padded = np.pad(x, [(0, 0), (0, 0), (2, 2), (2, 0)])
    np.testing.assert_array_equal(y, ELEMENTARY["nn.gelu"](padded))
