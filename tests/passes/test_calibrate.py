"""calibrate: scales from thresholds, shared scales, weights raised for their bias."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.passes.stages import annotated, calibrated
from tests.support.models.networks import block
from tvmq.errors import CalibrationError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics.spec import QuantSpec, choose_qparams
from tvmq.passes.calibrate import calibrate

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
B = 'b: R.Tensor((1, 2, 1, 1), "float32")'
WEIGHT = np.float32([1, -0.5]).reshape(2, 1, 1, 1) * np.ones((2, 2, 3, 3), np.float32)
CONV = "c = R.nn.conv2d(x, w, padding=1)"


def scales(mod: tvm.IRModule) -> dict[str, tuple[list[float], list[int]]]:
    """{what is rounded: (scales, zero points)}; constants under the name of their scale."""
    found = {}
    for _, value in View(mod).bindings:
        if op_name(value) == "tvmq.simulated_quantize":
            scale, zero = (const_value(arg) for arg in value.args[1:])
            found[getattr(value.args[0], "name", str(value.attrs.tensor))] = (scale.tolist(), zero.tolist())
    return found


def expected(low: float, high: float, spec: QuantSpec | None = None) -> tuple[float, int]:
    params = choose_qparams(low, high, spec or QuantSpec())
    return float(params.scale), int(params.zero_point)


@pytest.mark.parametrize("per_channel, expected_zero", [(True, [1.0, 1 / 127]), (False, 1 / 127)])
def test_a_channel_of_zeros_has_scale_one(per_channel: bool, expected_zero: list[float]) -> None:
    weight = WEIGHT.copy()
    weight[0], weight[1] = 0, 1
    found = scales(calibrated(block(f"{X}, {W}", CONV, w=weight), per_channel=per_channel))
    np.testing.assert_array_equal(np.float32(found["c_weight"][0]), np.float32(expected_zero))


def with_bias(weight: np.ndarray, bias: list[float], **options: object) -> tuple[np.ndarray, int | None]:
    """Weight scales behind a bias, and how many the ledger says were raised; x has scale 1/64 or so."""
    mod = block(f"{X}, {W}, {B}", f"{CONV}\na = R.add(c, b)", w=weight, b=np.float32(bias).reshape(1, 2, 1, 1))
    found = calibrated(mod, {"x": (-1.0, 3.0)}, **options)
    return np.asarray(scales(found)["c_weight"][0]), get_ledger(found).layers["a"].get("raised_weight_scales")


def test_tiny_weights_are_raised_until_their_bias_fits() -> None:
    weight = WEIGHT.copy()
    weight[1] *= 1e-9
    found, raised = with_bias(weight, [1.0, 3.0])
    x_scale = expected(-1, 3)[0]
    assert raised == 1 and found[0] == np.float32(1 / 127)
    assert 3.0 / (x_scale * found[1]) == pytest.approx(2**30, rel=1e-6)


def test_one_scale_is_raised_for_all() -> None:
    found, raised = with_bias(WEIGHT * 1e-9, [1.0, 3.0], per_channel=False)
    assert raised == 1 and 3.0 / (expected(-1, 3)[0] * found) == pytest.approx(2**30, rel=1e-6)


def test_a_bias_that_fits_raises_nothing() -> None:
    assert with_bias(WEIGHT, [1.0, 3.0])[1] is None


def test_a_channel_of_zeros_keeps_a_fine_bias() -> None:
    """Its scale is free: with scale 1 the bias would be rounded to whole steps of the input."""
    weight = WEIGHT.copy()
    weight[1] = 0
    found, raised = with_bias(weight, [1.0, -3.0])
    assert raised is None
    assert 3.0 / (expected(-1, 3)[0] * found[1]) == pytest.approx(2**24, rel=1e-6)


AB = "a = R.nn.conv2d(x, w, padding=1)\nb = R.nn.conv2d(x, w, padding=1)\n"
JOINED = f"{AB}y = R.concat((a, b), axis=1)\n"
SHARED = f"{JOINED}d = R.nn.conv2d(a, w, padding=1)\nz = R.concat((y, d), axis=1)\n"
BOTH = f"{JOINED}d = R.nn.conv2d(a, w, padding=1)\ne = R.nn.conv2d(b, w, padding=1)\nz = R.concat((y, d, e), axis=1)\n"
# As in a densely connected network: the inner concat feeds a convolution and the outer concat.
DENSE = f"{AB}y = R.concat((a, b), axis=0)\nd = R.nn.conv2d(y, w, padding=1)\nz = R.concat((y, d), axis=1)\n"


@pytest.mark.parametrize("body, highs, common", [
    # a shared part joins where that costs up to 0.5 dB, a range 1.059 times as wide, and else keeps its scale
    (SHARED, {"a": 1, "b": 1.05, "d": 1}, {"a": 1.05, "b": 1.05, "d": 1.05}),
    (SHARED, {"a": 1, "b": 1.07, "d": 0.5}, {"a": 1, "b": 1.07, "d": 1.07}),
    # a wide shared part widens the others: the concat holds its values, too
    (SHARED, {"a": 9, "b": 1, "d": 0.5}, {"a": 9, "b": 9, "d": 9}),
    # two shared parts of little difference take the union, in whatever order they come
    (BOTH, {"a": 1, "b": 1.04, "d": 0.1, "e": 0.2}, {"a": 1.04, "b": 1.04, "d": 1.04}),
    (BOTH, {"a": 1.04, "b": 1, "d": 0.1, "e": 0.2}, {"a": 1.04, "b": 1.04, "d": 1.04}),
    (DENSE, {"a": 1, "b": 0.9, "d": 1.05}, {"a": 1.05, "b": 1.05, "d": 1.05}),
    (DENSE, {"a": 1, "b": 0.9, "d": 2}, {"a": 1, "b": 1, "d": 2}),
])  # fmt: skip
def test_scales_of_concats(body: str, highs: dict[str, float], common: dict[str, float]) -> None:
    """In front of a pool: a concat at the end would stay float."""
    shape = {SHARED: (1, 6, 4, 4), BOTH: (1, 8, 4, 4), DENSE: (2, 4, 4, 4)}[body]
    mod = block(f"{X}, {W}", body + "end = R.nn.max_pool2d(z)", f'{shape}, "float32"', w=WEIGHT)
    found = scales(calibrated(mod, {name: (0.0, high) for name, high in highs.items()}))
    assert {name: found[name] for name in common} == {name: expected(0, high) for name, high in common.items()}


def test_missing_thresholds_are_named() -> None:
    mod = annotated(block(f"{X}, {W}", CONV + "\nd = R.nn.conv2d(c, w, padding=1)", w=WEIGHT))
    message = "calibrate: 1 of 2 thresholds are missing, first 'c'; calibrate this model anew"
    with pytest.raises(CalibrationError, match=message):
        calibrate(mod, {"x": (0.0, 1.0)})
