"""One warning where free dimensions make a build slow."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tvm
from tvm import relax

from tvmq.compile.description import warn_of_slow_sizes

op = relax.op
WEIGHT = relax.const(np.ones((3, 2, 3, 3), np.float32))
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


@pytest.mark.parametrize("shape, make, batch, dimension", [
    (("n", 2, "h", "w"), lambda emit, x: op.nn.conv2d(x, WEIGHT), "n", "h"),
    (("n", 2, 8, 8), lambda emit, x: op.nn.conv2d(x, WEIGHT), "n", None),
    (("n", 2, 8, 8), lambda emit, x: op.nn.conv2d(x, WEIGHT), None, "n"),
    (("n", 4), lambda emit, x: op.matmul(x, SQUARE), None, "n"),  # its batch is not proved
    (("n", "words", 4), lambda emit, x: op.matmul(x, SQUARE), "n", None),  # rows have kernels
    ((1, 2, 8, 8), lambda emit, x: op.nn.conv2d(x, WEIGHT), None, None),
])  # fmt: skip
def test_what_is_warned_of(shape, make, batch, dimension):
    told = said(module(shape, make), batch)
    assert len(told) == (dimension is not None)
    if dimension:
        assert told[0].startswith(f"build: the free dimension '{dimension}' makes this build slow")
        assert f"sizes={{'{dimension}': number}} of build" in told[0]
