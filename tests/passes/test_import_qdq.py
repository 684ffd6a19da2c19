"""import_qdq: scales of the model, as text before and after; rules; what is read with and without rounding."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

import tvmq
from tests.support.models.quantized_models import Maker, random_feed, results
from tvmq.errors import ConfigError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.options.config import QConfig
from tvmq.options.rules import Rule
from tvmq.passes.families.weights import qparams_of
from tvmq.passes.import_qdq import import_qdq, is_prequantized
from tvmq.passes.import_qdq.pairs import moved_qparams
from tvmq.passes.prepare import prepare


def chain() -> Maker:
    """x -> conv -> relu -> conv, every tensor rounded by the model."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 3)
    first = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), 0.01)], "first")
    relu = maker.rounded(maker.node("Relu", [first], "relu"), 0.1, 0)
    maker.node("Conv", [relu, maker.weight((2, 6, 1, 1), np.float32([0.01, 0.02]))], "second")
    return maker


def imported(maker: Maker, *outputs: str) -> tuple:
    return tvmq.from_onnx(maker.model(*outputs, types=["float32"] * len(outputs)))


def test_scales_are_those_of_the_model() -> None:
    """Pairs become a simulated_quantize each, with the numbers of the file; weights have their own."""
    adopted = import_qdq(prepare(*imported(chain(), "second")), QConfig())
    found = {
        str(value.attrs.tensor): qparams_of(value)
        for _, value in View(adopted).bindings
        if op_name(value) == "tvmq.simulated_quantize"
    }
    assert found == {
        "x": QParams(0.04, 3, QuantSpec()),
        "relu": QParams(0.1, 0, QuantSpec()),
        "first_weight": QParams(0.01, 0, QuantSpec("int8")),
        "second_weight": QParams([0.01, 0.02], [0, 0], QuantSpec("int8", per_channel=True), 0),
    }
    ledger = get_ledger(adopted)
    assert ledger.stage == "calibrated" and ledger.notes == [
        "scales and zero points are those of the model; nothing was calibrated"
    ]


def test_the_module_adopted_is_left_alone() -> None:
    """Passes give a new module."""
    prepared = prepare(*imported(chain(), "second"))
    text = prepared.script()
    import_qdq(prepared, QConfig())
    assert prepared.script() == text and is_prequantized(prepared)


def test_a_float_model_brings_no_scales() -> None:
    """Neither does one whose conversions were joined already."""
    prepared = prepare(*imported(chain(), "second"))
    assert not is_prequantized(import_qdq(prepared, QConfig()))


def test_simulation() -> None:
    """do_simulation stops before integers."""
    with tvmq.qconfig(do_simulation=True):
        module = tvmq.quantize(*imported(chain(), "second"))
    assert get_ledger(module).stage == "calibrated"


@pytest.mark.slow
def test_rules_keep_layers_in_float() -> None:
    """The rounding around the layer stays: that is the model's."""
    maker = chain()
    model = maker.model("second", types=["float32"])
    with tvmq.qconfig(rules=[Rule("second", None)]):
        module, _ = results(model, random_feed(model))
    layers = {layer["layers"][0]: layer for layer in get_ledger(module).layers.values()}
    assert layers["first"]["precision"] == "int8" and layers["second"]["precision"] == "float"
    with tvmq.qconfig(rules=[Rule("third", None)]), pytest.raises(ConfigError, match="third"):
        results(model, random_feed(model))


@pytest.mark.slow
def test_a_result_read_with_and_without_rounding_is_computed_in_float() -> None:
    """The float reader must get what the model says, not what codes leave of it."""
    maker = chain()
    rounded = maker.rounded("second", 0.2, 100)
    model = maker.model("second", rounded, types=["float32", "float32"])
    module, _ = results(model, random_feed(model))
    layers = {layer["layers"][0]: layer for layer in get_ledger(module).layers.values()}
    assert layers["second"]["why"] == "the model: its result is read with and without rounding"
    assert layers["first"]["precision"] == "int8"


@pytest.mark.slow
def test_an_input_of_two_scales() -> None:
    """Each reader gets codes that come from the floats, not from the other's codes."""
    maker = Maker()
    x = maker.input("x", (1, 4, 9, 7))
    a = maker.node("Conv", [maker.rounded(x, 0.04, 3), maker.weight((6, 4, 3, 3), 0.01)], "a")
    b = maker.node("Conv", [maker.rounded(x, 0.007, 30), maker.weight((6, 4, 3, 3), 0.01)], "b")
    model = maker.model(a, b, types=["float32", "float32"])
    module, _ = results(model, random_feed(model))
    quantized = [value for _, value in View(module).bindings if op_name(value) == "tvmq.quantize"]
    assert [value.args[0].name for value in quantized] == ["x", "x"]


@pytest.mark.slow
def test_a_pair_of_a_pair_changes_the_scale_once() -> None:
    """Rounding codes to another scale is a table."""
    maker = Maker()
    x = maker.rounded(maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 3), 0.07, 9)
    y = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), 0.01)], "a")
    model = maker.model(y, types=["float32"])
    module, _ = results(model, random_feed(model))
    assert sum(op_name(value) == "tvmq.table" for _, value in View(module).bindings) == 1


def test_scales_follow_a_transposed_weight() -> None:
    """Their axis moves with the channels; a reshape that mixes channels loses them."""
    known = QParams([1.0, 2.0], [0, 0], QuantSpec("int8", per_channel=True), 0)
    weight = relax.const(np.zeros((2, 3, 4), np.float32))
    builder = relax.BlockBuilder()

    def moved(call: relax.Call) -> int | None:
        found = moved_qparams(known, builder.normalize(call))
        return None if found is None else found.axis

    assert moved(relax.op.permute_dims(weight, [2, 0, 1])) == 1
    assert moved(relax.op.permute_dims(weight)) == 2
    assert moved(relax.op.reshape(weight, (2, 12))) == 0
    assert moved(relax.op.reshape(weight, (1, 2, 12))) == 1
    assert moved(relax.op.reshape(weight, (3, 8))) is None
