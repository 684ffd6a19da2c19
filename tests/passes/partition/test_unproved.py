"""Layers whose sums cannot be proved to fit int32."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq import QuantSpec, Rule
from tvmq.backends.description import Backend
from tvmq.errors import AccumulatorError
from tvmq.graph.ledger import get_ledger

DEPTH = 70000


def network(weight: np.ndarray, bias: float = 0.0) -> onnx.ModelProto:
    """A small product, widened, and a product of 70000 terms."""
    n = Net((1, 7))
    y = n.op("Relu", n.op("MatMul", "x", n.constant(n.weight(7, 8))))
    y = n.op("Tile", y, n.constant(np.int64([1, len(weight) // 8])))
    return n.model(n.op("Relu", n.op("Add", n.op("MatMul", y, n.constant(weight)), n.constant(np.float32([bias])))))


def wide(value: float = 1.0) -> np.ndarray:
    return np.full((DEPTH, 1), value, np.float32)


def data() -> list[dict[str, np.ndarray]]:
    random = np.random.default_rng(6)
    return [{"x": random.standard_normal((1, 7)).astype(np.float32)} for _ in range(4)]


def quantized(model: onnx.ModelProto, **options: object) -> object:
    mod, params = tvmq.from_onnx(model)
    target = options.pop("target", None)
    return tvmq.quantize(mod, params, data(), config=tvmq.qconfig(**{"weight_scale": "max", **options}), target=target, guard=None)


def entry_of(mod: object, name: str) -> dict:
    return next(entry for entry in get_ledger(mod).layers.values() if name in entry["layers"])


@pytest.mark.slow
def test_what_weights_decide_is_float_before_the_calibration() -> None:
    mod = quantized(network(wide()))
    product = entry_of(mod, "/matmul_3")
    assert product["precision"] == "float"
    assert product["why"].startswith(
        "limit: filter 0 of 1 adds 70000 products of codes 0..255 and can reach 2266950000"
    )
    assert entry_of(mod, "/matmul_0")["precision"] == "int8"
    executable = tvmq.build(mod)
    assert tvmq.verify(executable, data()[:2]).exact
    true = np.maximum(np.maximum(data()[0]["x"] @ Net((1, 7)).weight(7, 8), 0).sum() * (DEPTH // 8), 0)
    assert executable.run(data()[0])[0].item() == pytest.approx(true, rel=0.02)


@pytest.mark.slow  # weight rounding of 70000 inputs
def test_fewer_bits_make_it_integers() -> None:
    rule = Rule("/matmul_3", weights=QuantSpec("int8", 7, symmetric=True))
    assert entry_of(quantized(network(wide()), rules=(rule,)), "/matmul_3")["precision"] == "int8"


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"target": Backend("toy", accumulator_bits=24)},
    {"partition_conversions": "fully_integral"},
])  # fmt: skip
def test_where_floats_are_no_way_out_it_stays_an_error(options: dict[str, object]) -> None:
    with pytest.raises(AccumulatorError, match="'/matmul_3.*(70000 products|bits and end at)"):
        quantized(network(wide()), **options)


@pytest.mark.slow
def test_a_layer_of_scales_made_at_run_time() -> None:
    weight = np.full((DEPTH * 2, 1), 1.0, np.float32)
    mod = quantized(network(weight), rules=(Rule("/matmul_3", activations="dynamic"),))
    product = entry_of(mod, "/matmul_3")
    assert product["precision"] == "float" and product["why"].startswith("limit: sums can reach 2258060000")
