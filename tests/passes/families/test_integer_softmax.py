"""Softmax in integers: masks of all kinds between product and softmax, what stays float, compiled code on every level."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import quantize_everywhere
from tests.support.models.networks import block, snr
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, dtype_of, op_name
from tvmq.passes.families.masks import find_mask

SIGNATURE = (
    'x: R.Tensor((2, 3, 10, 8), "float32"), y: R.Tensor((2, 3, 8, 10), "float32"), '
    'v: R.Tensor((2, 3, 10, 8), "float32"), mask: R.Tensor((2, 10), "int64"), '
    'bias: R.Tensor((3, 10, 10), "float32"), causal: R.Tensor((10, 10), "float32")'
)
RESULT = '(2, 3, 10, 8), "float32"'
CAUSAL = np.where(np.tri(10, dtype=bool), 0, -np.inf).astype(np.float32)
BIAS = np.random.default_rng(3).standard_normal((3, 10, 10)).astype(np.float32)
END = "s = R.nn.softmax(b)\no = R.matmul(s, v)"
BERT = """f = R.astype(mask, "float32")
e = R.reshape(R.subtract(R.const(1.0, "float32"), f), R.shape([2, 1, 1, 10]))
n = R.multiply(e, R.const(-10000.0, "float32"))
"""
BODIES = {
    "plain": "b = R.multiply(R.matmul(x, y), R.const(0.3, 'float32'))\n" + END,
    "sum with a mask": BERT + "b = R.add(R.matmul(x, y), n)\n" + END,
    "mask first": BERT + "b = R.add(n, R.matmul(x, y))\n" + END,
    "constants": "b = R.add(R.add(R.matmul(x, y), bias), causal)\n" + END,
    "choice of scores": (
        "c = R.reshape(R.equal(mask, R.const(0, 'int64')), R.shape([2, 1, 1, 10]))\n"
        "b = R.where(c, R.const(-3.0e38, 'float32'), R.matmul(x, y))\n" + END
    ),
    "mask by a choice": (
        "c = R.reshape(R.equal(mask, R.const(0, 'int64')), R.shape([2, 1, 1, 10]))\n"
        "w = R.where(c, R.const(-1.0e9, 'float32'), R.const(0.0, 'float32'))\n"
        "b = R.add(R.matmul(x, y), w)\n" + END
    ),
    "divided mask": (
        "f = R.reshape(R.negative(R.astype(mask, 'float32')), R.shape([2, 1, 1, 10]))\n"
        "n = R.divide(R.add(f, R.const(1.0, 'float32')), R.const(-0.0001, 'float32'))\n"
        "b = R.add(R.matmul(x, y), n)\n" + END
    ),
    "first axis": "b = R.matmul(x, y)\ns = R.nn.softmax(b, axis=2)\no = R.matmul(s, v)",
}
MOVES = {"reshape", "equal", "permute_dims", "expand_dims"}


def feeds(count: int = 8) -> list[dict[str, np.ndarray]]:
    """Random tensors; the last tokens are padding, all of them in one sample."""
    random = np.random.default_rng(0)
    shapes = {"x": (2, 3, 10, 8), "y": (2, 3, 8, 10), "v": (2, 3, 10, 8)}
    made = [{n: random.standard_normal(s).astype(np.float32) for n, s in shapes.items()} for _ in range(count)]
    for number, feed in enumerate(made):
        feed["mask"] = (np.arange(10) < np.int64([[10 - number], [0 if number == 3 else 7]])).astype(np.int64)
    return made


def model(body: str, result: str = RESULT) -> tvmq.tvm.IRModule:
    """The float module."""
    return block(SIGNATURE, body, result, bias=BIAS, causal=CAUSAL)


def quantized(body: str, result: str = RESULT, **options: object) -> tvmq.tvm.IRModule:
    """With integer_softmax; built for every instruction set, equal to the definition."""
    usual = {"integer_softmax": True, "requantize": "fixed_point", "weight_rounding": "nearest"}
    return quantize_everywhere(model(body, result), feeds(), *feeds()[2:4], **{**usual, **options})


@pytest.mark.slow
@pytest.mark.thinned(9)
@pytest.mark.parametrize("name", BODIES)
def test_attention_is_integers_between_its_borders(name: str) -> None:
    made = quantized(BODIES[name])
    view = View(made)
    floats = {op_name(v) for var, v in view.bindings if dtype_of(var) == "float32"}
    assert floats == {"tvmq.dequantize"}  # of the result
    assert [op_name(v) for _, v in view.bindings].count("tvmq.integer_softmax") == 1


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["sum with a mask", "constants"])
def test_as_near_as_the_float_softmax(name: str) -> None:
    made, exact = quantized(BODIES[name]), tvmq.build(model(BODIES[name]))
    usual = tvmq.quantize(model(BODIES[name]), None, feeds(), guard=None)
    true, found, before = (
        np.concatenate([run(feed)[0] for feed in feeds() if feed["mask"].any(axis=1).all()])
        for run in (exact.run, tvmq.build(made).run, tvmq.build(usual).run)
    )
    assert snr(true, found) > snr(true, before) - 0.5


@pytest.mark.slow
def test_the_ledger_names_the_parts_of_a_mask() -> None:
    made = quantized(BODIES["sum with a mask"])
    layers = get_ledger(made).layers
    assert (layers["s"]["family"], layers["s"]["precision"]) == ("integer_softmax", "int8")
    assert {"f", "e", "n", "b", "s"} <= set(layers["s"]["members"])
    assert not {"f", "e", "n", "b"} & set(layers)
    assert all(layer["precision"] == "int8" for layer in layers.values())


@pytest.mark.slow
def test_a_mask_that_others_read_stays_float_for_them() -> None:
    body = BERT + "b = R.add(R.matmul(x, y), n)\n" + END + "\np = R.add(o, R.sum(R.abs(n)))"
    layers = get_ledger(quantized(body)).layers
    assert "n" in layers and "n" not in layers["s"]["members"] and layers["s"]["precision"] == "int8"


@pytest.mark.slow
def test_a_result_is_int16_codes_of_the_whole_range() -> None:
    made = quantized("s = R.nn.softmax(R.matmul(x, y))", '(2, 3, 10, 10), "float32"')
    call = next(v for _, v in View(made).bindings if op_name(v) == "tvmq.integer_softmax")
    assert (call.attrs.dtype, call.attrs.qmax, call.attrs.out_shift) == ("int16", 32767, 15)
    assert abs(tvmq.reference.run(made, feeds()[0])[0].sum(-1) - 1).max() < 10 / 32767


@pytest.mark.slow
def test_off_by_default_and_by_rule() -> None:
    rule = (tvmq.Rule(lambda layer: layer.op == "tvmq.softmax", None),)
    for options in ({"integer_softmax": False}, {"rules": rule}):
        made = quantized(BODIES["sum with a mask"], **options)
        assert "tvmq.softmax" in [op_name(v) for _, v in View(made).bindings]


@pytest.mark.slow
def test_scores_without_accumulators_are_read_as_int16() -> None:
    body = "t = R.add(R.tanh(R.matmul(x, y)), bias)\ns = R.nn.softmax(t)\no = R.matmul(s, v)"
    view = View(quantized(body))
    sums = [v for _, v in view.bindings if op_name(v) == "tvmq.add_mask"]
    assert len(sums) == 1 and op_name(view.value[sums[0].args[0].name]) == "astype"
    assert dtype_of(view.value[sums[0].args[0].name].args[0]) == "int16"


@pytest.mark.parametrize(("body", "expected"), [
    ("n = R.multiply(R.astype(mask, 'float32'), R.const(3.0, 'float32'))", (3.0, 0.0)),
    ("n = R.subtract(R.const(1.0, 'float32'), R.astype(mask, 'float32'))", (-1.0, 1.0)),
    ("n = R.subtract(R.astype(mask, 'float32'), R.const(2.0, 'float32'))", (1.0, -2.0)),
    ("n = R.divide(R.add(R.astype(mask, 'float32'), R.const(1.0, 'float32')), R.const(4.0, 'float32'))", (0.25, 0.25)),
    ("n = R.where(R.less(mask, mask), R.const(-np.inf, 'float32'), R.const(0.0, 'float32'))", (-1e38, 0.0)),
    ("n = R.divide(R.const(4.0, 'float32'), R.astype(mask, 'float32'))", None),
    ("n = R.exp(R.astype(mask, 'float32'))", None),
    ("n = R.add(R.astype(mask, 'float32'), R.astype(mask, 'float32'))", None),
])  # fmt: skip
def test_what_is_a_mask(body: str, expected: tuple[float, float] | None) -> None:
    body = body.replace("R.const(-np.inf, 'float32')", "infinity")
    signature = 'mask: R.Tensor((2, 10), "int64"), infinity: R.Tensor((), "float32")'
    mod = block(signature, body, '(2, 10), "float32"', infinity=np.float32(-np.inf))
    for written in (tvmq.passes.prepare.prepare(mod), mod)[: 1 if "infinity" in body else 2]:  # a parameter at first
        found = find_mask(View(written), "n")
        assert (found and (found.factor, found.summand)) == expected


def test_numbers_that_add_axes_make_no_mask() -> None:
    """(2, 10) becomes (1, 2, 10), so expand_dims would mean another axis of the integers."""
    body = "n = R.expand_dims(R.add(R.astype(mask, 'float32'), one), axis=1)"
    signature = 'mask: R.Tensor((2, 10), "int64"), one: R.Tensor((1, 1, 1), "float32")'
    mod = block(signature, body, '(1, 1, 2, 10), "float32"', one=np.ones((1, 1, 1), np.float32))
    assert find_mask(View(tvmq.passes.prepare.prepare(mod)), "n") is None
