"""Scales made at run time for single layers of a calibrated model, by rule."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of, run_onnx
from tvmq import QuantSpec, Rule
from tvmq.backends.description import Backend
from tvmq.errors import ConfigError, IntegralError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.options.config import QConfig

W4 = QuantSpec("int8", 4, symmetric=True, per_channel=True)


def convolutions() -> onnx.ModelProto:
    n = Net((2, 4, 9, 8))
    y = n.op("Relu", n.conv("x", 4, 6))
    y = n.op("Relu", n.conv(y, 6, 6, 3))
    return n.model(n.conv(n.op("Relu", n.conv(y, 6, 8)), 8, 4))


def products() -> onnx.ModelProto:
    n = Net(("n", 6, 8))
    y = n.op("Relu", n.op("MatMul", "x", n.constant(n.weight(8, 16))))
    y = n.op("Relu", n.op("MatMul", y, n.constant(n.weight(16, 8))))
    return n.model(n.op("MatMul", y, n.constant(n.weight(8, 4))))


def batches(count: int = 6) -> list[dict[str, np.ndarray]]:
    random = np.random.default_rng(3)
    return [{"x": random.standard_normal((size, 6, 8)).astype(np.float32)} for size in range(1, count)]


def quantized(model: onnx.ModelProto, data: object, rules: tuple[Rule, ...], **options: object) -> object:
    mod, params = tvmq.from_onnx(model)
    return tvmq.quantize(mod, params, data, config=QConfig(rules=rules), **options, guard=None)


def sqnr(model: onnx.ModelProto, executable: tvmq.Executable, feed: dict[str, np.ndarray]) -> float:
    true, found = run_onnx(model, feed)[0].astype(np.float64), executable.run(feed)[0]
    return float(10 * np.log10(np.square(true).sum() / np.square(true - found).sum()))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("target", ["llvm -mcpu=x86-64", None])
@pytest.mark.parametrize("weights", [None, W4])
@pytest.mark.slow_cases("None-llvm -mcpu=x86-64", "weights1-None")
def test_one_convolution(target: str | None, weights: QuantSpec | None) -> None:
    model, rule = convolutions(), Rule("/conv_2", activations="dynamic", weights=weights)
    feeds = feeds_of(model)
    mod = quantized(model, feeds, (rule,), target=target)
    layers = get_ledger(mod).layers
    dynamic = [entry for entry in layers.values() if entry.get("dynamic")]
    assert [entry["layers"] for entry in dynamic] == [["/conv_2", "/relu_3"]]
    assert dynamic[0]["precision"] == "int8" and dynamic[0]["why"] == "rule '/conv_2': codes made at run time"
    assert dynamic[0].get("weight_bits") == (4 if weights else None) and "island" not in dynamic[0]
    assert [op_name(value) for _, value in View(mod).bindings].count("tvmq.dynamic_scale") == 1
    assert sum(entry["precision"] == "int8" for entry in layers.values()) == 4
    executable = tvmq.build(mod) if target is None else tvmq.build(mod, target=target)
    verification = tvmq.verify(executable, feeds[:2])
    assert verification.exact, str(verification)
    assert sqnr(model, executable, feeds[0]) > (15 if weights else 30)


@pytest.fixture(scope="module")
def dynamic_batch() -> object:
    return quantized(products(), batches(), (Rule("/matmul_2", activations="dynamic"),))


@pytest.mark.slow
def test_a_product_of_a_dynamic_batch(dynamic_batch: object) -> None:
    executable = tvmq.build(dynamic_batch)
    verification = tvmq.verify(executable, batches(4))
    assert verification.exact, str(verification)
    alone = [executable.run({"x": batches(4)[2]["x"][i : i + 1]})[0] for i in range(3)]
    np.testing.assert_array_equal(np.concatenate(alone), executable.run(batches(4)[2])[0])


@pytest.mark.slow
def test_explain_says_which(dynamic_batch: object) -> None:
    assert "rule '/matmul_2': codes made at run time" in str(tvmq.explain(dynamic_batch))


@pytest.mark.slow
def test_scales_follow_what_is_far_outside_of_the_data() -> None:
    """A layer whose input grows a hundredfold clips with calibrated scales."""
    model, feed = products(), {"x": batches()[1]["x"] * np.float32(100)}
    found = {
        rules: sqnr(model, tvmq.build(quantized(model, batches(), rules)), feed)
        for rules in ((), (Rule(op="matmul", activations="dynamic"),))
    }
    static, dynamic = found.values()
    assert static < 3 and dynamic > 30


@pytest.mark.slow
def test_layers_of_a_lstm_get_their_integers() -> None:
    n = Net((5, 2, 4))
    weights = [n.constant(n.weight(1, 12, 4)), n.constant(n.weight(1, 12, 3))]
    y = n.op("LSTM", "x", *weights, hidden_size=3)
    model = n.model(n.op("Squeeze", y, n.constant(np.int64([1]))))
    feeds = feeds_of(model)
    mod = quantized(model, feeds, (Rule("*lstm*", activations="dynamic"),))
    layers = get_ledger(mod).layers.values()
    assert all(entry["precision"] == "int8" for entry in layers if entry["macs"])
    assert tvmq.verify(tvmq.build(mod), feeds[:2]).exact


def test_a_rule_is_read_back() -> None:
    config = QConfig(
        rules=(Rule("*/head/*", activations="dynamic", weights=W4), Rule(op="matmul", activations="dynamic"))
    )
    assert QConfig.from_dict(config.to_dict()) == config
    assert config.to_dict()["rules"][1] == {"match": "op:matmul", "activations": "dynamic"}
    assert repr(config.rules[1]) == "Rule('op:matmul', activations='dynamic')"


def with_relu() -> onnx.ModelProto:
    n = Net((2, 4))
    return n.model(n.op("MatMul", n.op("Relu", "x"), n.constant(n.weight(4, 4))))


@pytest.mark.parametrize("options, words", [
    ({"activations": None}, "activations=None arithmetic stays float"),
    ({"do_simulation": True}, "do_simulation arithmetic stays float"),
    ({"rules": (Rule(op="nn.relu", activations="dynamic"),)},
     r"rules, Rule\('op:nn.relu'.*none of the layers .* is a convolution"),
    ({"target": Backend("toy", floats=False, requantize=("fixed_point",))},
     "backend toy cannot express activations='dynamic': scales at run time are floats"),
    ({"target": Backend("toy", families=frozenset({"dense"}))}, "backend toy does not say that it computes with them"),
    ({"partition_conversions": "fully_integral"}, "matmul_1"),
])  # fmt: skip
def test_refusals(options: dict[str, object], words: str) -> None:
    target, rules = options.get("target"), (Rule(op="matmul", activations="dynamic"),)
    with pytest.raises((ConfigError, IntegralError), match=words):
        config = QConfig(**{"rules": rules, **{name: value for name, value in options.items() if name != "target"}})
        tvmq.quantize(*tvmq.from_onnx(with_relu()), feeds_of(with_relu()), config=config, target=target, guard=None)


def test_other_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="activations must be a QuantSpec or 'dynamic'. Got 'static'"):
        Rule("*", activations="static")
