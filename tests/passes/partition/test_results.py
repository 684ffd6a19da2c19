"""Sums with a float tensor and concats at the end of a network stay float; other ends do not."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.support.models.networks import Net, drive, feeds_of, run_onnx


def precisions(n: Net, *outputs: str, **options: float) -> dict[str, str]:
    """{layer: precision} after the whole road."""
    road = drive(n.model(*outputs), **options)
    assert not road.verification.islands
    return road.precision()


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_global_skip_is_added_in_float(shuffle: bool) -> None:
    """Also behind a depth-to-space, and with an upsampled input, which then is not quantized twice."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 12))
    skip = "x"
    if shuffle:
        y = n.op("DepthToSpace", n.conv(y, 12, 12), blocksize=2, mode="CRD")
        scales = n.constant(np.float32([1, 1, 2, 2]))
        named = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        skip = n.op("Resize", "x", "", scales, mode="nearest", **named)
    else:
        y = n.conv(y, 12, 3)
    found = precisions(n, n.op("Add", y, skip), least_snr=38.0)
    assert {name for name, precision in found.items() if precision == "int8"} == {"/conv_0", "/relu_1", "/conv_2"}


@pytest.mark.slow
def test_what_others_read_or_integers_add_stays_int8() -> None:
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 3))
    residual = n.op("Add", n.conv(y, 3, 3), y)
    assert set(precisions(n, residual).values()) == {"int8"}
    n = Net((1, 3, 8, 8))
    y = n.op("Add", n.conv("x", 3, 3), "x")
    assert set(precisions(n, y, n.conv(y, 3, 2)).values()) == {"int8"}
    n = Net((1, 3, 8, 8))
    shared = n.conv("x", 3, 3)
    found = precisions(n, n.op("Add", shared, "x"), n.op("MaxPool", shared, kernel_shape=[2, 2]))
    assert found["/add_1"] == "int8"


@pytest.mark.slow
@pytest.mark.parametrize("moved", [False, True])
def test_results_joined_in_float_keep_scales_of_their_own(moved: bool) -> None:
    """Boxes to some hundreds beside scores to 1, as detectors give them: one scale of codes would round scores to 0."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    boxes = n.op("Mul", n.conv(y, 8, 4), n.constant(np.float32(300)))
    scores = n.op("Sigmoid", n.conv(y, 8, 2))
    result = n.op("Concat", boxes, scores, axis=1)
    if moved:
        result = n.op("Flatten", result, axis=2)
    model = n.model(result)
    road, (feed, *_) = drive(model, least_snr=20.0), feeds_of(model)
    found, exact = (np.reshape(run(feed)[0], (6, 64))[4:] for run in (road.executable.run, partial(run_onnx, model)))
    assert np.abs(found - exact).max() < 0.02  # of 1; one scale for all would be 300 / 255
    joined = {name: why for name, why in road.precision().items() if "concat" in name or "flatten" in name}
    assert joined and set(joined.values()) == {"float"}


@pytest.mark.slow
def test_a_concat_that_layers_read_stays_int8() -> None:
    n = Net((1, 3, 8, 8))
    y = n.op("Concat", n.op("Relu", n.conv("x", 3, 4)), n.op("Relu", n.conv("x", 3, 4)), axis=1)
    assert precisions(n, n.conv(y, 8, 2))["/concat_4"] == "int8"
    n = Net((1, 3, 8, 8))
    y = n.op("Concat", n.op("Relu", n.conv("x", 3, 4)), n.op("Relu", n.conv("x", 3, 4)), axis=1)
    assert precisions(n, y, n.conv(y, 8, 2))["/concat_4"] == "int8"
