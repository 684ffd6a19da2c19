"""NaN and infinities in float models: kept as ONNX says, or found by `verify`; compiled code equals the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.errors import DataError
from tvmq.reference import Reference
from tvmq.tools.analysis.verification import unequal_bits

X = np.float32([[[[np.nan, -1.0, 2.0], [np.inf, 0.5, -np.inf], [-0.0, 7.0, -3.0]]]])
FEW = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
# operator -> attributes, constants behind x; of each of these a NaN stays where it is
KEEPING: dict[str, tuple[str, dict[str, Any], list[float]]] = {
    "Relu": ("Relu", {}, []),
    "Clip": ("Clip", {}, [-1.0, 1.0]),
    "Clip at 0": ("Clip", {}, [0.0, 6.0]),
    "Max with 0": ("Max", {}, [0.0]),
    "Max of three": ("Max", {}, [-1.0, 0.5]),
    "Min": ("Min", {}, [0.5]),
    "Min of three": ("Min", {}, [1.0, 0.5]),
    "HardSigmoid": ("HardSigmoid", {}, []),
    "HardSwish": ("HardSwish", {}, []),
    "LeakyRelu": ("LeakyRelu", {"alpha": 0.1}, []),
    "PRelu": ("PRelu", {}, [0.2]),
    "Elu": ("Elu", {}, []),
    "Selu": ("Selu", {}, []),
    "Sigmoid": ("Sigmoid", {}, []),
    "Tanh": ("Tanh", {}, []),
    "Softplus": ("Softplus", {}, []),
}
# these may take another number for a NaN
HIDING: dict[str, tuple[str, dict[str, Any], list[float]]] = {
    "ReduceMax": ("ReduceMax", {"axes": [3]}, []),
    "ReduceMin": ("ReduceMin", {"axes": [2, 3]}, []),
    "MaxPool": ("MaxPool", FEW, []),
    "GlobalMaxPool": ("GlobalMaxPool", {}, []),
    "Softmax": ("Softmax", {"axis": -1}, []),
    "ArgMax": ("ArgMax", {"axis": 3}, []),
}
ALL = KEEPING | HIDING


def model(name: str, before: str = "") -> tuple[Any, Any]:
    """x -> an operator before it, if there is one -> the operator."""
    operator, attributes, constants = ALL[name]
    names = [f"c{i}" for i in range(len(constants))]
    nodes = [helper.make_node(before, ["x"], ["a"], name="before")] if before else []
    nodes.append(helper.make_node(operator, ["a" if before else "x", *names], ["y"], name="last", **attributes))
    values = {name: np.float32(value) for name, value in zip(names, constants, strict=True)}
    return tvmq.from_onnx(make_model(nodes, {"x": X.shape}, ["y"], values, 16))


@pytest.mark.parametrize("name", ALL)
def test_compiled_equals_the_definition_and_a_nan_stays(name: str) -> None:
    exe = tvmq.build(*model(name))
    (compiled,), (defined,) = exe.run({"x": X}), Reference(exe.module).run({"x": X})
    assert not unequal_bits(compiled, defined).any()
    if name in KEEPING:
        assert np.isnan(compiled[np.isnan(X)]).all()
    with pytest.raises(DataError, match=r"input 'x' holds 3 NaN or infinite values of 9, first at \[0, 0, 0, 0\]"):
        exe.run({"x": X}, check_finite=True)


@pytest.mark.parametrize("name", ALL)
def test_a_nan_of_the_model_is_found_behind_every_operator(name: str) -> None:
    """Log makes it of a negative number."""
    exe = tvmq.build(*model(name, "Log"))
    x = np.float32([[[[-1, 1, 2], [3, 4, 5], [6, 7, 8]]]])
    result = tvmq.verify(exe, {"x": np.concatenate([np.ones_like(x), x])})
    assert result.exact
    assert result.not_finite == "log 'before' makes NaN (what it reads holds none), first in sample 1"
    assert "\nnot finite: log 'before' makes NaN" in str(result)
    assert result.to_dict()["not_finite"] == result.not_finite
    if name in KEEPING:
        with pytest.raises(DataError, match=r"output 'y' holds 1 NaN or infinite values of 9.*`tvmq.verify` names"):
            exe.run({"x": x}, check_finite=True)


def test_infinities_that_are_made_are_found_and_finite_models_say_nothing() -> None:
    exe = tvmq.build(*model("Relu", "Log"))
    ones = np.ones(X.shape, np.float32)
    assert tvmq.verify(exe, {"x": ones}).not_finite == ""
    assert "not_finite" not in tvmq.verify(exe, {"x": ones}).to_dict()
    result = tvmq.verify(exe, {"x": 0 * ones})
    assert result.not_finite == "log 'before' makes infinities (what it reads holds none), first in sample 0"
