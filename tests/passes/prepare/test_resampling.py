"""Linear and cubic resize: as onnxruntime to float32, the same bits compiled and in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, drive, feeds_of, run_onnx
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare
from tvmq.passes.realize.define_floats import define_floats
from tvmq.reference import Reference

MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


@pytest.mark.slow_cases(
    "linear-half_pixel-sizes0", "linear-pytorch_half_pixel-sizes2", "cubic-half_pixel-sizes1",
    "cubic-half_pixel-sizes2", "cubic-asymmetric-sizes0", "linear-pytorch_half_pixel-sizes0",
    "linear-align_corners-sizes2", "cubic-pytorch_half_pixel-sizes1", "linear-align_corners-sizes0",
    "linear-asymmetric-sizes2", "cubic-align_corners-sizes1",
)  # fmt: skip
@pytest.mark.thinned(2)
@pytest.mark.parametrize("sizes", [(8, 15), (2, 3), (1, 7)])
@pytest.mark.parametrize("coordinates", MODES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_equals_onnxruntime(mode: str, coordinates: str, sizes: tuple[int, int]) -> None:
    n = Net((2, 3, 4, 5))
    named = {"mode": mode, "coordinate_transformation_mode": coordinates}
    y = n.op("Resize", "x", "", "", n.constant(np.int64([2, 3, *sizes])), **named)
    model = n.model(y)
    module = define_floats(prepare(*tvmq.from_onnx(model)))
    assert [op_name(value) for _, value in View(module).bindings] == ["tvmq.resample"] * 2
    feed = feeds_of(model)[0]
    found = tvmq.build(module).run(feed)[0]
    np.testing.assert_allclose(found, run_onnx(model, feed)[0], atol=2e-6)
    np.testing.assert_array_equal(found, Reference(module).run(feed)[0])


@pytest.mark.parametrize("exclude", [0, 1])
def test_cubic_with_other_options(exclude: int) -> None:
    n = Net((1, 2, 5, 6))
    named = {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": exclude}
    model = n.model(n.op("Resize", "x", "", "", n.constant(np.int64([1, 2, 9, 6])), **named))
    module, feed = define_floats(prepare(*tvmq.from_onnx(model))), feeds_of(model)[0]
    assert [op_name(value) for _, value in View(module).bindings] == ["tvmq.resample"]  # columns stay
    np.testing.assert_allclose(tvmq.build(module).run(feed)[0], run_onnx(model, feed)[0], atol=2e-6)


@pytest.mark.slow
def test_between_integers_it_is_no_island() -> None:
    n = Net((1, 3, 6, 5))
    y = n.op("Relu", n.conv("x", 3, 20))
    y = n.op("Resize", y, "", n.constant(np.float32([1, 1, 2, 2])), mode="linear")
    road = drive(n.model(n.conv(y, 20, 4)), least_snr=28.0)
    assert road.precision()["/resize_2"] == "float" and not road.verification.islands
