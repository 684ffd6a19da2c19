"""Depth-to-space inside an integer core is one kernel in NHWC; what only looks like it is not taken for it."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.models import Net, block, drive
from tvmq.graph.view import View
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.depth_to_space import shuffle_at
from tvmq.target.cpu import resolve_target


@pytest.mark.thinned(2)
@pytest.mark.parametrize("shape", [(1, 12, 5, 7), (2, 36, 3, 4)])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_one_kernel(mode: str, shape: tuple[int, ...]) -> None:
    size = 3 if shape[1] == 36 else 2
    n = Net((shape[0], 3, *shape[2:]))
    y = n.op("DepthToSpace", n.op("Relu", n.conv("x", 3, shape[1])), blocksize=size, mode=mode)
    road = drive(n.model(n.conv(y, shape[1] // size**2, 5)), least_snr=28.0)
    lowerer = Lowerer(road.quantized, resolve_target("llvm").isa)
    lowerer.run()
    kernels = list(lowerer.kernel_names.values())
    assert sum(name.startswith("depth_to_space") for name in kernels) == 1
    assert not any(name.startswith("to_nhwc") for name in kernels)
    assert sum(name.startswith("to_nchw") for name in kernels) <= 1, "more than the result is transposed"


def test_order_of_the_pixels() -> None:
    """Blocks of rows and columns of different sizes."""
    body = """c = R.nn.max_pool2d(x)
r = R.reshape(c, R.shape([1, 2, 3, 2, 2, 5]))
p = R.permute_dims(r, axes=[0, 3, 4, 1, 5, 2])
y = R.reshape(p, R.shape([1, 2, 4, 15]))"""
    mod = block('x: R.Tensor((1, 12, 2, 5), "uint8")', body, '(1, 2, 4, 15), "uint8"')
    shuffle = shuffle_at(View(mod), "y")
    assert shuffle is not None and (shuffle.block, shuffle.groups) == ((2, 3), 1)
    x = np.arange(120, dtype=np.uint8).reshape(1, 12, 2, 5)
    expected = x.reshape(1, 2, 3, 2, 2, 5).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 15)
    np.testing.assert_array_equal(tvmq.build(mod).run({"x": x})[0], expected)


@pytest.mark.parametrize(
    "cells, order, result, dtype",
    [
        ("[1, 2, 2, 3, 2, 5]", "[0, 3, 4, 2, 5, 1]", "(1, 3, 4, 10)", "uint8"),  # columns before rows
        ("[1, 2, 2, 3, 5, 2]", "[0, 3, 4, 1, 5, 2]", "(1, 3, 10, 4)", "uint8"),  # cells of another picture
        ("[1, 2, 2, 3, 2, 5]", "[0, 3, 4, 1, 5, 2]", "(1, 12, 2, 5)", "uint8"),  # another result
        ("[1, 2, 2, 3, 2, 5]", "[0, 3, 4, 1, 5, 2]", "(1, 3, 4, 10)", "float32"),  # no codes
    ],
)
def test_what_only_looks_like_it(cells: str, order: str, result: str, dtype: str) -> None:
    body = f"""r = R.reshape(x, R.shape({cells}))
p = R.permute_dims(r, axes={order})
y = R.reshape(p, R.shape([{result[1:-1]}]))"""
    mod = block(f'x: R.Tensor((1, 12, 2, 5), "{dtype}")', body, f'{result}, "{dtype}"')
    assert shuffle_at(View(mod), "y") is None
    x = np.arange(120).astype(dtype).reshape(1, 12, 2, 5)
    axes, shape = (tuple(int(v) for v in text[1:-1].split(",")) for text in (order, result))
    expected = x.reshape([int(v) for v in cells[1:-1].split(",")]).transpose(axes).reshape(shape)
    np.testing.assert_array_equal(tvmq.build(mod).run({"x": x})[0], expected)
