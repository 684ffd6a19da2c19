"""Channels are made alike by powers of two: in norms and behind gates, without changing a float; errors fall."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama
from tvmq.calibration.dataset import Dataset
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.errors import CalibrationError
from tvmq.graph.symbolic import inputs_of
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.options.config import QConfig
from tvmq.passes.calibrate.token_factors import choose_factors, expected_error, find_token_factors
from tvmq.passes.prepare import prepare
from tvmq.passes.quantize_dynamic import products_in_groups
from tvmq.passes.scale_outliers import scale_outliers

SHAPE = LlamaShape(layers=1, width=16, heads=2, key_heads=1, hidden=24, words=19)


def outlying_model():
    """A decoder with a channel of a norm and one behind a gate that are 40 times the others, and its data."""
    weights = formula_weights(SHAPE)
    weights["model.layers.0.input_layernorm.weight"][3:6] *= np.float32([40, 25, 32])
    weights["model.layers.0.mlp.up_proj.weight"][5:8] *= np.float32([[40], [25], [32]])
    random = np.random.default_rng(0)
    past = {f"past_key_values.0.{kind}": np.zeros((1, 1, 0, 8), np.float32) for kind in ("key", "value")}
    data = [{"input_ids": random.integers(0, SHAPE.words, (1, 12)), **past} for _ in range(3)]
    return (*tvmq.from_onnx(write_llama(SHAPE, weights), state=None), data)


def test_factors_by_expected_error() -> None:
    random = np.random.default_rng(0)
    rows, weight = np.abs(random.standard_normal((30, 16))), random.standard_normal((16, 8))
    assert choose_factors(rows, weight) is None
    rows[:, 3:6] *= 50
    factors = choose_factors(rows, weight)
    assert factors is not None and factors[4] >= 4 and set(np.log2(factors) % 1) == {0.0}
    assert expected_error(rows, weight, factors) < 0.5 * expected_error(rows, weight, np.ones(16))
    rows[:, 7] = 0
    weight[2] = 0
    assert np.isfinite(choose_factors(rows, weight)).all()


@pytest.mark.slow
def test_norms_and_gates_without_changing_a_float() -> None:
    mod, params, data = outlying_model()
    prepared = prepare(mod, params)
    batches = Dataset(data, inputs_of(prepared))
    factors = find_token_factors(prepared, lambda: iter(batches), evaluator)
    operators = {op_name(View(prepared).value[name]) for name in factors}
    assert operators == {"tvmq.rms_norm", "multiply"}
    scaled = scale_outliers(prepared, factors)
    before, after = (tvmq.reference.run(one, data[0])[0] for one in (prepared, scaled))
    np.testing.assert_allclose(after, before, rtol=2e-6, atol=1e-6)
    largest = [np.abs(const_value(v.args[1])).max() for _, v in View(scaled).bindings if op_name(v) == "tvmq.rms_norm"]
    assert max(largest) < 30


def test_what_is_read_in_groups_stays() -> None:
    """Products in groups of 4 bits have a scale for each group of channels; a rule for 8 bits takes one out of them."""
    mod, params, data = outlying_model()
    prepared = prepare(mod, params)
    batches = Dataset(data, inputs_of(prepared))
    options = {"activations": "dynamic", "nbit_weight": 4, "group_size": 8}
    in_groups = products_in_groups(prepared, QConfig(**options))
    products = {v.name for v, c in View(prepared).bindings if op_name(c) == "matmul" and is_const(c.args[1])}
    assert in_groups == products and products_in_groups(prepared, QConfig(activations="dynamic")) == set()
    assert find_token_factors(prepared, lambda: iter(batches), evaluator, in_groups) == {}
    eight = tvmq.QuantSpec("int8", symmetric=True, per_channel=True)
    fewer = products_in_groups(prepared, QConfig(**options, rules=[tvmq.Rule("*down_proj", weights=eight)]))
    assert len(fewer) == len(products) - 1
    (factors,) = find_token_factors(prepared, lambda: iter(batches), evaluator, fewer)
    assert op_name(View(prepared).value[factors]) == "multiply"


def test_quantize_uses_the_data() -> None:
    mod, params, data = outlying_model()
    errors = []
    for outlier_channels in (False, True):
        with tvmq.qconfig(activations="dynamic", weight_rounding="nearest", outlier_channels=outlier_channels):
            qmod = tvmq.quantize(mod, params, data)
        defined = tvmq.reference.run(qmod, data[0])[0]
        errors.append(np.square(defined - tvmq.reference.run(prepare(mod, params), data[0])[0]).mean())
    assert errors[1] < errors[0]


def test_factors_of_another_model() -> None:
    mod, params, _ = outlying_model()
    name = next(v.name for v, value in View(prepare(mod, params)).bindings if op_name(value) == "tvmq.rms_norm")
    with pytest.raises(CalibrationError, match="the calibration scales channel 16 of"):
        scale_outliers(prepare(mod, params), {name: {"factors": {"16": 2.0}}})
