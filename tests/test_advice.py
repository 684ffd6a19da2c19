"""Refusals name the layer at fault, and give advice that can be followed and has not been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.networks import block
from tests.support.models.onnx_models import make_model
from tvmq.errors import RangeError, UnsupportedOpError
from tvmq.graph.view import View
from tvmq.passes.integrality import _FloatReasons

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    """Random weights or data."""
    return (0.3 * RANDOM.standard_normal(shape)).astype(np.float32)


def model(nodes: list[Any], constants: dict[str, np.ndarray]) -> onnx.ModelProto:
    """x of [1, 3, 8, 8] -> y."""
    return make_model(nodes, {"x": [1, 3, 8, 8]}, ["y"], constants, 13)


# operator in the middle -> what it makes of the numbers of a convolution
MAKERS = {"Log": "log 'middle' makes NaN", "Sqrt": "sqrt 'middle' makes NaN"}


@pytest.mark.parametrize("hidden", [False, True], ids=["seen", "behind a relu"])
@pytest.mark.parametrize("operator", MAKERS)
def test_calibration_names_the_layer_that_makes_nan_of_finite_data(operator: str, hidden: bool) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="first"),
        helper.make_node(operator, ["a"], ["b"], name="middle"),
        *([helper.make_node("Relu", ["b"], ["r"], name="relu")] if hidden else []),
        helper.make_node("Conv", ["r" if hidden else "b", "v"], ["y"], name="last"),
    ]
    mod, params = tvmq.from_onnx(model(nodes, {"w": floats(4, 3, 3, 3), "v": floats(4, 4, 3, 3)}))
    words = r"first in sample 0; the data are finite, so the model makes them: bound what this layer reads"
    with pytest.raises(RangeError, match=rf"^calibrate: {MAKERS[operator]} \(what it reads holds none\), {words}"):
        tvmq.quantize(mod, params, {"x": floats(4, 3, 8, 8)})


@pytest.mark.parametrize("of_weight", [False, True], ids=["activation", "weight"])
def test_a_subnormal_scale_is_refused_with_its_layer(of_weight: bool) -> None:
    numbers = {"w": np.int8([[[[1, 2]]] * 3]), "s": np.float32(1e-39), "z": np.int8(3 * (not of_weight))}
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["b"], name="tiny")]
    nodes += [helper.make_node("Conv", ["x", "b"], ["y"], name="last")]
    if not of_weight:
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="tiny"),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["b"], name="back"),
            helper.make_node("Relu", ["b"], ["y"], name="last"),
        ]
        del numbers["w"]
    with pytest.raises(RangeError, match="^import_qdq, layer 'tiny': QParams: scale must be .* Got 1e-39 instead"):
        tvmq.quantize(*tvmq.from_onnx(model(nodes, numbers)))


@pytest.mark.parametrize("form", ["to_onnx", "to_torch"])
def test_a_layer_that_is_float_is_not_asked_to_be(form: str, tmp_path: Path) -> None:
    mod = block('x: R.Tensor((2, 3), "float32")', "y = R.cumprod(x, axis=1)")
    q = tvmq.quantize(mod, {}, {"x": floats(2, 3)})
    if form == "to_torch":
        pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    with pytest.raises(UnsupportedOpError, match=f"^{form}, .*cumprod has no .*it is float already: replace it in the"):
        tvmq.to_onnx(q, tmp_path / "m.onnx") if form == "to_onnx" else tvmq.to_torch(q, form="exact")


def test_an_operator_without_an_entry_is_said_to_wait_for_its_option() -> None:
    """A layer that the ledger does not cover has its option's reason and remedy, or a sentence that none decided."""
    view = View(block('x: R.Tensor((2, 3), "float32")', "y = R.nn.softmax(x, axis=1)"))
    row = _FloatReasons(view, {}, {}).float_operator("y", "main")
    assert (row.why, row.remedy) == ("option integer_softmax is not set to True", "use qconfig(integer_softmax=True)")
    row = _FloatReasons(view, {}, {"integer_softmax": True}).float_operator("y", "main")
    assert row.why == "no layer that was decided about"
