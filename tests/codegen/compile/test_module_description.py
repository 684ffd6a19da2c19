"""Descriptions of the inputs and outputs of a compiled module."""

from __future__ import annotations

import pytest
import tvm

from tests.passes.nets import NETS
from tests.support.models.networks import block, drive, parse, text_of
from tvmq.codegen.compile.module_description import describe_module
from tvmq.errors import ModelError
from tvmq.graph.view import View
from tvmq.runtime.artifact.model_description import Description


def describe(mod: tvm.IRModule) -> Description:
    return describe_module(mod, View(mod))


@pytest.mark.slow
def test_shapes_types_and_scales() -> None:
    made, outputs = NETS["several_outputs"]()
    road = drive(made.model(*outputs))
    found = describe(road.quantized)
    (given,) = found.inputs
    assert (given["name"], given["shape"], given["dtype"]) == ("x", [2, 3, 9, 8], "float32")
    assert given["scale"] > 0 and 0 <= given["zero_point"] <= 255
    assert [o["name"] for o in found.outputs] == outputs
    assert "scale" not in found.outputs[0], "straight from the sums: there are no codes"
    assert found.outputs[1]["scale"] > 0, "a pool of codes, dequantized"
    assert found.ledger["stage"] == "realized" and found.names


def test_outputs_without_names_are_numbered() -> None:
    found = describe(block('x: R.Tensor((2, 3), "float32")', "y = R.abs(x)"))
    assert found.outputs == [{"name": "output_0", "shape": [2, 3], "dtype": "float32"}]
    assert found.inputs == [{"name": "x", "shape": [2, 3], "dtype": "float32"}]


def test_results_that_are_no_tensors_are_refused() -> None:
    text = text_of(
        'x: R.Tensor((2, 4), "float32")',
        "y = R.split(x, 2, axis=1)",
        result=' -> R.Tuple(R.Tensor((2, 2), "float32"), R.Tensor((2, 2), "float32"))',
    )
    with pytest.raises(ModelError, match="build: a result is .*, no tensor and no tuple of them; return its parts"):
        describe(parse(text))
