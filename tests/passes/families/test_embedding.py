"""Embedding tables in int8: read by integers, by floats, along other axes."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import quantize_everywhere
from tests.support.models.networks import block
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, const_value, op_name

RANDOM = np.random.default_rng(0)
TABLE = (RANDOM.standard_normal((40, 8)) * np.geomspace(0.1, 30, 8)).astype(np.float32)
WEIGHT = RANDOM.standard_normal((8, 4)).astype(np.float32)
SIGNATURE = 'i: R.Tensor((2, 5), "int64"), t: R.Tensor((40, 8), "float32"), w: R.Tensor((8, 4), "float32")'
FEEDS = [{"i": np.random.default_rng(seed).integers(0, 40, (2, 5))} for seed in range(8)]


def quantized(body: str, result: str = '(2, 5, 4), "float32"', feeds: list = FEEDS) -> tvmq.tvm.IRModule:
    """Built for every instruction set, equal to the definition."""
    return quantize_everywhere(block(SIGNATURE, body, result, t=TABLE, w=WEIGHT), feeds, feeds[0])


@pytest.mark.slow
def test_rows_for_a_product_are_codes_at_once() -> None:
    mod = quantized("e = R.take(t, i, axis=0)\nm = R.matmul(e, w)")
    assert [op_name(v) for _, v in View(mod).bindings][:2] == ["take", "matmul"]
    entry = get_ledger(mod).layers["e"]
    assert (entry["family"], entry["precision"]) == ("embedding", "int8")
    (codes,) = [const_value(v.args[0]) for _, v in View(mod).bindings if op_name(v) == "take"]
    output = entry["output"]
    real = np.clip(np.rint(TABLE / np.float32(output["scale"])) + output["zero_point"], 0, 255)
    np.testing.assert_array_equal(codes, real.astype(np.uint8))


@pytest.mark.slow
def test_rows_for_floats_have_a_scale_for_each_column() -> None:
    mod = quantized("e = R.take(t, i, axis=0, mode='wrap')\ns = R.nn.softmax(e, axis=-1)", '(2, 5, 8), "float32"')
    wrapped, take, dequantize = [v for _, v in View(mod).bindings][:3]
    assert [op_name(value) for value in (wrapped, take, dequantize)] == ["floor_mod", "take", "tvmq.dequantize"]
    assert dequantize.attrs.axis == 2
    np.testing.assert_array_equal(const_value(dequantize.args[1]), np.abs(TABLE).max(0) / np.float32(127))
    seen: dict[str, np.ndarray] = {}
    tvmq.reference.run(mod, FEEDS[0], watch=seen.__setitem__)
    half_a_step = 0.501 * np.abs(TABLE).max(0) / 127
    assert (np.abs(seen["e"] - TABLE[FEEDS[0]["i"]]) <= half_a_step).all()


@pytest.mark.slow
def test_the_last_axis_has_one_scale() -> None:
    body = "e = R.take(t, i, axis=1)\ns = R.nn.softmax(e, axis=-1)"
    feeds = [{"i": feed["i"] % 8} for feed in FEEDS]
    mod = quantized(body, '(40, 2, 5), "float32"', feeds)
    dequantize = next(v for _, v in View(mod).bindings if op_name(v) == "tvmq.dequantize")
    assert const_value(dequantize.args[1]).shape == ()
