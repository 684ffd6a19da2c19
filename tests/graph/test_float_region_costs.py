"""Costs of float regions: their own operators, conversions on both sides, shared and foreign ones."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.support.models.networks import Net, drive
from tvmq.graph.analysis.float_region_costs import operations
from tvmq.options.rules import Rule


def costs(net: Net, *outputs: str, **options: object) -> dict[str, dict[str, int]]:
    """{layer: cost} of the float layers."""
    layers = drive(net.model(*outputs), least_snr=0.0, **options).ledger.layers.values()
    return {entry["layers"][0]: entry["island"] for entry in layers if entry["precision"] == "float"}


@pytest.mark.slow
def test_an_operator_between_integers() -> None:
    """32 * 6 * 6 codes go in and out; triu moves no arithmetic but touches each element once."""
    n = Net((1, 3, 6, 6))
    y = n.conv("x", 3, 8)
    found = costs(n, n.conv(n.op("Trilu", n.op("MaxPool", y, kernel_shape=[1, 1])), 8, 4))
    assert found == {"/trilu_2": {"float_operations": 288, "converted": 2 * 288}}


@pytest.mark.slow
def test_a_convolution_in_float_has_the_work_of_its_bias_and_relu() -> None:
    n = Net((1, 3, 6, 6))
    y = n.conv(n.op("Relu", n.conv(n.conv("x", 3, 8), 8, 4, 1)), 4, 2)
    found = costs(n, y, rules=[Rule("/conv_1", None)])
    pixels = 36
    assert found == {"/conv_1": {"float_operations": pixels * (2 * 4 * 8 + 4 + 4), "converted": pixels * (8 + 4)}}


@pytest.mark.slow
def test_softmax_at_the_end_and_a_shared_conversion() -> None:
    """The model's results are no conversions of an island."""
    n = Net((1, 3, 6, 6))
    y = n.op("MaxPool", n.conv("x", 3, 8), kernel_shape=[1, 1])
    found = costs(n, n.op("Softmax", y, axis=1), n.op("Trilu", y), y)
    assert found["/softmax_2"] == {"float_operations": 5 * 288, "converted": 288}
    assert found["/trilu_3"] == {"float_operations": 288, "converted": 0}


@pytest.mark.slow
def test_explain_shows_them() -> None:
    n = Net((1, 3, 6, 6))
    y = n.op("Softmax", n.conv("x", 3, 8), axis=1)
    mod, params = tvmq.from_onnx(n.model(y))
    quantized = tvmq.quantize(mod, params, [np.zeros((1, 3, 6, 6), np.float32) + 0.5], guard=None)
    assert "float operators cost 1,440 operations and 288 converted elements" in str(tvmq.explain(quantized))
    assert "island     1,440 float operations, 288 elements converted around it" in str(
        tvmq.explain(quantized, "/softmax_1")
    )


@pytest.mark.parametrize("move", [
    lambda x: relax.op.nn.pad(x, (0, 0, 1, 1)),
    lambda x: relax.op.repeat(x, 2, 1),
    lambda x: relax.op.tile(x, (1, 3)),
    lambda x: relax.op.flip(x, 1),
    lambda x: relax.op.gather_elements(x, relax.const(np.zeros((2, 2), np.int64)), 1),
])  # fmt: skip
def test_what_only_moves_values_costs_nothing(move) -> None:
    x = relax.Var("x", relax.TensorType([2, 4], "float32"))
    assert operations(relax.BlockBuilder().normalize(move(x))) == 0
