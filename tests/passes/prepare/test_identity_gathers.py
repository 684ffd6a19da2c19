"""Gathers whose indices count every element become reshapes, and others stay gathers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.support.models.built_modules import build_module
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

R = relax.op
SIZES = {"n": 3, "l": 5}
X = np.random.default_rng(0).normal(size=(3, 5, 2)).astype(np.float32)


def count(size: Any, start: int = 0) -> relax.Expr:
    return R.arange(relax.prim_value(start), relax.prim_value(size + start), relax.prim_value(1), "int64")


def index(*parts: relax.Expr) -> relax.Expr:
    return R.concat([R.expand_dims(part, -1) for part in parts], -1)


def module(body: Any, shape: tuple[Any, ...] = ("n", "l", 2)) -> tvm.IRModule:
    return prepare(build_module({"x": shape}, lambda _, x: body(x, *list(x.ty.shape)[:2])))


def mask_of_attention(x: relax.Expr, n: Any, length: Any) -> relax.Expr:
    rows = R.broadcast_to(R.expand_dims(count(n), [1, 2, 3]), [n, 1, 1, length])
    columns = R.broadcast_to(R.expand_dims(count(length), [0, 1, 2]), [n, 1, 1, length])
    return R.gather_nd(x, index(rows, columns))


def rows_alone(x: relax.Expr, n: Any, length: Any) -> relax.Expr:
    return R.gather_nd(x, index(R.broadcast_to(R.expand_dims(count(n), 1), [n, 7])))


def turned(x: relax.Expr, n: Any, length: Any) -> relax.Expr:
    rows = R.broadcast_to(R.expand_dims(count(n), 0), [length, n])
    columns = R.broadcast_to(R.expand_dims(count(length), 1), [length, n])
    return R.gather_nd(x, index(rows, columns))


def from_the_second(x: relax.Expr, n: Any, length: Any) -> relax.Expr:
    return R.gather_nd(x, index(count(n - 1, 1)))


def fewer(x: relax.Expr, n: Any, length: Any) -> relax.Expr:
    return R.gather_nd(x, index(count(n - 1)))


def diagonal(x: relax.Expr, n: Any, length: Any) -> relax.Expr:
    return R.gather_nd(x, index(count(n), count(n)))


@pytest.mark.parametrize("shape", [("n", "l", 2), (3, "l", 2), (3, 5, 2)])
@pytest.mark.parametrize(
    "body, is_identity",
    [
        (mask_of_attention, True), (rows_alone, True), (turned, False), (from_the_second, False), (fewer, False),
        (diagonal, False),
    ],
)  # fmt: skip
def test_gathers(shape: tuple[Any, ...], body: Any, is_identity: bool) -> None:
    mod = module(body, shape)
    names = {op_name(value) for _, value in View(mod).bindings}
    assert ("gather_nd" not in names) == is_identity, names
    (result,) = Reference(mod).run({"x": X})
    n, length = 3, 5
    expected = {
        mask_of_attention: X[:, None, None], rows_alone: np.broadcast_to(X[:, None], (n, 7, length, 2)),
        turned: X.transpose(1, 0, 2), from_the_second: X[1:], fewer: X[:-1], diagonal: X[np.arange(n), np.arange(n)],
    }  # fmt: skip
    np.testing.assert_array_equal(result, expected[body])
