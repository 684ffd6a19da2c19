"""Matrix products: constants on the right, factors behind them, and their integer form."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.nets import NETS
from tests.passes.stages import realized
from tests.support.models.networks import block, drive
from tvmq.errors import AccumulatorError
from tvmq.graph.view import View, const_value, op_name

TWO = 'x: R.Tensor((2, 3, 4), "float32"), y: R.Tensor((2, 4, 5), "float32")'


def operators(view: View) -> list[str]:
    return [op_name(value) for _, value in view.bindings]


def test_factors_go_into_the_scale() -> None:
    """Codes of -1..2 have scale 3 / 255; the accumulators' scale times the factor comes straight out as floats."""
    mod = block(TWO, 'm = R.matmul(x, y)\ns = R.multiply(m, R.const(0.125, "float32"))', '(2, 3, 5), "float32"')
    view = View(realized(mod))
    assert operators(view) == ["tvmq.quantize", "tvmq.quantize", "tvmq.matmul", "tvmq.dequantize"]
    product, result = view.bindings[2][1], view.bindings[3][1]
    assert (product.attrs.a_zero, product.attrs.b_zero) == (85, 85)
    scale = np.float32(3 / 255)
    assert const_value(result.args[1]) == np.float32(np.float64(scale) * scale * 0.125)


def test_the_proof_of_deep_products() -> None:
    depth = 80000
    signature = f'x: R.Tensor((1, 2, {depth}), "float32"), y: R.Tensor((1, {depth}, 2), "float32")'
    with pytest.raises(AccumulatorError, match=r"realize, layer 'm': 80000 products of up to 170 \* 170 can reach"):
        realized(block(signature, "m = R.matmul(x, y)", '(1, 2, 2), "float32"'))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["transformer_with_norm_first", "transformer_with_mask"])
def test_a_transformer_is_integers_between_its_float_islands(name: str) -> None:
    made, outputs = NETS[name]()
    road = drive(made.model(*outputs), least_snr=25)
    products = [entry for entry in road.ledger.layers.values() if entry.get("macs")]
    assert len(products) >= 7 and all(entry["precision"] == "int8" for entry in products)
    assert "tvmq.add" not in road.operators() and road.operators().count("tvmq.matmul") == 2


@pytest.mark.slow
def test_constant_matrices_of_heads_have_a_scale_for_each_column() -> None:
    made, outputs = NETS["product_with_a_matrix_for_each_head"]()
    road = drive(made.model(*outputs))
    (entry,) = (e for e in road.ledger.layers.values() if e["op"] == "matmul")
    assert entry["precision"] == "int8" and entry["facts"]["weight"]
    view = View(road.quantized)
    (result,) = (value for _, value in view.bindings if op_name(value) == "tvmq.dequantize")
    assert const_value(result.args[1]).shape == (4,) and result.attrs.axis == 3
