"""Lowerings whose constants have no axis: factors, scales and zero points of one number, as every product of two
activations has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import te, tirx

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.extension import Match


def as_codes(attrs: Any, steps: Any, zero_point: Any) -> Any:
    """Rounded steps as codes."""
    whole = tirx.Cast("int32", tirx.nearbyint(steps)) + zero_point
    return tirx.Cast(attrs.dtype, tirx.min(tirx.max(whole, attrs.qmin), attrs.qmax))


def quantized_bmm(match: Match) -> Any:
    """Products of two stacks of matrices, and their codes."""
    a, b, factor, _ = match.placeholders()
    product, codes = match.attrs("tvmq.matmul"), match.attrs("tvmq.requantize")
    axis = te.reduce_axis((0, a.shape[2]))

    def total(n: Any, i: Any, j: Any) -> Any:
        left, right = tirx.Cast("int32", a[n, i, axis]), tirx.Cast("int32", b[n, axis, j])
        return te.sum((left - product.a_zero) * (right - product.b_zero), axis=axis)

    sums = te.compute([a.shape[0], a.shape[1], b.shape[2]], total, name="sums")
    real = lambda *at: tirx.Cast("float32", sums(*at)) * factor()  # noqa: E731
    return te.compute(sums.shape, lambda *at: as_codes(codes, real(*at), codes.zero_point), name="codes")


def quantized_input(match: Match) -> Any:
    """Floats as codes; its scale and zero point are constants without an axis."""
    x, scale, zero_point = match.placeholders()
    attrs = match.attrs("tvmq.quantize")
    return te.compute(x.shape, lambda *at: as_codes(attrs, x(*at) / scale(), zero_point()), name="codes")


def one_factor(match: Match) -> Any:
    """Codes of sums, by a constant of the function's own."""
    x = match.placeholders()[0]
    attrs = match.attrs("tvmq.requantize")
    factor = te.placeholder((), "float32", "factor")
    real = lambda *at: tirx.Cast("float32", x(*at)) * factor()  # noqa: E731
    y = te.compute(x.shape, lambda *at: as_codes(attrs, real(*at), attrs.zero_point))
    return te.create_prim_func([x, factor, y]), [match.constants[0]]


@pytest.fixture(scope="module")
def product():
    """An integer module of a product of two activations, and inputs for it."""
    net = Net((2, 3, 8), (2, 8, 4))
    model = net.model(net.op("Sigmoid", net.op("MatMul", "x", "x1")))
    feeds = feeds_of(model)
    return tvmq.quantize(*tvmq.from_onnx(model), feeds, guard=None), feeds


@pytest.mark.parametrize(("pattern", "function", "values"), [
    ("tvmq.matmul -> tvmq.requantize", quantized_bmm, 24), ("tvmq.quantize", quantized_input, 48 + 64),
    ("tvmq.requantize", one_factor, 24),
])  # fmt: skip
def test_constants_of_one_number_reach_the_function_exactly(product, tmp_path, pattern, function, values):
    mod, feeds = product
    exe = tvmq.build(mod, lowerings=[tvmq.Lowering(pattern, function)])
    verification = tvmq.verify(exe, feeds)
    assert verification.exact and sum(check.values for check in verification.lowerings) == values * len(feeds)
    exe.save(tmp_path / "m.tvmq")
    loaded, plain = tvmq.load(tmp_path / "m.tvmq"), tvmq.build(mod)
    for feed in feeds:
        np.testing.assert_array_equal(loaded.run(feed)[0], plain.run(feed)[0])
