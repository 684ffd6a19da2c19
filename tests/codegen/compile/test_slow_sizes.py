"""Builds that dynamic dimensions make slow give one warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tvm
from tvm import relax

from tvmq.codegen.compile.module_description import warn_of_slow_sizes

op = relax.op
WEIGHT = relax.const(np.ones((3, 2, 3, 3), np.float32))
SHORT = relax.const(np.ones((2, 3, 3, 3), np.float32))
DEPTHWISE = relax.const(np.ones((2, 1, 3, 3), np.float32))
SQUARE = relax.const(np.ones((4, 4), np.float32))


def module(shape, make):
    sizes = {name: tvm.tirx.Var(name, "int64") for name in shape if isinstance(name, str)}
    x = relax.Var("x", relax.TensorType([sizes.get(size, size) for size in shape], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(make(builder.emit, x))
        builder.emit_func_output(result)
    return builder.get()


def said(mod, batch):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_slow_sizes(mod, batch)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("shape, make, batch, dimension, factor", [
    (("n", 2, "h", "w"), lambda emit, x: op.nn.conv2d(x, WEIGHT), "n", None, 0),  # has kernels
    (("n", 2, "h", "w"), lambda emit, x: op.nn.conv2d_transpose(x, SHORT), "n", "h", 300),
    (("n", 2, 8, 8), lambda emit, x: op.nn.conv2d_transpose(x, SHORT), "n", None, 0),
    (("n", 2, 8, 8), lambda emit, x: op.nn.conv2d_transpose(x, SHORT), None, "n", 300),  # its batch is not proved
    (("n", 2, 8, "w"), lambda emit, x: op.nn.conv2d(x, DEPTHWISE, groups=2), "n", "w", 6),
    (("n", 4), lambda emit, x: op.matmul(x, SQUARE), None, None, 0),  # rows have kernels
    ((1, 2, 8, 8), lambda emit, x: op.nn.conv2d_transpose(x, SHORT), None, None, 0),
])  # fmt: skip
def test_what_is_warned_of(shape, make, batch, dimension, factor):
    told = said(module(shape, make), batch)
    assert len(told) == (dimension is not None)
    if dimension:
        assert told[0].startswith(f"build: the dynamic dimension '{dimension}' makes layer '")
        assert f"about {factor} times as slow" in told[0]
        assert f"sizes={{'{dimension}': number}} of build" in told[0]


def test_one_warning_for_the_slowest_layer():
    def two(emit, x):
        return op.nn.conv2d_transpose(emit(op.nn.conv2d(x, DEPTHWISE, groups=2)), SHORT)

    (told,) = said(module(("n", 2, 8, "w"), two), "n")
    assert "about 300 times as slow as a fixed one would, and 1 other slow" in told
