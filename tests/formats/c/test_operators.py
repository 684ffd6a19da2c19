"""Every operator that an integral core may hold, in C: equal to the definition, with sanitizers that watch.

All cases of a family stand in one module, so that a compiler starts once for each. The cases of our own operators are
those that compiled code is tested with (tests/graph/op_cases.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.formats.c.cores import core_of
from tests.graph.op_case import codes_of
from tests.graph.op_cases import CASES
from tests.support.devices.c_harness import SANITIZED, Native, run_program, wanted_of
from tvmq import numerics
from tvmq.formats.c.export_c import export_c
from tvmq.formats.c.tensor import NAMES
from tvmq.graph import ops
from tvmq.graph.view import make_const

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
op = relax.op
X = codes_of("uint8", (2, 6, 7, 9))
S = codes_of("int8", (2, 6, 7, 9), 1)
W = codes_of("int16", (3, 8))
I = np.int32([[5, -7, 2**31 - 1], [-(2**31), 0, 9]])  # noqa: E741
Case = tuple[list[np.ndarray], Callable[..., Any]]


def const(array: Any, dtype: str = "int32") -> relax.Expr:
    return relax.const(np.asarray(array, dtype), dtype)


def rescaled(sums: relax.Expr, axis: int = -1, channels: int = 0, **options: Any) -> relax.Expr:
    """A requantize, with a factor for each channel if their number is given."""
    factor = np.geomspace(0.004, 0.3, channels) if channels else np.float64(0.01)
    multiplier, shift = numerics.fixed_point_parameters(factor)
    named = {"zero_point": 7, "axis": axis, "mode": "fixed_point", "dtype": "uint8", "qmin": 0, "qmax": 255} | options
    return ops.requantize(sums, const(multiplier), const(shift), **named)


def conv(x: relax.Expr, weight: tuple[int, ...], seed: int = 0, **options: Any) -> relax.Expr:
    """A convolution with random weights, in int32 sums."""
    operator = {3: op.nn.conv1d, 4: op.nn.conv2d, 5: op.nn.conv3d}[len(weight)]
    return operator(x, relax.const(codes_of("int8", weight, seed), "int8"), out_dtype="int32", **options)


def biased(sums: relax.Expr, shape: tuple[int, ...]) -> relax.Expr:
    return op.add(sums, const(np.random.default_rng(3).integers(-9999, 9999, shape)))


CONVOLUTIONS: dict[str, Case] = {
    "plain": ([X], lambda x: conv(x, (5, 6, 3, 3))),
    "rescaled": ([X], lambda x: rescaled(biased(conv(x, (5, 6, 3, 2), strides=[2, 1]), (1, 5, 1, 1)), 1, 5)),
    "signed": ([S], lambda x: rescaled(biased(conv(x, (5, 6, 3, 3)), (5, 1, 1)), dtype="int8", qmin=-127, qmax=100)),
    "two roundings": ([X], lambda x: rescaled(conv(x, (9, 6, 1, 1)), 1, 9, rounding="DOUBLE")),
    "pointwise": ([X], lambda x: rescaled(conv(x, (9, 6, 1, 1)), 1, 9, rounding="TONEAREST")),
    "dilated": ([X], lambda x: conv(x, (4, 6, 3, 2), dilation=[2, 3])),
    "grouped": ([X], lambda x: conv(x, (4, 3, 3, 3), groups=2)),
    "depthwise": ([S], lambda x: rescaled(conv(x, (6, 1, 3, 3), groups=6), 1, 6)),
    "depthwise in place": (
        [S],
        lambda x: rescaled(conv(op.nn.pad(op.flip(x, 2), [0] * 4 + [1] * 4, "constant", -3.0), (6, 1, 3, 3), groups=6),
                           1, 6, dtype="int8", qmin=-127, qmax=100),
    ),
    "multiplied": ([S], lambda x: conv(x, (12, 1, 3, 3), groups=6, strides=[1, 3])),
    "zeros around": ([X], lambda x: conv(x, (4, 6, 3, 3), padding=[1, 2, 0, 1])),
    "border": ([X], lambda x: rescaled(biased(conv(padded(x, 131), (5, 6, 3, 3)), (1, 5, 1, 1)), 1, 5)),
    "border, strides": ([S], lambda x: conv(padded(x, -128), (4, 6, 4, 5), strides=[3, 2], dilation=[2, 1])),
    "border all over": ([S], lambda x: conv(padded(x, 5, 9), (3, 6, 3, 3), strides=[7, 8])),
    "line": ([X.reshape(2, 6, 63)], lambda x: rescaled(conv(x, (4, 6, 5), strides=[3]), 1, 4)),
    "long line": (
        [codes_of("uint8", (1, 2, 201))],
        lambda x: conv(op.nn.pad(x, [0] * 4 + [3, 2], "constant", 9.0), (3, 2, 4)),
    ),
    "volume": ([codes_of("uint8", (1, 2, 4, 5, 3))], lambda x: conv(x, (3, 2, 2, 3, 2), strides=[1, 2, 1])),
    "wide": ([codes_of("int16", (1, 3, 5, 4)) // 64], lambda x: conv(x, (4, 3, 3, 3))),
    "bias that is no bias": ([X], lambda x: op.add(conv(x, (5, 6, 7, 9)), const(np.arange(10).reshape(2, 5, 1, 1)))),
    "dense": ([X.reshape(12, 63)], lambda x: rescaled(biased(op.matmul(x, weight(63, 10), "int32"), (10,)), 1, 10)),
    "dense, sums": ([S.reshape(3, 4, 63)], lambda x: op.matmul(x, weight(63, 5), "int32")),
    "vector": ([X.reshape(756)], lambda x: op.matmul(x, weight(756, 3), "int32")),
    "computed": (
        [X.reshape(2, 6, 63), S.reshape(2, 63, 6)],
        lambda a, b: rescaled(ops.matmul(a, b, a_zero=3, b_zero=-9), 2, 6),
    ),
    "broadcast": ([X.reshape(2, 1, 6, 63), S.reshape(2, 63, 6)], lambda a, b: ops.matmul(a, b, a_zero=255, b_zero=0)),
    "long rows": ([X.reshape(6, 126), codes_of("int8", (126, 70))], lambda a, b: op.matmul(a, b, "int32")),
}  # fmt: skip


def padded(x: relax.Expr, code: int, more: int = 0) -> relax.Expr:
    return op.nn.pad(x, [0, 0, 0, 0, 2 + more, 1 + more, 1, 3 + more], "constant", float(code))


def weight(*shape: int) -> relax.Expr:
    return relax.const(codes_of("int8", shape, 4), "int8")


POOLS: dict[str, Case] = {
    "max": ([X], lambda x: op.nn.max_pool2d(x, (3, 2), (2, 1), (1, 0), layout="NCHW")),
    "max, rounded up": ([S], lambda x: op.nn.max_pool2d(x, (3, 3), (2, 2), (0, 1, 1, 0), ceil_mode=True)),
    "max, dilated": ([S], lambda x: op.nn.max_pool2d(x, (2, 3), (1, 1), (1, 1), (2, 3))),
    "max of a line": ([X.reshape(2, 6, 63)], lambda x: op.nn.max_pool1d(x, 4, 3, (1, 2))),
    "max of a volume": ([X.reshape(1, 2, 6, 7, 9)], lambda x: op.nn.max_pool3d(x, (2, 2, 3), (1, 2, 3))),
    "mean of windows": (
        [X],
        lambda x: rescaled(ops.sum_pool(x, kernel=[3, 2], strides=[2, 2], padding=[1, 0, 1, 1], zero_point=9)),
    ),
    "mean of even parts": ([S], lambda x: rescaled(ops.adaptive_sum_pool(x, out_size=[3, 4], zero_point=-5))),
    "mean": ([X], lambda x: rescaled(ops.sum(x, axes=[2, 3], keepdims=True, zero_point=131), 1, 6)),
    "mean, cut": ([X], lambda x: rescaled(ops.sum(x, axes=[2, 3], keepdims=False, zero_point=131), 1, 6)),
    "mean of rows": ([S], lambda x: rescaled(ops.sum(x, axes=[3], keepdims=False, zero_point=0), 1, 6)),
    "largest": ([X], lambda x: op.max(x, axis=[1, 3])),
    "largest, kept": ([S], lambda x: op.max(x, axis=[2], keepdims=True)),
    "least of all": ([S], lambda x: op.min(x)),
    "sum that wraps": ([I], lambda x: op.sum(x, axis=[1])),
    "masked mean": (
        [X.reshape(2, 6, 63), np.int64(X[:, :, :1, 0] > 100)],
        lambda x, m: ops.masked_mean(x, m, axis=1, multiplier=2**30 + 7, shift=1, x_zero=9, zero_point=-3,
                                     dtype="int16", qmin=-500, qmax=500),
    ),
    "softmax": ([W], lambda x: softmax(x, -1)),
    "softmax of sums": ([I], lambda x: softmax(x, 0, 1e-9)),
    "layer norm": ([W], lambda x: layer_norm(x, True)),
    "rms norm": ([X.reshape(12, 63)], lambda x: layer_norm(x, False)),
}  # fmt: skip


def softmax(x: relax.Expr, axis: int, scale: float = 0.001) -> relax.Expr:
    params = numerics.integer_softmax_params(scale, 1 / 255)._asdict()
    return ops.integer_softmax(x, **params, zero_point=0, dtype="uint8", qmin=0, qmax=255, axis=axis)


def layer_norm(x: relax.Expr, centred: bool) -> relax.Expr:
    size = int(x.ty.shape[-1])
    random = np.random.default_rng(size)
    gamma, beta = random.normal(size=size), random.normal(size=size)
    params = numerics.integer_layer_norm_params(0.01, gamma, beta, 0.02, epsilon=1e-5)
    named = {"epsilon": params.epsilon, "shift": params.shift, "centred": centred, "x_zero": 0 if centred else 100}
    rest = {"zero_point": 3, "dtype": "int8", "qmin": -128, "qmax": 127}
    return ops.integer_layer_norm(x, const(params.multiplier), const(params.offset, "int64"), **named, **rest)


MOVES: dict[str, Case] = {
    "reshape": ([X], lambda x: op.reshape(x, (12, 63))),
    "flatten": ([X], lambda x: op.flatten(x)),
    "squeeze": ([X[:1]], lambda x: op.squeeze(x, [0])),
    "expand": ([X], lambda x: op.expand_dims(x, [1])),
    "transpose": ([X], lambda x: op.permute_dims(x, [0, 2, 3, 1])),
    "reversed axes": ([I], lambda x: op.permute_dims(x)),
    "broadcast": ([X[:, :, :1, :1]], lambda x: op.broadcast_to(x, (2, 6, 3, 4))),
    "tile": ([I], lambda x: op.tile(x, (2, 1, 3))),
    "repeat": ([I], lambda x: op.repeat(x, 3, 1)),
    "flip": ([X], lambda x: op.flip(x, 2)),
    "slice": ([X], lambda x: op.strided_slice(x, [1, 3], [1, 2], [6, 9], [2, 3])),
    "backward": ([S], lambda x: op.strided_slice(x, [2], [5], [-9], [-2])),
    "split": ([X], lambda x: op.split(x, [1, 4], 1)),
    "halves": ([W], lambda x: op.split(x, 2, 1)),
    "concat": ([X, X[:, :2] // 2], lambda a, b: op.concat([a, b], 1)),
    "concat, last": ([W, W[:, :3]], lambda a, b: op.concat([a, b], -1)),
    "stack": ([I, I // 2], lambda a, b: op.stack([a, b], 1)),
    "pad": ([S], lambda x: op.nn.pad(x, [0, 0, 1, 0, 2, 1, 0, 3], "constant", -9.0)),
    "reflect": ([S], lambda x: op.nn.pad(x, [0, 0, 0, 0, 2, 1, 3, 3], "reflect")),
    "replicate": ([X], lambda x: op.nn.pad(x, [0, 0, 1, 0, 2, 1, 0, 3], "replicate")),
    "resize": ([X], lambda x: nearest(x)),
    "rows": ([X], lambda x: op.take(x, const([5, -1, 0, 5], "int64"), 1)),
    "computed rows": (
        [W, np.int64([[0, 2, -1], [5, -7, 1]])],
        lambda x, i: op.take(x, op.add(i, const(0, "int64")), 0),
    ),
    "clipped rows": ([W, np.int64([-3, 9, 1])], lambda x, i: op.take(x, op.add(i, const(0, "int64")), 1, mode="clip")),
    "elements": ([W, np.int64([[0, -1], [7, 9]])], lambda x, i: op.gather_elements(x, op.add(i, const(0, "int64")), 1)),
}


def nearest(x: relax.Expr) -> relax.Expr:
    named = {"layout": "NCHW", "method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    return op.image.resize2d(x, (14, 27), **named, rounding_method="floor")


ARITHMETIC: dict[str, Case] = {
    "add": ([I, I[:, ::-1]], lambda a, b: op.add(a, b)),
    "subtract": ([I, I[:1]], lambda a, b: op.subtract(b, a)),
    "multiply": ([I, I[:, :1]], lambda a, b: op.multiply(a, b)),
    "add bytes": ([X, X[::-1]], lambda a, b: op.add(a, b)),
    "maximum": ([S, S[:1, :, ::-1]], lambda a, b: op.maximum(a, b)),
    "minimum": ([X], lambda a: op.minimum(a, const(100, "uint8"))),
    "relu": ([S], lambda a: op.nn.relu(a)),
    "clip": ([S], lambda a: op.clip(a, -5, 100)),
    "where": ([X, S, S[::-1]], lambda c, a, b: op.where(op.less(c, const(99, "uint8")), a, b)),
    "equal": ([W, W[:, ::-1]], lambda a, b: op.equal(a, b)),
    "not equal": ([W, W[:, ::-1]], lambda a, b: op.not_equal(a, b)),
    "greater": ([I, I[::-1]], lambda a, b: op.greater(a, b)),
    "greater, equal": ([I, I[::-1]], lambda a, b: op.greater_equal(a, b)),
    "less, equal": ([I, I[::-1]], lambda a, b: op.less_equal(a, b)),
    "logic": ([I, W[:2, :3]], lambda a, b: op.logical_or(op.astype(a, "bool"), op.logical_not(op.astype(b, "bool")))),
    "bits": ([I, I[::-1]], lambda a, b: op.bitwise_xor(op.bitwise_and(a, b), op.bitwise_or(b, const(3)))),
    "negative": ([I], lambda a: op.negative(a)),
    "absolute": ([S, I], lambda a, b: op.concat([op.astype(op.abs(a), "int32"), spread(op.abs(b))], 0)),
    "one number": ([S], lambda a: op.maximum(a, op.full_like(a, const(-3, "int8")))),
    "cast": ([I], lambda a: op.astype(a, "int8")),
    "wider": ([S], lambda a: op.astype(a, "int64")),
    "mask": ([I, np.int64([[1, 0, -5]])], lambda a, m: ops.add_mask(a, m, multiplier=2**40, offset=-(2**39))),
    "chain": ([X, X[::-1]], lambda a, b: table(rescaled(ops.multiply(a, b, a_zero=7, b_zero=200), 1, 6))),
    "twice": ([S], lambda a: op.add(op.nn.relu(a), op.nn.relu(a))),
}


def spread(x: relax.Expr) -> relax.Expr:
    return op.broadcast_to(op.reshape(op.max(x), (1, 1, 1, 1)), (1, 6, 7, 9))


def table(x: relax.Expr) -> relax.Expr:
    return ops.table(x, relax.const(np.random.default_rng(5).permutation(256).astype(np.uint8)), function="shuffle")


# Parts of names of cases that C has no operator for
ABSENT = ("unpack", "_float", "tensor_scatter")


def own_cases() -> dict[str, Case]:
    """Cases of the operators of numerics that read and give integers, and that C has."""
    found = {}
    for name, case in CASES.items():
        results = case.expected(*case.inputs.values())
        types = [array.dtype.name for array in (*case.inputs.values(), results)]
        if all(dtype in NAMES for dtype in types) and not any(word in name for word in ABSENT):
            found[name] = (list(case.inputs.values()), case.call)
        if name.startswith(("conv_transpose", "integer_layer_norm")):
            x, *rest = case.inputs.values()
            found[name] = ([x], lambda x, call=case.call, rest=rest: call(x, *map(make_const, rest)))
    return found


FAMILIES = {"convolutions": CONVOLUTIONS, "pools": POOLS, "moves": MOVES, "arithmetic": ARITHMETIC, "own": own_cases()}


def module_of(cases: dict[str, Case]) -> tuple[Any, list[np.ndarray], list[str]]:
    """All cases in one core, their inputs, and whose result each is."""
    inputs = {f"x{i}": np.ascontiguousarray(a) for i, a in enumerate(a for given, _ in cases.values() for a in given)}
    names: list[str] = []

    def build(builder: relax.BlockBuilder, *params: relax.Var) -> list[relax.Expr]:
        left, results = list(params), []
        for name, (given, call) in cases.items():
            own, left = left[: len(given)], left[len(given) :]
            made = builder.emit(call(*own))
            parts = [made] if isinstance(made.ty, relax.TensorType) else [made[i] for i in range(len(made.ty.fields))]
            results += [builder.emit(part) for part in parts]
            names.extend([name] * len(parts))
        return results

    return core_of(inputs, build), list(inputs.values()), names


@pytest.mark.slow_cases("convolutions", "own")
@pytest.mark.parametrize("family", FAMILIES)
def test_equal_to_the_definition(family: str, tmp_path: Path) -> None:
    assert_equal(FAMILIES[family], tmp_path, "gcc", ("-O0", *SANITIZED))


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("clang"), reason="needs clang")
@pytest.mark.parametrize("family", FAMILIES)
def test_with_clang_and_full_optimization(family: str, tmp_path: Path) -> None:
    assert_equal(FAMILIES[family], tmp_path, "clang", ("-O3", *SANITIZED))
    assert_equal(FAMILIES[family], tmp_path, "gcc", ("-O3", "-march=native"))
    assert_equal(FAMILIES[family], tmp_path, "gcc", ("-Os", "-fno-inline"))


def assert_equal(cases: dict[str, Case], folder: Path, compiler: str, flags: tuple[str, ...]) -> None:
    module, codes, names = module_of(cases)
    export = export_c(module, folder, name="cases")
    wanted = wanted_of(module, codes)
    values, differing = run_program(export, [(codes, wanted)], compiler, flags)
    assert values == sum(array.size for array in wanted)
    if differing:
        found = Native(export, compiler)(codes, wanted)
        wrong = {name for name, a, b in zip(names, found, wanted, strict=True) if not np.array_equal(a, b)}
        raise AssertionError(f"{differing} of {values} values differ: {sorted(wrong)}")
