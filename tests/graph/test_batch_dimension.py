"""Batch dimensions: models whose samples are proved independent, and models where this must not be concluded."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.support.models.built_modules import build_module
from tests.support.models.dynamic_models import encoder, pictures
from tvmq import numerics
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph import ops
from tvmq.graph.analysis.batch_dimension import RULES, batch_dimension
from tvmq.graph.operators import RECORDS, where
from tvmq.passes.prepare import prepare

N = tvm.tirx.Var("n", "int64")
R = relax.op


def const(*shape: int) -> relax.Expr:
    return relax.const(np.ones(shape, np.float32))


def module(call, *shapes) -> tvm.IRModule:
    """main: inputs of these shapes, of which "n" is dynamic, to call(*inputs)."""
    dims = [[N if size == "n" else size for size in shape] for shape in shapes]
    return build_module({f"x{i}": shape for i, shape in enumerate(dims)}, lambda _, *params: call(*params))


def codes(x: relax.Expr) -> relax.Expr:
    return R.astype(x, "int8")


def integer_softmax(x: relax.Expr, axis: int) -> relax.Expr:
    params = numerics.integer_softmax_params(0.5, 1 / 255)
    return ops.integer_softmax(x, **params._asdict(), zero_point=0, dtype="uint8", qmin=0, qmax=255, axis=axis)


def add_mask(x: relax.Expr, mask: relax.Expr) -> relax.Expr:
    return ops.add_mask(R.astype(x, "int32"), R.astype(mask, "int32"), multiplier=5, offset=0)


def integer_norm(x: relax.Expr, *row: int) -> relax.Expr:
    constants = relax.const(np.ones(row, np.int32)), relax.const(np.ones(row, np.int64))
    common = {"zero_point": 0, "dtype": "int8", "qmin": -128, "qmax": 127, "centred": True, "x_zero": 0}
    return ops.integer_layer_norm(codes(x), *constants, epsilon=1, shift=30, **common)


def masked_mean(x: relax.Expr, mask: relax.Expr, axis: int) -> relax.Expr:
    common = {"x_zero": 0, "zero_point": 0, "dtype": "int8", "qmin": -128, "qmax": 127}
    return ops.masked_mean(codes(x), R.astype(mask, "int32"), axis=axis, multiplier=1 << 30, shift=1, **common)


def begin_end(axis: int, end) -> list:
    return [[axis], [0], [end]]


def three(x: relax.Expr) -> relax.Expr:
    """Queries, keys and values of samples, (3, n, 5, 2), from (n, 5, 6)."""
    return R.permute_dims(R.reshape(x, (N, 5, 3, 2)), [2, 0, 1, 3])


def loop(x: relax.Expr, lengths: relax.Expr | None = None, state: relax.Expr | None = None) -> relax.Expr:
    """A recurrent layer of 4 units over gates (steps, n, 16)."""
    lengths = relax.const(np.int32([9])) if lengths is None else R.astype(lengths, "int32")
    state = const(2, 1, 4) if state is None else state
    options = {"kind": "lstm", "activations": "sigmoid,tanh,tanh", "clip": 0.0, "reverse": False, "ends": False}
    return ops.recurrent(x, const(4, 16), const(12), state, lengths, **options)


def turned(x: relax.Expr) -> relax.Expr:
    """Steps before samples."""
    return R.permute_dims(x, [1, 0, 2])


APART = {
    "three as the result": (three, [("n", 5, 6)]),
    "stack before samples": (lambda x, y: R.stack([x, y], 0), [("n", 4), ("n", 4)]),
    "recurrent": (loop, [(5, "n", 16)]),
    "recurrent, lengths and states": (loop, [(5, "n", 16), ("n",), (2, "n", 4)]),
    "recurrent and back": (lambda x: turned(loop(turned(x))), [("n", 5, 16)]),
    "product of steps": (lambda x: R.matmul(turned(R.add(x, const(16))), const(16, 3)), [("n", 5, 16)]),
    "two directions": (lambda x: R.concat([loop(turned(x)), loop(turned(x))], 2), [("n", 5, 16)]),
    "directions as an axis": (
        lambda x: R.reshape(R.permute_dims(R.stack([loop(turned(x))] * 2, 1), [0, 2, 1, 3]), (5, N, 8)),
        [("n", 5, 16)],
    ),
    "codes of steps": (
        lambda x: ops.quantize(
            turned(x), const(16), relax.const(np.int32([0])), axis=2, dtype="uint8", qmin=0, qmax=255
        ),
        [("n", 5, 16)],
    ),
    "one of three": (lambda x: R.reshape(R.strided_slice(three(x), *begin_end(0, 1)), (N, 5, 2)), [("n", 5, 6)]),
    "one of three by its number": (lambda x: R.take(three(x), relax.const(np.int64(1)), 0), [("n", 5, 6)]),
    "there and back": (lambda x: R.permute_dims(three(x), [1, 0, 2, 3]), [("n", 5, 6)]),
    "elementwise": (lambda x: R.multiply(x, const(4)), [("n", 4)]),
    "two inputs": (R.add, [("n", 4), ("n", 4)]),
    "shared input": (R.add, [("n", 3, 4), (3, 4)]),
    "convolution": (lambda x: R.nn.conv2d(x, const(2, 3, 3, 3)), [("n", 3, 5, 5)]),
    "pool": (lambda x: R.nn.max_pool2d(x, [2, 2]), [("n", 3, 4, 4)]),
    "softmax": (lambda x: ops.softmax(x, axis=-1), [("n", 4)]),
    "layer norm": (lambda x: ops.layer_norm(x, const(4), const(4)), [("n", 4)]),
    "mean": (lambda x: R.mean(x, [1]), [("n", 4)]),
    "rows": (lambda x: R.matmul(x, const(4, 2)), [("n", 4)]),
    "products": (R.matmul, [("n", 3, 4), ("n", 4, 3)]),
    "reshape": (lambda x: R.reshape(x, (N * 2, 2)), [("n", 4)]),
    "transpose": (lambda x: R.permute_dims(x, [0, 2, 1]), [("n", 3, 4)]),
    "concat": (lambda x, y: R.concat([x, y], 1), [("n", 3), ("n", 4)]),
    "split": (lambda x: relax.TupleGetItem(R.split(x, 2, 1), 1), [("n", 4)]),
    "slice": (lambda x: R.strided_slice(x, *begin_end(1, 2)), [("n", 4)]),
    "rows of a table": (lambda x: R.take(const(9, 4), R.astype(x, "int64"), 0), [("n", 3)]),
    "columns": (lambda x: R.take(x, relax.const(np.int64([1, 0])), 1), [("n", 4)]),
    "pad": (lambda x: R.nn.pad(x, (0, 0, 1, 1)), [("n", 4)]),
    "flip": (lambda x: R.flip(x, 1), [("n", 4)]),
    "running sum": (lambda x: R.cumsum(x, 1), [("n", 4)]),
    "deviation": (lambda x: R.std(x, [1]), [("n", 4)]),
    "index of the largest": (lambda x: R.argmax(x, 1), [("n", 4)]),
    "sorted": (lambda x: R.sort(x, axis=-1), [("n", 4)]),
    "the largest": (lambda x: relax.TupleGetItem(R.topk(x, 2, -1), 0), [("n", 4)]),
    "stack": (lambda x, y: R.stack([x, y], -1), [("n",), ("n",)]),
    "elements": (lambda x, y: R.gather_elements(x, R.astype(y, "int64"), 1), [("n", 4), ("n", 2)]),
    "repeated columns": (lambda x: R.repeat(x, 2, 1), [("n", 4)]),
    "triangles": (R.triu, [("n", 4, 4)]),
    "codes": (
        lambda x: ops.quantize(x, const(), relax.const(np.int32(0)), dtype="uint8", qmin=0, qmax=255),
        [("n", 4)],
    ),
    "integer softmax": (lambda x: integer_softmax(R.matmul(codes(x), codes(x), out_dtype="int32"), -1), [("n", 4, 4)]),
    "mask": (lambda x, m: add_mask(x, m), [("n", 4), ("n", 4)]),
    "integer norm": (lambda x: integer_norm(x, 4), [("n", 4)]),
    "masked mean": (lambda x, m: masked_mean(x, m, 1), [("n", 3, 4), ("n", 3, 1)]),
    "rows times groups": (
        lambda x: ops.group_matmul(codes(x), R.max(x, [1], keepdims=True), codes(const(4, 3)), const(2, 3), group_size=2),
        [("n", 4)],
    ),
    "rows of groups times groups": (
        lambda x, s: ops.group_offset_matmul(codes(x), s, codes(const(4, 3)), const(2, 3), const(2, 3), group_size=2),
        [("n", 5, 4), ("n", 5, 2)],
    ),
    "groups": (
        lambda x: ops.group_dequantize(codes(x), R.max(x, [1], keepdims=True), axis=1, group_size=4),
        [("n", 4)],
    ),
}
TOGETHER = {
    "steps are samples": (loop, [("n", 3, 16)]),
    "states of other samples": (lambda x, s: loop(x, None, R.flip(s, 1)), [(5, "n", 16), (2, "n", 4)]),
    "codes of each sample": (
        lambda x: ops.quantize(
            turned(x), const(1), relax.const(np.int32([0])), axis=1, dtype="uint8", qmin=0, qmax=255
        ),
        [("n", 5, 16)],
    ),
    "samples become steps": (lambda x: R.reshape(turned(x), (N, 5, 16)), [("n", 5, 16)]),
    "products of samples, turned": (lambda x: R.matmul(turned(x), R.permute_dims(x, [1, 2, 0])), [("n", 5, 16)]),
    "softmax over samples": (lambda x: ops.softmax(turned(x), axis=1), [("n", 5, 16)]),
    "three in another order": (lambda x: R.reshape(three(x), (N, 30)), [("n", 5, 6)]),
    "samples behind three": (
        lambda x: R.permute_dims(R.take(three(x), relax.const(np.int64([0, 0])), 1), [1, 0, 2, 3]),
        [("n", 5, 6)],
    ),
    "softmax of three": (lambda x: R.permute_dims(ops.softmax(three(x), axis=1), [1, 0, 2, 3]), [("n", 5, 6)]),
    "slice of three": (
        lambda x: R.permute_dims(R.strided_slice(three(x), *begin_end(1, 1)), [1, 0, 2, 3]),
        [("n", 5, 6)],
    ),
    "integer softmax": (lambda x: integer_softmax(codes(x), 0), [("n", 4)]),
    "mask of other samples": (lambda x, m: add_mask(x, m), [(3, "n", 4), ("n", 4)]),
    "masked mean": (lambda x, m: masked_mean(x, m, 0), [("n", 3), ("n", 1)]),
    "softmax": (lambda x: ops.softmax(x, axis=0), [("n", 4)]),
    "sum": (lambda x: R.sum(x, [0], keepdims=True), [("n", 4)]),
    "all": (lambda x: R.max(x), [("n", 4)]),
    "less the mean": (lambda x: R.subtract(x, R.mean(x, [0], keepdims=True)), [("n", 4)]),
    "flip": (lambda x: R.flip(x, 0), [("n", 4)]),
    "running sum": (lambda x: R.cumsum(x, 0), [("n", 4)]),
    "running sum of all": (lambda x: R.cumsum(x), [("n", 4)]),
    "products of samples": (lambda x: R.matmul(x, R.permute_dims(x)), [("n", 4)]),
    "sample by its number": (lambda x: R.strided_slice(x, *begin_end(0, 1)), [("n", 4)]),
    "their numbers": (lambda x: R.add(x, R.reshape(R.arange(N, dtype="float32"), (N, 1))), [("n", 4)]),
    "index of the largest": (lambda x: R.argmax(x, 0), [("n", 4)]),
    "index in all": (lambda x: R.argmax(x), [("n", 4)]),
    "the largest": (lambda x: relax.TupleGetItem(R.topk(x, 2, 0), 0), [("n", 4)]),
    "elements of other samples": (lambda x, y: R.gather_elements(x, R.astype(y, "int64"), 0), [("n", 4), ("n", 4)]),
    "elements of the first": (lambda x: R.gather_elements(x, relax.const(np.int64([[0], [1]])), 1), [("n", 4)]),
    "repeated samples": (lambda x: R.repeat(x, 2, 0), [("n", 4)]),
    "a triangle": (R.triu, [("n", 4)]),
    "batch second": (lambda x: R.nn.relu(x), [(4, "n")]),
    "sorted": (lambda x: R.sort(x, axis=0), [("n", 4)]),
    "gathered": (lambda x: R.take(x, relax.const(np.int64([0, 0])), 0), [("n", 4)]),
    "a weight of samples": (
        lambda x: ops.group_matmul(codes(const(3, 4)), const(3, 1), codes(R.permute_dims(x)), const(2, 1), group_size=2),
        [("n", 4)],
    ),
    "one scale for all": (lambda x: R.divide(x, R.max(R.abs(x))), [("n", 4)]),
}


@pytest.mark.parametrize("name", APART)
def test_samples_that_are_apart(name: str) -> None:
    call, shapes = APART[name]
    assert batch_dimension(module(call, *shapes)) == "n"


@pytest.mark.parametrize("name", TOGETHER)
def test_samples_that_are_not_proved_apart(name: str) -> None:
    call, shapes = TOGETHER[name]
    assert batch_dimension(module(call, *shapes)) is None


@pytest.mark.slow
def test_whole_models() -> None:
    assert batch_dimension(prepare(*from_onnx(encoder()))) == "batch"
    assert batch_dimension(prepare(*from_onnx(pictures()))) == "batch"


def test_a_model_without_dynamic_dimensions() -> None:
    assert batch_dimension(module(R.nn.relu, (2, 4))) is None


def test_the_rules_are_those_of_the_records() -> None:
    assert set(RULES) == {record.batch for record in RECORDS} - {""}


def call_of(name: str, x: relax.Expr) -> relax.Expr:
    """An element-wise operator of one tensor; those of several get it several times."""
    special = {
        "where": lambda: R.where(R.isnan(x), x, x),
        "clip": lambda: R.clip(x, -1, 1),
        "astype": lambda: R.astype(x, "float16"),
        "full_like": lambda: R.full_like(x, const()),
    }
    if name in special:
        return special[name]()
    if name.startswith("logical"):
        x = R.isnan(x)
    if name.startswith(("bitwise", "left", "right")):
        x = R.astype(x, "int32")
    return reduce(getattr, name.split("."), R)(*[x] * tvm.ir.Op.get(f"relax.{name}").num_inputs)


@pytest.mark.parametrize("name", sorted(where(elementwise=True) - {"nn.prelu", "zeros_like", "ones_like"}))
def test_elementwise_operators_keep_samples_apart(name: str) -> None:
    """All of the one list that tables are made from as well, so that the two cannot drift apart."""
    assert batch_dimension(module(lambda x: call_of(name, x), ("n", 4))) == "n"


def test_every_elementwise_operator_has_a_rule() -> None:
    assert all(record.batch for record in RECORDS if record.elementwise)
