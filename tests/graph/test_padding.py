"""Masked positions: models that are proved not to depend on them, and models of which this must not be concluded.

Each proof is tried: the definition runs samples with other values behind the mask, with more masked positions behind
the others, and with some in front, and what belongs to the sample must have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

from tests.support.models.built_modules import build_module
from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.analysis.padding import PaddingProof, prove_padding
from tvmq.graph.analysis.value_ranges import Range, elementwise_range
from tvmq.reference import Reference

R = relax.op
LENGTH, WIDTH = 5, 4
SHAPES: dict[str, Any] = {"x": ("n", "length", WIDTH), "mask": (("n", "length"), "int64")}
Body = Callable[[relax.Expr, relax.Expr], relax.Expr]


def const(*shape: int, value: float = 1.0) -> relax.Expr:
    return relax.const(np.full(shape, value, np.float32))


def bounded(x: relax.Expr) -> relax.Expr:
    """Values that a proof has bounds of."""
    return ops.layer_norm(x, const(WIDTH), const(WIDTH))


def as_column(mask: relax.Expr, dtype: str = "float32") -> relax.Expr:
    return R.astype(R.expand_dims(mask, 2), dtype)


def as_codes(x: relax.Expr, zero_point: int = 3) -> relax.Expr:
    options = {"axis": -1, "dtype": "int8", "qmin": -128, "qmax": 127}
    return ops.quantize(bounded(x), const(value=0.02), relax.const(np.int32(zero_point)), **options)


def bias(mask: relax.Expr, low: float = -10000.0) -> relax.Expr:
    """0 for keys that count, a low number for others: [n, 1, length]."""
    missing = R.subtract(const(), R.astype(R.expand_dims(mask, 1), "float32"))
    return R.multiply(missing, const(value=low))


def scores(x: relax.Expr) -> relax.Expr:
    codes = as_codes(x)
    products = ops.matmul(codes, R.permute_dims(codes, [0, 2, 1]), a_zero=3, b_zero=3)
    return ops.dequantize(products, const(value=0.0004), relax.const(np.int32(0)), axis=-1)


def attend(x: relax.Expr, weights: relax.Expr) -> relax.Expr:
    """Codes of softmax weights by codes of values."""
    options = {"axis": -1, "dtype": "uint8", "qmin": 0, "qmax": 255}
    weights = ops.quantize(weights, const(value=1 / 255), relax.const(np.int32(0)), **options)
    return ops.matmul(weights, as_codes(x), a_zero=0, b_zero=3)


def attention(x: relax.Expr, mask: relax.Expr, low: float = -10000.0) -> relax.Expr:
    return attend(x, ops.softmax(R.add(scores(x), bias(mask, low)), axis=-1))


def chosen(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    """Scores where the mask is not 0, -inf elsewhere."""
    kept = R.not_equal(R.expand_dims(mask, 1), relax.const(np.int64(0)))
    return attend(x, ops.softmax(R.where(kept, scores(x), const(value=-np.inf)), axis=-1))


def integer_attention(x: relax.Expr, mask: relax.Expr, low: int = -(2**20)) -> relax.Expr:
    codes = as_codes(x)
    products = ops.matmul(codes, R.permute_dims(codes, [0, 2, 1]), a_zero=3, b_zero=3)
    masked = ops.add_mask(products, R.astype(R.expand_dims(mask, 1), "int32"), multiplier=-low, offset=low)
    params = numerics.integer_softmax_params(0.001, 1 / 255)
    weights = ops.integer_softmax(
        masked, **params._asdict(), zero_point=0, dtype="uint8", qmin=0, qmax=255, axis=-1
    )  # fmt: skip
    return ops.matmul(weights, codes, a_zero=0, b_zero=3)


def dynamic(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    """Attention whose products have scales made at run time, one for each row."""
    scale = ops.dynamic_scale(x, first=2, count=1)
    codes = ops.dynamic_quantize(x, scale)
    sums = ops.matmul(codes, R.permute_dims(codes, [0, 2, 1]), a_zero=0, b_zero=0)
    products = ops.dynamic_dequantize(sums, scale, R.permute_dims(scale, [0, 2, 1]))
    weights = R.multiply(ops.softmax(R.add(products, bias(mask)), axis=-1), R.permute_dims(scale, [0, 2, 1]))
    row = ops.dynamic_scale(weights, first=2, count=1)
    return ops.dynamic_dequantize(
        ops.matmul(ops.dynamic_quantize(weights, row), codes, a_zero=0, b_zero=0), row, const()
    )


def masked_mean(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    common = {"x_zero": 0, "zero_point": 0, "dtype": "int8", "qmin": -128, "qmax": 127}
    return ops.masked_mean(
        R.astype(R.clip(x, -100, 100), "int8"), R.expand_dims(mask, 2), axis=1, multiplier=1 << 30, shift=1, **common
    )


def float_sum(x: relax.Expr, mask: relax.Expr, **options: Any) -> relax.Expr:
    return ops.float_sum(R.multiply(bounded(x), as_column(mask)), axes=[1], **options)


def sum_of_codes(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    """Codes of products with the mask: masked ones are the zero point."""
    kept = R.multiply(bounded(x), as_column(mask))
    options = {"axis": -1, "dtype": "uint8", "qmin": 0, "qmax": 255}
    return ops.sum(ops.quantize(kept, const(value=0.02), relax.const(np.int32(9)), **options), axes=[1], zero_point=9)


def table_of_places(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    length = mask.ty.shape[1]
    table = relax.const(np.arange(400, dtype=np.float32).reshape(100, WIDTH))
    rows = R.strided_slice(table, [0], [0], [length], assume_inbound=True)
    return R.add(x, rows)


def places_counted(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    """Rows of a table by the count of the sample's own positions."""
    place = R.clip(R.cumsum(mask, 1), 0, 99)
    return R.add(x, R.take(const(100, WIDTH), place, 0))


def heads(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    n, length = mask.ty.shape
    split = R.permute_dims(R.reshape(bounded(x), (n, length, 2, 2)), [0, 2, 1, 3])
    return R.multiply(R.reshape(R.permute_dims(split, [0, 2, 1, 3]), (n, length, WIDTH)), as_column(mask))


# name: (model, proved for other values, more on the right, more on the left)
PROVED: dict[str, tuple[Body, bool, bool]] = {
    "each position": (lambda x, _: R.nn.gelu(R.add(x, const(WIDTH))), True, True),
    "rows": (lambda x, _: R.matmul(x, const(WIDTH, 3)), True, True),
    "heads": (heads, True, True),
    "layer norm": (lambda x, _: bounded(x), True, True),
    "attention": (attention, True, False),
    "attention, -inf": (chosen, True, False),
    "attention, lowest float": (lambda x, m: attention(x, m, float(np.finfo(np.float32).min)), True, False),
    "attention in integers": (integer_attention, True, True),
    "attention, scales at run time": (dynamic, True, False),
    "sum of floats": (float_sum, True, False),
    "mean over the mask": (
        lambda x, m: R.divide(float_sum(x, m), ops.float_sum(as_column(m), axes=[1])), True, False
    ),
    "sum of codes": (sum_of_codes, True, True),
    "masked mean of codes": (masked_mean, True, True),
    "count": (lambda x, m: R.add(R.astype(R.sum(m, [1], keepdims=True), "float32"), const()), True, True),
    "largest": (
        lambda x, m: R.max(R.where(R.not_equal(R.expand_dims(m, 2), relax.const(np.int64(0))), bounded(x),
                                   const(value=-100.0)), [1]), True, True
    ),
    "table of places": (table_of_places, True, False),
    "places counted by the mask": (places_counted, True, True),
    "running sum of codes": (lambda x, _: R.cumsum(R.astype(as_codes(x), "int32"), 1), True, False),
    "elements of a table": (
        lambda x, m: R.gather_elements(relax.const(np.arange(500).reshape(1, 500)), R.expand_dims(
            R.strided_slice(relax.const(np.arange(500)), [0], [0], [m.ty.shape[1]], assume_inbound=True), 0), 1),
        True, False,
    ),
    "first position": (lambda x, _: R.take(x, relax.const(np.int64(0)), 1), True, False),
    "first position, sliced": (lambda x, _: R.strided_slice(x, [1], [0], [1], assume_inbound=True), True, False),
    "channels joined": (lambda x, m: R.concat([x, as_column(m)], 2), True, True),
    "channels split": (lambda x, _: relax.TupleGetItem(R.split(x, 2, 2), 1), True, True),
    "channels padded": (lambda x, _: R.nn.pad(x, (0, 0, 0, 0, 1, 1)), True, True),
    "stacked": (lambda x, m: R.stack([x, R.multiply(x, as_column(m))], 0), True, True),
    "scale of each position": (
        lambda x, _: ops.dynamic_quantize(x, ops.dynamic_scale(x, first=2, count=1)), True, True
    ),
}  # fmt: skip
def from_the_end(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    """Rows of a table that end at its end, as relative positions are cut."""
    table, length = relax.const(np.arange(400, dtype=np.float32).reshape(100, WIDTH)), mask.ty.shape[1]
    return R.add(x, R.strided_slice(table, [0], [100 - length], [100], assume_inbound=True))


def count_from(start: Any, stop: Any) -> relax.Expr:
    return R.astype(R.arange(*map(relax.prim_value, (start, stop, 1)), "int64"), "float32")


NOT_PROVED: dict[str, tuple[Body, str]] = {
    "end of a table": (from_the_end, "it begins at a computed place"),
    "counted from the last": (
        lambda x, m: R.add(x, R.expand_dims(count_from(-m.ty.shape[1], 0), 1)), "it begins at a computed place"
    ),
    "all repeated": (lambda x, _: R.repeat(x, 2), "it joins, takes or moves along"),
    "largest, equal to masked ones": (
        lambda x, m: R.max(R.multiply(R.nn.relu(x), as_column(m)), [1]), "masked positions may hold the largest"
    ),
    "mean": (lambda x, _: ops.float_sum(x, axes=[1], mean=True), "it also counts masked positions"),
    "mean of what is masked": (lambda x, m: float_sum(x, m, mean=True), "it also counts masked positions"),
    "sum of what may be NaN": (
        lambda x, m: ops.float_sum(R.multiply(R.sqrt(x), as_column(m)), axes=[1]), "it also counts masked positions"
    ),
    "sum in no order": (lambda x, m: R.sum(R.multiply(bounded(x), as_column(m)), [1]), "its float sum adds positions"),
    "sum of codes": (lambda x, m: ops.sum(as_codes(x), axes=[1], zero_point=3), "it also counts masked positions"),
    "largest": (lambda x, _: R.max(x, [1]), "masked positions may hold the largest value"),
    "softmax without a mask": (lambda x, _: attend(x, ops.softmax(scores(x), axis=-1)), "masked positions may have"),
    "mask that is not low enough": (lambda x, m: attention(x, m, -60.0), "masked positions may have weight"),
    "integers, not low enough": (lambda x, m: integer_attention(x, m, -1000), "masked positions may have weight"),
    "product of floats": (
        lambda x, m: R.matmul(ops.softmax(R.add(scores(x), bias(m)), axis=-1), x), "a float product has no definition"
    ),
    "product over positions": (
        lambda x, _: ops.matmul(R.permute_dims(as_codes(x), [0, 2, 1]), as_codes(x), a_zero=3, b_zero=3), "its sum also"
    ),
    "one scale for all positions": (
        lambda x, _: ops.dynamic_quantize(x, ops.dynamic_scale(x, first=1, count=2)), "positions share a scale"
    ),
    "norm of all positions": (
        lambda x, _: ops.rms_norm(R.permute_dims(x, [0, 2, 1]), const(), axes=1), "its mean and variance also count"
    ),
    "last position": (lambda x, _: R.take(x, relax.const(np.int64(-1)), 1), "it takes a position other than"),
    "second position": (lambda x, _: R.strided_slice(x, [1], [1], [2]), "it joins, takes or moves along"),
    "reversed": (lambda x, _: R.flip(x, 1), "it joins, takes or moves along"),
    "running sum of floats": (lambda x, _: R.cumsum(x, 1), "it also counts masked positions"),
    "neighbours": (
        lambda x, _: R.nn.conv1d(R.permute_dims(x, [0, 2, 1]), const(2, WIDTH, 3), padding=1), "rule for masked"
    ),
    "padded positions": (lambda x, _: R.nn.pad(x, (0, 0, 1, 0, 0, 0)), "it pads positions"),
    "joined with channels": (
        lambda x, m: R.reshape(x, (m.ty.shape[0], m.ty.shape[1] * WIDTH)), "positions become one axis with others"
    ),
    "products without a shape": (lambda x, _: R.add(R.permute_dims(x, [0, 2, 1]), x), "its shape is not known"),
    "number of positions": (
        lambda x, m: R.sum(R.full((m.ty.shape[1],), relax.const(np.int64(1)), "int64")), "it also counts"
    ),
}  # fmt: skip


def module(body: Body) -> tvm.IRModule:
    return build_module(SHAPES, lambda _, x, mask: body(x, mask))


def surround(x: np.ndarray, before: int, after: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Samples with masked positions in front and behind, which hold other values."""
    others = random.normal(0, 9, (x.shape[0], before + x.shape[1] + after, WIDTH)).astype(np.float32)
    others[:, before : before + x.shape[1]] = x
    mask = np.zeros(others.shape[:2], np.int64)
    mask[:, before : before + x.shape[1]] = 1
    return {"x": others, "mask": mask}


def own_part(array: np.ndarray, padded: int, before: int, length: int) -> np.ndarray:
    """The positions of the sample on every axis that has all of them."""
    for axis in range(1, array.ndim):
        if array.shape[axis] == padded:
            array = np.take(array, np.arange(before, before + length), axis)
    return array


def assert_equal_in(mod: tvm.IRModule, proof: PaddingProof, seed: int) -> None:
    """Run the definition in the surroundings that the proof names."""
    random, reference = np.random.default_rng(seed), Reference(mod)
    x = random.normal(0, 1, (2, LENGTH, WIDTH)).astype(np.float32)
    x[0, 0] = random.choice([-1.0, 1.0], WIDTH) * 30
    (base,) = reference.run(surround(x, 0, 6, random))
    base = own_part(base, LENGTH + 6, 0, LENGTH)
    sides = [(0, 6, proof.values), (0, 0, proof.right), (0, 29, proof.right), (6, 0, proof.left), (17, 8, proof.left)]
    for before, after, reason in sides:
        if reason:
            continue
        (other,) = reference.run(surround(x, before, after, random))
        other = own_part(other, before + LENGTH + after, before, LENGTH)
        np.testing.assert_array_equal(base.view(np.uint8), np.ascontiguousarray(other).view(np.uint8))


@pytest.mark.parametrize("name", PROVED)
def test_positions_that_are_proved_apart(name: str) -> None:
    body, right, left = PROVED[name]
    mod = module(body)
    proof = prove_padding(mod, "mask")
    assert (proof.values, proof.right == "", proof.left == "") == ("", right, left), proof
    assert_equal_in(mod, proof, seed=len(name))


@pytest.mark.parametrize("name", NOT_PROVED)
def test_positions_that_are_not_proved_apart(name: str) -> None:
    body, why = NOT_PROVED[name]
    proof = prove_padding(module(body), "mask")
    assert why in proof.values and why in proof.right and why in proof.left, proof


def test_scores_that_nothing_bounds() -> None:
    """The proof holds up to a magnitude of the scores, which it states."""
    proof = prove_padding(module(dynamic), "mask")
    assert proof.condition == "inputs are within 1e+09 and attention scores are within 4096"
    assert proof.limit == 4096.0 and len(proof.scores) == 1
    lower = prove_padding(module(lambda x, m: dynamic_with(x, m, -1e9)), "mask")
    assert lower.limit == 2.0**28
    assert "limit" not in prove_padding(module(attention), "mask").to_dict()


def dynamic_with(x: relax.Expr, mask: relax.Expr, low: float) -> relax.Expr:
    values = R.sum(x, [2], keepdims=True)
    return ops.softmax(R.add(R.multiply(values, R.permute_dims(values, [0, 2, 1])), bias(mask, low)), axis=-1)


def test_an_input_with_positions_on_another_axis() -> None:
    shapes = {"x": ("n", WIDTH, "length"), "mask": (("n", "length"), "int64")}
    mod = build_module(shapes, lambda _, x, mask: R.multiply(x, R.astype(R.expand_dims(mask, 1), "float32")))
    assert "its positions are not its second axis" in prove_padding(mod, "mask").values


def test_models_whose_own_positions_come_first() -> None:
    """Places before a position count, so that masked ones in front of it must not be there."""
    for name in ("running sum of codes", "first position", "first position, sliced"):
        proof = prove_padding(module(PROVED[name][0]), "mask")
        assert proof.first and "own positions come first" in proof.condition
    assert not prove_padding(module(table_of_places), "mask").first


STEPS: dict[str, Body] = {
    "norm": lambda x, _: bounded(x),
    "mask": lambda x, m: R.multiply(x, as_column(m)),
    "bias": lambda x, m: R.add(x, R.multiply(R.subtract(const(), as_column(m)), const(value=-10000.0))),
    "relu": lambda x, _: R.nn.relu(x),
    "root": lambda x, _: R.sqrt(x),
    "less one": lambda x, _: R.subtract(x, const(WIDTH)),
    "tanh": lambda x, _: R.tanh(x),
    "rows": lambda x, _: R.matmul(x, relax.const(np.linspace(-1, 1, WIDTH * WIDTH, dtype=np.float32).reshape(4, 4))),
    "codes": lambda x, _: ops.dequantize(as_codes(x), const(value=0.02), relax.const(np.int32(3)), axis=-1),
    "softmax": lambda x, _: ops.softmax(x, axis=1),
    "largest": lambda x, _: R.subtract(x, R.max(x, [1], keepdims=True)),
    "sum": lambda x, _: R.add(x, ops.float_sum(x, axes=[1], keepdims=True)),
    "mean": lambda x, _: R.subtract(x, ops.float_sum(x, axes=[1], keepdims=True, mean=True)),
    "scale": lambda x, _: R.divide(x, ops.dynamic_scale(x, first=1, count=1)),
    "cumsum": lambda x, m: R.add(x, as_column(R.cumsum(m, 1))),
    "attention": lambda x, m: R.astype(attention(x, m), "float32"),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_whatever_is_proved_is_equal(steps: list[str], seed: int) -> None:
    def body(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
        for step in steps:
            x = STEPS[step](x, mask)
        return x

    mod = module(body)
    proof = prove_padding(mod, "mask")
    if not proof.values and proof.limit == np.inf:
        assert_equal_in(mod, proof, seed)


def test_ranges_of_functions() -> None:
    x = relax.Var("x", relax.TensorType((2,), "float32"))
    builder = relax.BlockBuilder()

    def range_of(call: relax.Expr, *operands: Any) -> Range:
        return elementwise_range(builder.normalize(call), operands)

    assert range_of(R.multiply(x, x), Range(-2, 3), Range(-1, 5)) == (-10, 15)
    assert range_of(R.divide(x, x), Range(1, 2), Range(-1, 1)) == (-np.inf, np.inf)
    assert range_of(R.nn.relu(x), Range(-1, 2)) == (0, 2)
    assert range_of(R.multiply(x, x), Range(0, 0), Range(-np.inf, np.inf)) == (-np.inf, np.inf)  # 0 * NaN
    assert range_of(R.equal(x, x), Range(0, 2), Range(1, 1)) == (0, 1)
    i = relax.Var("i", relax.TensorType((2,), "int64"))
    whole = Range(np.iinfo(np.int64).min, np.iinfo(np.int64).max)
    assert range_of(R.add(i, i), whole, Range(1, 1)) == whole  # it wraps round
    assert range_of(R.add(i, i), Range(-3, 4), Range(1, 1)) == (-2, 5)
    assert range_of(R.astype(i, "int8"), Range(0, 300)) == (-128, 127)
    assert range_of(R.astype(i, "bool"), Range(-1, 1)) == (0, 1)  # 0 lies between both ends
    assert range_of(R.astype(i, "bool"), Range(1, 2)) == (1, 1)
    assert range_of(R.bitwise_and(i, i), Range(1, 2), Range(1, 2)) == whole
    low, high = range_of(R.tanh(x), Range(-1, 0.5))
    assert low < np.tanh(-1) < high and high > np.tanh(0.5)
