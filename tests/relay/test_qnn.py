"""relay.qnn.op, compiled, gives the numbers that NumPy counts; FakeQuantizationToInteger adopts the scales around floats.

The reference below knows nothing of tvmq: 64-bit integers, and Python's fractions for the factors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tvm_ffi

import tvmq
from tvmq import relay
from tvmq.errors import ModelError, RangeError, UnsupportedOpError
from tvmq.relay.op import registry

qnn, c = relay.qnn.op, relay.const
_RNG = np.random.default_rng(3)


def codes(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    return _RNG.integers(limits.min, limits.max + 1, size=shape).astype(dtype)


INPUTS = {
    "a": codes((1, 4, 5, 5), "uint8"),
    "b": codes((1, 4, 5, 5), "int8"),
    "rows": codes((3, 6), "int8"),
    "stack": codes((2, 3, 6), "uint8"),
    "sums": _RNG.integers(-40000, 40000, size=(2, 3, 7)).astype("int32"),
    "x": _RNG.normal(size=(3, 4)).astype("float32"),
    "kernel": codes((2, 4, 3, 3), "int8"),
    "spread": codes((4, 2, 2, 3), "int8"),
}
WEIGHT, UNSIGNED, LAST = codes((6, 4, 3, 3), "int8"), codes((6, 2, 3, 3), "uint8"), codes((3, 3, 4, 6), "int8")
TRANSPOSED, THICK = codes((4, 3, 3, 2), "int8"), codes((4, 2, 3, 3), "uint8")
DENSE, OTHER = codes((5, 6), "int8"), codes((2, 4, 6), "int8")
BOTH = np.array([*range(-12, 13)], "int32")


def multiply(values: np.ndarray, first: float, second: float, tonearest: bool = False) -> np.ndarray:
    """values times first / second as 31 bits and a power of two, halves up or away from zero."""
    return multiply_double(values, float(np.float32(first)) / float(np.float32(second)), tonearest)


def multiply_double(values: np.ndarray, factor: float, tonearest: bool = False) -> np.ndarray:
    """values times a factor as 31 bits and a power of two."""
    mantissa, exponent = math.frexp(factor)
    fixed = Fraction(math.floor(Fraction(mantissa) * 2**31 + Fraction(1, 2)), 2**31) * Fraction(2) ** exponent

    def one(value: int) -> int:
        exact = int(value) * fixed
        up = math.floor(abs(exact) + Fraction(1, 2)) if tonearest else math.floor(exact + Fraction(1, 2))
        return int(math.copysign(up, exact)) if tonearest else up

    return np.vectorize(one, otypes=[np.int64])(values)


def saturate(values: np.ndarray, dtype: str) -> np.ndarray:
    return np.clip(values, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def around(values: np.ndarray, zero: Any, axis: int = 0) -> np.ndarray:
    zero = np.asarray(zero, np.int64)
    shape = [1] * values.ndim
    shape[axis] = -1
    return values.astype(np.int64) - (zero.reshape(shape) if zero.ndim else zero)


def convolve(x: np.ndarray, w: np.ndarray, pad: int = 0, stride: int = 1, groups: int = 1) -> np.ndarray:
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, groups, 1), np.split(w, groups, 0), strict=True)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", a, b) for a, b in parts], 1).astype(np.int32)


def transpose_convolve(
    x: np.ndarray, w: np.ndarray, stride: int = 1, pad: int = 0, extra: int = 0, groups: int = 1
) -> np.ndarray:
    """Each code of x spread over the kernel, by loops."""
    (count, channels, *size), (_, filters, *kernel) = x.shape, w.shape
    full = [(n - 1) * stride + k + extra for n, k in zip(size, kernel, strict=True)]
    sums = np.zeros((count, filters * groups, *full), np.int64)
    for c in range(channels):
        first = c * groups // channels * filters
        for i in range(size[0]):
            for j in range(size[1]):
                part = x[:, c, i, j][:, None, None, None] * w[c][None]
                rows, cols = (slice(at * stride, at * stride + k) for at, k in zip((i, j), kernel, strict=True))
                sums[:, first : first + filters, rows, cols] += part
    return sums[:, :, pad : full[0] - pad, pad : full[1] - pad].astype(np.int32)


def leak(v: np.ndarray, alpha: float, first: tuple[float, int], second: tuple[float, int]) -> np.ndarray:
    steps = multiply(around(v, first[1]), first[0], second[0]) + second[1]
    negative = multiply_double(steps, alpha) + multiply_double(np.array(second[1]), 1 - alpha)
    return saturate(np.where(v < first[1], negative, steps), str(v.dtype))


def apply_function(function: Callable[[np.ndarray], np.ndarray], zero: int = 3) -> Callable[[dict[str, Any]], np.ndarray]:
    """Codes that an elementwise operator gives, in float64 and rounded to float32 before it is quantized."""

    def expected(v: dict[str, Any]) -> np.ndarray:
        real = (around(v["b"], zero).astype("float32") * np.float32(0.03)).astype("float64")
        with np.errstate(all="ignore"):
            steps = np.rint(np.nan_to_num(function(real).astype("float32") / np.float32(0.02), nan=-1e9))
        return saturate(np.clip(steps, -1000, 1000).astype(int) - 7, "int8")

    return expected


def add_codes(a: np.ndarray, b: np.ndarray, sign: int) -> np.ndarray:
    left, right = multiply(around(a, 100), 0.11, 0.3), multiply(around(b, -5), 0.27, 0.3)
    return left + sign * right


PAIR = (c(0.11), c(100), c(0.27), c(-5), c(0.3), c(9))
V = dict[str, Any]
Case = tuple[Callable[[V], Any], Callable[[V], np.ndarray]]
CASES: dict[str, Case] = {
    "quantize": (
        lambda v: qnn.quantize(v["x"], c(0.02), c(3), out_dtype="uint8"),
        lambda v: saturate(np.rint(v["x"] / np.float32(0.02)).astype(int) + 3, "uint8"),
    ),
    "quantize, channels": (
        lambda v: qnn.quantize(v["x"], c(np.float32([0.1, 0.2, 0.3, 0.5])), c([0, 1, -2, 3]), axis=-1),
        lambda v: saturate(np.rint(v["x"] / np.float32([0.1, 0.2, 0.3, 0.5])).astype(int) + [0, 1, -2, 3], "int8"),
    ),
    "dequantize": (
        lambda v: qnn.dequantize(v["a"], c(0.3), c(9)),
        lambda v: around(v["a"], 9).astype("float32") * np.float32(0.3),
    ),
    "dequantize, channels": (
        lambda v: qnn.dequantize(v["sums"], c(np.float32([0.1, 0.2, 0.3])), c(0), axis=1),
        lambda v: v["sums"].astype("float32") * np.float32([0.1, 0.2, 0.3]).reshape(1, 3, 1),
    ),
    "conv2d": (
        lambda v: qnn.conv2d(v["a"], c(WEIGHT), c(7), c(0), c(0.1), c(0.2), (3, 3), 6, padding=1),
        lambda v: convolve(around(v["a"], 7), around(WEIGHT, 0), pad=1),
    ),
    "conv2d, weights in uint8 with a zero point each, groups": (
        lambda v: qnn.conv2d(
            v["b"], c(UNSIGNED), c(-4), c([128, 129, 120, 0, 255, 7]), c(0.1), c(0.2), 3, 6, strides=2, groups=2
        ),
        lambda v: convolve(around(v["b"], -4), around(UNSIGNED, [128, 129, 120, 0, 255, 7]), stride=2, groups=2),
    ),
    "conv2d, channels last": (
        lambda v: relay.transpose(
            qnn.conv2d(
                relay.transpose(v["a"], (0, 2, 3, 1)),
                c(LAST),
                c(7),
                c(0),
                c(0.1),
                c(0.2),
                (3, 3),
                6,
                padding=(1, 1),
                data_layout="NHWC",
                kernel_layout="HWIO",
            ),
            (0, 3, 1, 2),
        ),
        lambda v: convolve(around(v["a"], 7), around(LAST.transpose(3, 2, 0, 1), 0), pad=1),
    ),
    "conv2d, a kernel that is an input": (
        lambda v: qnn.conv2d(v["a"], v["kernel"], c(7), c(0), c(0.1), c(0.2), (3, 3), None, padding=1),
        lambda v: convolve(around(v["a"], 7), around(v["kernel"], 0), pad=1),
    ),
    "conv2d, a kernel with a zero point that is an input": (
        lambda v: qnn.conv2d(v["a"], v["kernel"], c(0), c(5), c(0.1), c(0.2), (3, 3), 2),
        lambda v: convolve(around(v["a"], 0), around(v["kernel"], 5)),
    ),
    "conv2d_transpose": (
        lambda v: qnn.conv2d_transpose(
            v["a"], c(TRANSPOSED), c(7), c(0), c(0.1), c(0.2), (2, 2), 1, channels=3, kernel_size=(3, 2), output_padding=1
        ),
        lambda v: transpose_convolve(around(v["a"], 7), around(TRANSPOSED, 0), 2, 1, 1),
    ),
    "conv2d_transpose, weights with zero points that leave int8": (
        lambda v: qnn.conv2d_transpose(v["b"], c(THICK), c(-4), c([0, 255]), c(0.1), c(0.2), strides=2),
        lambda v: transpose_convolve(around(v["b"], -4), around(THICK, [0, 255], 1), 2),
    ),
    "conv2d_transpose, groups, channels last": (
        lambda v: relay.transpose(
            qnn.conv2d_transpose(
                relay.transpose(v["a"], (0, 2, 3, 1)),
                c(THICK.transpose(2, 3, 1, 0)),
                c(9),
                c(130),
                c(0.1),
                c(0.2),
                groups=2,
                data_layout="NHWC",
                kernel_layout="HWOI",
            ),
            (0, 3, 1, 2),
        ),
        lambda v: transpose_convolve(around(v["a"], 9), around(THICK, 130), groups=2),
    ),
    "conv2d_transpose, a kernel that is an input": (
        lambda v: qnn.conv2d_transpose(v["a"], v["spread"], c(7), c(0), c(0.1), c(0.2), groups=2),
        lambda v: transpose_convolve(around(v["a"], 7), around(v["spread"], 0), groups=2),
    ),
    "dense": (
        lambda v: qnn.dense(v["rows"], c(DENSE), c(-3), c(0), c(0.1), c(0.2), 5),
        lambda v: (around(v["rows"], -3) @ around(DENSE, 0).T).astype("int32"),
    ),
    "dense, weights with zero points that leave int8": (
        lambda v: qnn.dense(v["rows"], c(DENSE), c(-3), c([1, -100, 100, 0, 3]), c(0.1), c(0.2), 5),
        lambda v: (around(v["rows"], -3) @ around(DENSE, [1, -100, 100, 0, 3]).T).astype("int32"),
    ),
    "batch_matmul": (
        lambda v: qnn.batch_matmul(v["stack"], c(OTHER), c(128), c(4), c(0.1), c(0.2)),
        lambda v: (around(v["stack"], 128) @ around(OTHER, 4).swapaxes(1, 2)).astype("int32"),
    ),
    "requantize, ties up": (
        lambda v: qnn.requantize(c(BOTH), c(0.25), c(0), c(1.0), c(1)),
        lambda v: saturate(np.floor(BOTH / 4 + 0.5).astype(int) + 1, "int8"),
    ),
    "requantize, ties away": (
        lambda v: qnn.requantize(c(BOTH), c(0.25), c(2), c(1.0), c(0), rounding="TONEAREST", out_dtype="uint8"),
        lambda v: saturate(multiply(BOTH - 2, 0.25, 1.0, tonearest=True), "uint8"),
    ),
    "requantize, ties up again": (
        lambda v: qnn.requantize(v["sums"], c(0.013), c(11), c(1.7), c(-4), rounding="UPWARD"),
        lambda v: saturate(multiply(around(v["sums"], 11), 0.013, 1.7) - 4, "int8"),
    ),
    "requantize, channels": (
        lambda v: qnn.requantize(v["sums"], c(np.float32([0.01, 0.02, 0.5])), c(0), c(1.3), c(7), axis=1),
        lambda v: saturate(
            np.stack([multiply(v["sums"][:, i], s, 1.3) for i, s in enumerate([0.01, 0.02, 0.5])], 1) + 7, "int8"
        ),
    ),
    "requantize, the last axis has zero points": (
        lambda v: qnn.requantize(v["rows"], c(np.float32([1, 2, 3, 4, 5, 6])), c([1, 2, 3, 4, 5, 6]), c(2.0), c(0)),
        lambda v: saturate(
            np.stack([multiply(around(v["rows"][:, i], i + 1), i + 1.0, 2.0) for i in range(6)], 1), "int8"
        ),
    ),
    "requantize, codes to int32": (
        lambda v: qnn.requantize(v["a"], c(0.3), c(9), c(0.0004), c(5), out_dtype="int32"),
        lambda v: (multiply(around(v["a"], 9), 0.3, 0.0004) + 5).astype("int32"),
    ),
    "add": (lambda v: qnn.add(v["a"], v["b"], *PAIR), lambda v: saturate(add_codes(v["a"], v["b"], 1) + 9, "uint8")),
    "subtract": (
        lambda v: qnn.subtract(v["a"], v["b"], *PAIR),
        lambda v: saturate(add_codes(v["a"], v["b"], -1) + 9, "uint8"),
    ),
    "mul": (
        lambda v: qnn.mul(v["b"], v["a"], c(0.11), c(100), c(0.27), c(-5), c(12.0), c(9)),
        lambda v: saturate(
            multiply(around(v["b"], 100) * around(v["a"], -5), float(np.float32(0.11) * np.float32(0.27)), 12.0) + 9,
            "int8",
        ),
    ),
    "concatenate": (
        lambda v: qnn.concatenate([v["a"], v["a"]], [c(0.3), c(0.6)], [c(3), c(2)], c(0.6), c(2), axis=1),
        lambda v: np.concatenate([saturate(multiply(around(v["a"], 3), 0.3, 0.6) + 2, "uint8"), v["a"]], 1),
    ),
    "leaky_relu": (
        lambda v: qnn.leaky_relu(v["b"], 0.3, c(0.11), c(10), c(0.07), c(-6)),
        lambda v: leak(v["b"], 0.3, (0.11, 10), (0.07, -6)),
    ),
    "leaky_relu, the same scale": (
        lambda v: qnn.leaky_relu(v["a"], 0.01, c(0.11), c(128), c(0.11), c(128)),
        lambda v: leak(v["a"], 0.01, (0.11, 128), (0.11, 128)),
    ),
    "simulated_quantize": (
        lambda v: qnn.simulated_quantize(v["x"], c(np.float32([0.1, 0.2, 0.3, 0.5])), c([0, 1, -2, 3])),
        lambda v: np.rint(v["x"] / np.float32([0.1, 0.2, 0.3, 0.5])).clip(-128, 127) + np.float32([0, 1, -2, 3]),
    ),
    "simulated_dequantize": (
        lambda v: qnn.simulated_dequantize(v["x"], c(np.float32([0.1, 0.2, 0.3])), c([0, 1, -2]), axis=0),
        lambda v: (v["x"] - np.float32([[0], [1], [-2]])) * np.float32([[0.1], [0.2], [0.3]]),
    ),
    "simulated, disabled": (
        lambda v: qnn.simulated_dequantize(
            qnn.simulated_quantize(v["x"], c(0.1), c(0), out_dtype="disable"), c(0.1), c(0), in_dtype="disable"
        ),
        lambda v: v["x"],
    ),
}
ELEMENTWISE = {
    "abs": abs, "erf": np.vectorize(math.erf), "exp": np.exp, "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "log": np.log, "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sqrt": np.sqrt,
    "tanh": np.tanh,
}  # fmt: skip
CASES |= {
    name: (lambda v, name=name: getattr(qnn, name)(v["b"], c(0.03), c(3), c(0.02), c(-7)), apply_function(function))
    for name, function in ELEMENTWISE.items()
}


@pytest.fixture(scope="module")
def mod() -> relay.IRModule:
    """All cases in one module."""
    variables = {name: relay.var(name, shape=a.shape, dtype=str(a.dtype)) for name, a in INPUTS.items()}
    body = relay.Tuple([case(variables) for case, _ in CASES.values()])
    return relay.IRModule.from_expr(relay.Function([*variables.values()], body))


@pytest.fixture(scope="module")
def reference_results(mod) -> dict[str, np.ndarray]:
    return dict(zip(CASES, tvmq.reference.run(mod.relax, INPUTS), strict=True))


@pytest.fixture(scope="module")
def compiled_results(mod) -> dict[str, np.ndarray]:
    return dict(zip(CASES, tvmq.build(mod, "llvm -opt-level=0").run(INPUTS), strict=True))


@pytest.mark.parametrize("kind", ["compiled_results", pytest.param("reference_results", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_operators_give_what_numpy_counts(request, kind, name):
    found, expected = request.getfixturevalue(kind)[name], CASES[name][1](INPUTS)
    assert found.dtype == expected.dtype and np.array_equal(found, expected)


def test_every_operator_has_a_case(mod):
    assert {name for name in registry.names() if name.startswith("qnn.")} <= set(relay.testing.count_ops(mod["main"]))


def test_texts_of_quantized_models_are_read_and_written(mod):
    pytest.importorskip("lark")
    assert tvm_ffi.structural_equal(relay.parse(mod.astext()).relax["main"], mod.relax["main"])


S, X8 = relay.var("s", shape=(), dtype="float32"), relay.var("x", shape=(2,), dtype="int8")
W4 = relay.var("w", shape=(1, 1, 1, 1), dtype="int8")


@pytest.mark.parametrize("make, error, message", [
    (lambda: qnn.dequantize(X8, S, c(0)), UnsupportedOpError, "qnn.dequantize: a value found at run time"),
    (lambda: qnn.quantize(S, c(0.1), c(0), out_dtype="int32"), UnsupportedOpError, "use int8, uint8, int16"),
    (lambda: qnn.requantize(X8, c(0.1), c(0), c(0.2), c(0), compute_dtype="float32"), UnsupportedOpError, "exact in int64"),
    (lambda: qnn.requantize(X8, c(0.1), c(0), c(0.2), c(0), rounding="UP"), UnsupportedOpError, "use UPWARD or TONEAREST"),
    (lambda: qnn.requantize(X8, c(-0.1), c(0), c(0.2), c(0)), RangeError, "-0.5"),
    (lambda: qnn.add(X8, X8, c([0.1, 0.2]), c(0), c(0.1), c(0), c(0.2), c(0)), UnsupportedOpError, "qnn.add: 2 scales or zero points"),
    (lambda: qnn.conv2d(W4, W4, c(0), c(0), c(0.1), c(0.1), 1, 1, out_dtype="int16"), UnsupportedOpError, "sums are int32"),
    (lambda: qnn.dense(c(np.int16([[1]])), c(np.int8([[1]])), c(0), c(0), c(0.1), c(0.1), 1), UnsupportedOpError, "int16 is not"),
    (lambda: qnn.dequantize(X8, c([0.1, 0.2, 0.3]), c(0)), ModelError, "3 scales or zero points for an axis of 2"),
    (lambda: qnn.requantize(X8, c([0.1, 0.2]), c([1, 2, 3]), c(0.2), c(0)), ModelError, "qnn.requantize"),
    (lambda: qnn.conv2d(W4, W4, c(300), c(0), c(0.1), c(0.1), 1, 1), ModelError, "zero point 300 is no int8"),
    (lambda: qnn.dense(X8, X8, c(-129), c(0), c(0.1), c(0.1), 1), ModelError, "zero point -129 is no int8"),
    (lambda: qnn.conv2d(W4, W4, c(0), c(0), c(0.1), c(0.1), 1, 2), ModelError, "channels=2"),
    (lambda: qnn.conv2d_transpose(W4, W4, c(0), c(0), c(0.1), c(0.1), channels=2), ModelError, "channels=2"),
    (lambda: qnn.conv2d_transpose(c(np.zeros((1, 2, 1, 1), "int8")), c(np.zeros((2, 1, 1, 1), "int8")), c(0), c([0, 1]), c(0.1), c(0.1), groups=2), UnsupportedOpError, "zero points for each channel with groups"),
    (lambda: qnn.sigmoid(c(np.int16([1])), c(0.1), c(0), c(0.1), c(0)), UnsupportedOpError, "qnn.sigmoid: int16 is not supported; use codes of 8 bits"),
    (lambda: qnn.tanh(X8, c([0.1, 0.2]), c(0), c(0.1), c(0)), UnsupportedOpError, "qnn.tanh: 2 scales or zero points"),
    (lambda: qnn.leaky_relu(X8, -0.1, c(0.1), c(0), c(0.1), c(0)), RangeError, "-0.1"),
    (lambda: qnn.simulated_quantize(S, c(0.1), c(0), out_dtype="int32"), UnsupportedOpError, "use int8, uint8, int16"),
])  # fmt: skip
def test_what_is_not_computed_is_one_sentence(make, error, message):
    with pytest.raises(error, match=message):
        _ = make().checked_type


@pytest.mark.parametrize("name", ["softmax", "avg_pool2d", "contrib_dense_pack"])
def test_other_names_say_the_way_round(name):
    with pytest.raises(AttributeError, match=r"relay\.transform\.FakeQuantizationToInteger|relay\.qnn\.op\.dense"):
        getattr(relay.qnn.op, name)


# ---- fake quantization


def fake_quantized_network(x: Any) -> Any:
    """relu(conv2d(x)) and its mean, in floats between codes."""
    data = qnn.dequantize(qnn.quantize(x, c(0.05), c(128), out_dtype="uint8"), c(0.05), c(128))
    weight = qnn.dequantize(c(WEIGHT), c(np.float32(np.linspace(0.01, 0.02, 6))), c(0), axis=0)
    act = relay.nn.relu(relay.nn.conv2d(data, weight, padding=1))
    return qnn.dequantize(qnn.quantize(act, c(0.4), c(0), out_dtype="uint8"), c(0.4), c(0))


@pytest.fixture(scope="module")
def fake() -> relay.IRModule:
    x = relay.var("x", shape=(1, 4, 5, 5))
    return relay.IRModule.from_expr(relay.Function([x], fake_quantized_network(x)))


def test_floats_between_codes_become_integers(fake):
    mod = relay.transform.FakeQuantizationToInteger()(fake)
    assert isinstance(mod, relay.IRModule)
    assert "1 of 1 operators in int8" in str(tvmq.explain(mod.relax))
    x = _RNG.normal(scale=3, size=(1, 4, 5, 5)).astype("float32")
    data = np.clip(np.rint(x / np.float32(0.05)) + 128, 0, 255).astype(int) - 128
    scale = np.float32(np.linspace(0.01, 0.02, 6)).astype(np.float64) * np.float32(0.05)
    exact = convolve(data, around(WEIGHT, 0), pad=1) * scale.reshape(1, 6, 1, 1) / np.float64(np.float32(0.4))
    away = abs(exact % 1 - 0.5) > 1e-3  # at a tie float32 may fall to either side
    expected = np.clip(np.rint(exact), 0, 255).astype("float32") * np.float32(0.4)
    found = tvmq.reference.run(mod.relax, {"x": x})[0]
    assert away.mean() > 0.9 and np.array_equal(found[away], expected[away])


def test_multipliers_and_shifts_requantize_where_the_options_say_so(fake):
    x = _RNG.normal(scale=3, size=(1, 4, 5, 5)).astype("float32")
    with tvmq.qconfig(requantize="fixed_point"):
        mod = relay.transform.FakeQuantizationToInteger()(fake)
    assert "fixed_point" in mod.relax.script()
    data = np.clip(np.rint(x / np.float32(0.05)) + 128, 0, 255).astype(int) - 128
    sums = convolve(data, around(WEIGHT, 0), pad=1)
    factors = np.float32(np.linspace(0.01, 0.02, 6)).astype(float) * np.float32(0.05) / np.float64(np.float32(0.4))
    exact = np.clip(sums * factors.reshape(1, 6, 1, 1), 0, 255)
    found = tvmq.reference.run(mod.relax, {"x": x})[0] / np.float32(0.4)
    assert abs(found - exact).max() < 0.501


def test_a_module_without_scales_stays_as_it_is():
    x = relay.var("x", shape=(2,))
    mod = relay.IRModule.from_expr(relay.nn.relu(x))
    after = relay.transform.FakeQuantizationToInteger()(mod)
    assert tvm_ffi.structural_equal(after.relax["main"], mod.relax["main"])


def fake_quantized(out: Any) -> relay.IRModule:
    """An operator of x, in floats between codes."""
    codes_of = qnn.quantize(out(qnn.dequantize(X8, c(0.5), c(0))), c(0.01), c(0))
    return relay.IRModule.from_expr(relay.Function([X8], codes_of))


def test_what_stays_float_is_an_error_where_it_is_asked_for():
    hard = relay.transform.FakeQuantizationToInteger(hard_fail=True, use_qat=True)
    assert "tvmq.table" in hard(fake_quantized(relay.sigmoid)).relax.script()
    with pytest.raises(RuntimeError, match="hard_fail, and float stays 'softmax_0', .*integer_softmax=True"):
        hard(fake_quantized(relay.nn.softmax))
    relay.transform.FakeQuantizationToInteger()(fake_quantized(relay.nn.softmax))


def test_optional_operators_are_refused():
    with pytest.raises(UnsupportedOpError, match="optional_qnn_ops=.*nn.softmax.* is not supported; leave it out"):
        relay.transform.FakeQuantizationToInteger(optional_qnn_ops=["nn.softmax"])
