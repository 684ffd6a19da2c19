"""Builds that dynamic dimensions make slow give one warning."""

import warnings

import numpy as np
import pytest
from tvm import relax

from tests.support.models.built_modules import build_module
from tvmq.codegen.compile.module_description import warn_of_slow_sizes

op = relax.op
WEIGHT = relax.const(np.ones((3, 2, 3, 3), np.float32))
SHORT = relax.const(np.ones((2, 3, 3, 3), np.float32))
VOLUME = relax.const(np.ones((2, 3, 3, 3, 3), np.float32))
DEPTHWISE = relax.const(np.ones((2, 1, 3, 3), np.float32))
OTHER_VOLUME = relax.const(np.ones((3, 3, 2, 2, 2), np.float32))
SQUARE = relax.const(np.ones((4, 4), np.float32))


def said(mod, batch):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_slow_sizes(mod, batch)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("shape, make, batch, dimension, factor", [
    (("n", 2, "h", "w"), lambda _, x: op.nn.conv2d(x, WEIGHT), "n", None, 0),  # has kernels
    (("n", 2, "h", "w"), lambda _, x: op.nn.conv2d_transpose(x, SHORT), "n", None, 0),
    (("n", 3, "d", 8, "w"), lambda _, x: op.nn.conv3d(x, VOLUME), "n", None, 0),
    (("n", 2, "d", 8, 8), lambda _, x: op.nn.conv3d_transpose(x, VOLUME), "n", "d", 300),
    (("n", 2, 8, 8, 8), lambda _, x: op.nn.conv3d_transpose(x, VOLUME), "n", None, 0),
    (("n", 2, 8, 8, 8), lambda _, x: op.nn.conv3d_transpose(x, VOLUME), None, "n", 300),  # its batch is not proved
    (("n", 2, 8, "w"), lambda _, x: op.nn.conv2d(x, DEPTHWISE, groups=2), "n", None, 0),
    (("n", 4), lambda _, x: op.matmul(x, SQUARE), None, None, 0),  # rows have kernels
    ((1, 2, 8, 8, 8), lambda _, x: op.nn.conv3d_transpose(x, VOLUME), None, None, 0),
])  # fmt: skip
def test_what_is_warned_of(shape, make, batch, dimension, factor):
    told = said(build_module({"x": shape}, make), batch)
    assert len(told) == (dimension is not None)
    if dimension:
        assert told[0].startswith(f"build: the dynamic dimension '{dimension}' makes layer '")
        assert f"about {factor} times as slow" in told[0]
        assert f"sizes={{'{dimension}': number}} of build" in told[0]


def test_one_warning_for_the_slowest_layer():
    def two(builder, x):
        y = builder.emit(op.nn.conv3d_transpose(x, VOLUME))
        return op.nn.conv3d_transpose(y, OTHER_VOLUME)

    (told,) = said(build_module({"x": ("n", 2, 8, 8, "w")}, two), "n")
    assert "about 300 times as slow as a fixed one would, and 1 other slow" in told
