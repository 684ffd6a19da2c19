"""Observers of single layers, by rule."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq import QuantSpec, Rule
from tvmq.errors import CalibrationError, ConfigError
from tvmq.graph.ledger import get_ledger
from tvmq.options.config import QConfig

FOUR_BITS = QuantSpec("int8", 4, symmetric=True, per_channel=True)


class Tenth:
    """An observer of one's own: a tenth of what was seen."""

    needs: ClassVar[tuple[str, ...]] = ("ranges",)

    def thresholds(self, statistics, spec):
        return statistics.ranges.low / 10 - 0.0, statistics.ranges.high / 10


class HalfWeights:
    """A weight observer of one's own: half of each channel's largest magnitude."""

    def thresholds(self, weights, spec, axis=None, name=""):
        axes = tuple(i for i in range(weights.ndim) if i != axis)
        high = np.abs(weights).max(axis=axes).astype(np.float64) / 2
        return -high, high


def fork() -> onnx.ModelProto:
    """A tensor that two products read, and one more behind each."""
    n = Net((4, 8))
    shared = n.op("Relu", n.op("MatMul", "x", n.constant(n.weight(8, 8))))
    left = n.op("Relu", n.op("MatMul", shared, n.constant(n.weight(8, 8))))
    right = n.op("Relu", n.op("MatMul", shared, n.constant(n.weight(8, 8))))
    ends = [n.op("MatMul", side, n.constant(n.weight(8, 3))) for side in (left, right)]
    return n.model(*ends)


@pytest.fixture(scope="module")
def model() -> tuple[tvm.IRModule, dict, list]:
    made = fork()
    return (*tvmq.from_onnx(made), feeds_of(made))


def calibrated(model: tuple, *rules: Rule, **options: object) -> tvmq.CalibrationResult:
    mod, params, data = model
    return tvmq.run_calibration(mod, params, data, config=QConfig(rules=rules, **options))


def observers(result: tvmq.CalibrationResult) -> dict[str, str]:
    return {name: tensor.observer for name, tensor in result.tensors.items()}


@pytest.mark.slow
def test_a_rule_gives_the_observer_of_what_its_layer_reads(model: tuple) -> None:
    found = observers(calibrated(model, Rule("/matmul_2", observer="percentile"), calibrate_mode="minmax"))
    assert sorted(found.values()) == ["minmax", "minmax", "minmax", "percentile"]
    assert found["relu_1"] == "percentile"


@pytest.mark.slow
@pytest.mark.parametrize("order, expected", [((2, 4), "histogram"), ((4, 2), "percentile")])
def test_of_two_readers_the_last_rule_decides(model: tuple, order: tuple[int, int], expected: str) -> None:
    rules = {2: Rule("/matmul_2", observer="percentile"), 4: Rule("/matmul_4", observer="histogram")}
    found = observers(calibrated(model, *(rules[i] for i in order), calibrate_mode="minmax"))
    assert found["relu_1"] == expected


@pytest.mark.slow
def test_thresholds_are_those_of_the_observer_alone(model: tuple) -> None:
    ruled = calibrated(model, Rule("*", observer="percentile"), percentile=99.0, calibrate_mode="minmax")
    alone = calibrated(model, calibrate_mode="percentile", percentile=99.0)
    assert ruled.ranges() == alone.ranges()


@pytest.mark.slow
def test_an_observer_of_ones_own(model: tuple) -> None:
    own = f"{__name__}:Tenth"
    result = calibrated(model, Rule("/matmul_2", observer=own), calibrate_mode="minmax")
    assert result["relu_1"].observer == own
    assert result["relu_1"].high == result["relu_1"].seen[1] / 10


@pytest.mark.slow
def test_an_observer_of_data_beside_a_fixed_range(model: tuple) -> None:
    rule = Rule("/matmul_2", observer="minmax")
    found = observers(calibrated(model, rule, calibrate_mode="global_scale"))
    assert sorted(found.values()) == ["global_scale"] * 3 + ["minmax"]
    mod, params, _ = model
    with pytest.raises(CalibrationError, match="calibrate_mode 'minmax' chooses ranges from data"):
        tvmq.run_calibration(mod, params, config=QConfig(rules=(rule,), calibrate_mode="global_scale"))


def weight_scales(model: tuple, *rules: Rule, **options: object) -> dict[str, list[float]]:
    mod, params, data = model
    quantized = tvmq.quantize(mod, params, data, config=QConfig(rules=rules, **options), guard=None)
    layers = get_ledger(quantized).layers.values()
    return {entry["layers"][0]: entry["weight"]["scale"] for entry in layers if "weight" in entry}


@pytest.mark.slow
def test_a_weight_observer(model: tuple) -> None:
    plain = weight_scales(model, nbit_weight=2)
    error = weight_scales(model, nbit_weight=2, weight_scale="mse")
    own = f"{__name__}:HalfWeights"
    rules = (Rule("/matmul_2", weight_observer="mse"), Rule("/matmul_0", weight_observer=own))
    ruled = weight_scales(model, *rules, nbit_weight=2)
    assert ruled["/matmul_2"] == error["/matmul_2"] != plain["/matmul_2"]
    assert ruled["/matmul_0"] == pytest.approx([scale / 2 for scale in plain["/matmul_0"]])
    assert ruled["/matmul_4"] == plain["/matmul_4"]


@pytest.mark.slow
@pytest.mark.parametrize("activations", ["dynamic", "static"])
def test_weight_observers_where_scales_are_made_at_run_time(model: tuple, activations: str) -> None:
    mod, params, data = model
    dynamic = None if activations == "dynamic" else "dynamic"
    built = []
    for observer in (None, "mse"):
        rule = Rule("/matmul_2", activations=dynamic, weights=FOUR_BITS, weight_observer=observer)
        quantized = tvmq.quantize(mod, params, data, config=QConfig(rules=(rule,), activations=activations), guard=None)
        executable = tvmq.build(quantized)
        assert tvmq.verify(executable, data[:2]).exact
        built.append(executable.run(data[0])[0])
    assert not np.array_equal(*built)


@pytest.mark.slow
def test_transposed_convolutions_by_type() -> None:
    n = Net((2, 4, 6, 6))
    y = n.op("Relu", n.conv("x", 4, 6))
    made = n.model(n.conv(n.op("Relu", n.op("ConvTranspose", y, n.constant(n.weight(6, 4, 2, 2)))), 4, 3))
    rule = Rule(op="nn.conv2d_transpose", observer="percentile", weight_observer="mse")
    mod, params = tvmq.from_onnx(made)
    result = tvmq.run_calibration(mod, params, feeds_of(made), config=QConfig(rules=(rule,)))
    assert [name for name, observer in observers(result).items() if observer == "percentile"] == ["relu_1"]


def test_rules_are_read_back() -> None:
    rule = Rule("a", observer="percentile", weight_observer="my.package:Own")
    assert rule.to_dict() == {"match": "a", "observer": "percentile", "weight_observer": "my.package:Own"}
    assert Rule.from_dict(rule.to_dict()) == rule
    assert repr(rule) == "Rule('a', observer='percentile', weight_observer='my.package:Own')"


@pytest.mark.parametrize("fields, message", [
    ({"observer": "percent"}, "observer must be one of auto, minmax, .*Got 'percent' instead"),
    ({"weight_observer": 3}, "weight_observer must be one of max, power2, mse.*Got 3 instead"),
    ({"spec": None, "observer": "minmax"}, "None means float; leave out"),
    ({"activations": "dynamic", "observer": "minmax"}, "scales made at run time need no observer"),
])  # fmt: skip
def test_impossible_rules_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Rule("a", **fields)


def test_observers_need_calibrated_ranges() -> None:
    with pytest.raises(ConfigError, match=r"Rule\('a', observer='minmax'\) chooses calibrated ranges"):
        QConfig(rules=(Rule("a", observer="minmax"),), activations="dynamic")
    assert QConfig(rules=(Rule("a", observer="minmax"),)).wants_data() == "rules"
