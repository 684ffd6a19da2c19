"""Float operators without a definition: code for CPUs without fused multiply-add gives what code for this CPU gives.

Functions of the C library (sin, power, ...) are called by both and are the machine's.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import tvmq
from tests.support.models.free_layers import LAYERS
from tests.support.models.networks import block
from tvmq.numerics.deviation import unequal_bits
from tvmq.reference import Reference

TARGETS = ["x86-64", "x86-64-v2"]
RANDOM = np.random.default_rng(0)
ARRAYS = {
    name: RANDOM.standard_normal(shape).astype(np.float32)
    for name, shape in {
        "a": (13, 37), "b": (13, 37), "m": (37, 21), "x": (1, 8, 11, 13), "w": (8, 8, 3, 3), "d": (8, 1, 3, 3),
        "scale": (8,), "grid": (1, 2, 9, 7), "volume": (1, 3, 6, 7, 8), "k": (4, 3, 3, 3, 3), "theta": (1, 2, 3),
    }.items()
}  # fmt: skip
ARRAYS["boxes"] = np.float32([[0, 1.3, 2.2, 9.1, 8.7], [0, 0, 0, 20, 20]])
CALLS = {
    "product": "R.matmul(a, m)",
    "convolution": "R.nn.conv2d(x, w, padding=[1, 1, 1, 1])",
    "depthwise convolution": "R.nn.conv2d(x, d, padding=[1, 1, 1, 1], groups=8)",
    "transposed convolution": "R.nn.conv2d_transpose(x, w, strides=[2, 2], padding=[1, 1, 1, 1])",
    "convolution of volumes": "R.nn.conv3d(volume, k, padding=[1, 1, 1, 1, 1, 1])",
    "resize": 'R.image.resize2d(x, R.shape([22, 17]), method="linear", layout="NCHW")',
    "resize to corners": 'R.image.resize2d(x, R.shape([22, 17]), method="linear", layout="NCHW", '
    'coordinate_transformation_mode="align_corners")',
    "cubic resize": 'R.image.resize2d(x, R.shape([22, 17]), method="cubic", layout="NCHW")',
    "samples of a grid": "R.image.grid_sample(x, grid)",
    "grid": "R.image.affine_grid(theta, size=(7, 9))",
    "regions": "R.vision.roi_align(x, boxes, pooled_size=(3, 3), spatial_scale=0.5, sample_ratio=2)",
    "average pool": "R.nn.avg_pool2d(x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])",
    "batch norm": "R.nn.batch_norm(x, scale, scale, scale, R.abs(scale), axis=1)[0]",
    "instance norm": "R.nn.instance_norm(x, scale, scale, channel_axis=1, axes=[2, 3])",
    "variance": "R.variance(a, axis=[1])",
    "products along an axis": "R.cumprod(a, axis=1)",
    "arc sine": 'R.asin(R.multiply(a, R.const(0.1, "float32")))',
    "area sine": "R.asinh(a)",
    "selu": "R.nn.selu(a)",
    "product of float16": 'R.matmul(R.astype(a, "float16"), R.astype(m, "float16"))',
    "product of float64": 'R.matmul(R.astype(a, "float64"), R.astype(m, "float64"))',
}
FREE = ("resize linear", "resize cubic", "conv 3x3 grouped", "depthwise twice", "attention", "instance norm")


def arrays_of(call: str) -> Mapping[str, np.ndarray]:
    """The arrays that a call names."""
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in call).split())
    return {name: array for name, array in ARRAYS.items() if name in words}


@pytest.mark.thinned(10)
@pytest.mark.parametrize("name", CALLS)
def test_operators_of_fixed_sizes(name: str) -> None:
    feed = arrays_of(CALLS[name])
    module = block(", ".join(f'{n}: R.Tensor({a.shape}, "float32")' for n, a in feed.items()), f"y = {CALLS[name]}")
    (expected,) = tvmq.build(module).run(feed)
    for target in TARGETS:
        (found,) = tvmq.build(module, target).run(feed)
        assert not unequal_bits(found, expected).any(), (target, found.size)


@pytest.mark.slow_cases("*-resize *", "*-attention", "int8-instance norm")
@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("kind", ["float", "int8"])
def test_models_of_free_sizes(kind: str, name: str) -> None:
    """In int8 between them the resizes are islands of float."""
    layer = LAYERS[name]
    mod, params = tvmq.from_onnx(layer.make())
    module = tvmq.build(mod, params=params).module
    if kind == "int8":
        with tvmq.qconfig(activations="dynamic"):
            module = tvmq.quantize(mod, params)
    feeds, reference = layer.feeds(0, 4), Reference(module)
    for target in TARGETS:
        exe = tvmq.build(module, target=target)
        for feed in feeds:
            for found, expected in zip(exe.run(feed), reference.run(feed), strict=True):
                assert not unequal_bits(found, np.asarray(expected)).any(), (target, [x.shape for x in feed.values()])
