"""Single quantized operators as a device has them, in NumPy: arrays, scales and zero points in, codes out.

    operator              arrays              makes
    conv2d, depthwise     x, w, bias, scale_w sums of (x - x_zero) * w + bias, codes by x_scale * scale_w / y_scale
    dense                 x, w, bias, scale_w the same of matrices, w of shape (K, F)
    multiply              a, b                (a - a_zero) * (b - b_zero), requantized by a_scale * b_scale / y_scale
    average               x                   sums of x - x_zero, requantized by x_scale / (y_scale * count)
    requantize            acc, scale_w        codes of sums; scales as of a convolution
    add                   a, b                numerics.add
    maximum, pad, table   x (and values)      codes that are compared, moved and looked up
    quantize, dequantize  x                   numerics.quantize, numerics.dequantize

Sums are those of an integer module: codes times weights, the input's zero point folded into the bias. `fault` computes
the same operator with a known mistake, to recognize it in the answers of a device.

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmq import numerics
from tvmq.chips.emulation import sums
from tvmq.chips.emulation.add_forms import ADD_FORMS
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.numerics.requantize_rule import RequantizeRule, apply

Arrays = Mapping[str, np.ndarray]
Attributes = Mapping[str, Any]
# Fault -> what a device does that has it.
FAULTS = {
    "pads_with_0": "pads with the code 0 instead of the zero point",
    "no_input_zero": "leaves out the zero point of the input",
    "no_bias": "leaves out the bias",
    "flipped": "flips the kernel",
    "saturating_pairs": "adds pairs of products in 16 bits that saturate (vpmaddubsw)",
    "counts_padding": "counts padding as elements of an average",
    "unsigned_index": "looks up codes as unsigned bytes",
    "pool_from_0": "lets a maximum begin at 0",
    **{form: form for form in ADD_FORMS},
}


@dataclass(frozen=True, eq=False)
class OperatorResult:
    """Results of an operator.

    y         its result
    acc       the sums that became codes; None for operators that requantize nothing
    scale_w   of these sums beside x_scale, of a shape that broadcasts against them
    overflow  how many sums overflowed
    """

    y: np.ndarray
    acc: np.ndarray | None = None
    scale_w: np.ndarray | None = None
    overflow: int = 0


def make(operator: str, attributes: Attributes, arrays: Arrays, chip: Arithmetic, fault: str = "") -> OperatorResult:
    """The operator on a chip.

    attributes  x_scale, x_zero, y_scale, y_zero, dtype, qmin, qmax; strides, padding, dilation, kernel of windows
    fault       one of FAULTS; "" for none
    """
    return OPERATORS[operator](attributes, arrays, chip, fault)


def to_codes(a: Attributes, acc: np.ndarray, scale_w: np.ndarray, axis: int | None, chip: Arithmetic) -> np.ndarray:
    """Codes of sums of scale x_scale * scale_w; scale_w of shape () or (channels,)."""
    rule, scale_w = chip.rule or RequantizeRule(), (scale_w if axis is not None else np.reshape(scale_w, ()))
    factor = rule.factor(np.float32(a["x_scale"]), scale_w, np.float32(a["y_scale"]))
    return apply(
        rule, acc, factor, zero_point=a["y_zero"], axis=axis, divisor=np.float32(a["y_scale"]), dtype=a["dtype"],
        qmin=a["qmin"], qmax=a["qmax"],
    )  # fmt: skip


def _finish(
    a: Attributes, exact: np.ndarray, described: Callable[[], sums.Sums], offset: np.ndarray, scale_w: Any,
    axis: int, chip: Arithmetic,
) -> OperatorResult:  # fmt: skip
    """Sums in accumulators, plus a bias for each channel, requantized."""
    limit = 2 ** (chip.bias_bits - 1)
    shape = [1] * exact.ndim
    shape[axis] = -1
    bias = np.clip(offset, -limit, limit - 1).reshape(shape)
    narrow = chip.accumulator.overflow != "proved"
    total, left = described() if narrow else (np.asarray(exact, np.int64), np.zeros(exact.shape, bool))
    total = total + bias
    if narrow:
        total, again = sums.fit_sums(total, chip.accumulator)
        left = left | again
    acc = total.astype(np.int32)
    wide = np.broadcast_to(np.asarray(scale_w, np.float32).reshape(shape if np.size(scale_w) > 1 else ()), acc.shape)
    y = to_codes(a, acc, scale_w, axis if np.size(scale_w) > 1 else None, chip)
    return OperatorResult(y, acc, wide, int(left.sum()))


def conv2d(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Also depthwise and grouped."""
    x, w, zero = arrays["x"], arrays["w"], int(a["x_zero"])
    w = np.ascontiguousarray(w[..., ::-1, ::-1]) if fault == "flipped" else w
    padded = np.pad(x, [(0, 0), (0, 0), *_sides(a["padding"])], constant_values=0 if fault == "pads_with_0" else zero)
    options = {"strides": a["strides"], "padding": (0, 0, 0, 0), "dilation": a["dilation"], "groups": a["groups"]}
    exact = numerics.conv(padded, w, **options)
    if fault == "saturating_pairs":
        exact = _in_pairs(exact, padded, w, options)
    used_zero = 0 if fault == "no_input_zero" else zero
    offset = -used_zero * w.astype(np.int64).sum(axis=(1, 2, 3)) + _bias(arrays, fault)
    return _finish(
        a, exact, lambda: sums.conv(exact, padded, w, chip.accumulator, **options), offset, arrays["scale_w"], 1, chip
    )


def dense(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """A product with a constant matrix."""
    x, w = arrays["x"], arrays["w"]
    exact = numerics.matmul(x, w)
    if fault == "saturating_pairs":
        as_conv = {"strides": (1,), "padding": (0, 0), "dilation": (1,), "groups": 1}
        exact = _in_pairs(exact[..., None], x[..., None], w.T[..., None], as_conv)[..., 0]
    used_zero = 0 if fault == "no_input_zero" else int(a["x_zero"])
    offset = -used_zero * w.astype(np.int64).sum(axis=0) + _bias(arrays, fault)
    return _finish(
        a, exact, lambda: sums.matmul(exact, x, w, chip.accumulator), offset, arrays["scale_w"], exact.ndim - 1, chip
    )


def multiply(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """The product of two tensors of codes."""
    zeros = (0, 0) if fault == "no_input_zero" else (a["x_zero"], a["w_zero"])
    exact = numerics.multiply(arrays["x"], arrays["w"], a_zero=zeros[0], b_zero=zeros[1])
    scale = np.float32(a["w_scale"])
    none = np.zeros(1, np.int64)
    return _finish(a, exact, lambda: sums.fit_sums(exact, chip.accumulator), none, scale, 0, chip)


def average(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Averages of windows of which each has all its elements; padding does not count."""
    zero = 0 if fault == "no_input_zero" else int(a["x_zero"])
    steps = np.subtract(arrays["x"], np.int32(zero), dtype=np.int32)
    options = {"kernel": a["kernel"], "strides": a["strides"], "padding": a["padding"]}
    exact = numerics.sum_pool(arrays["x"], **options, zero_point=zero)
    scale = np.float32(1 / np.prod(a["kernel"]))
    none = np.zeros(1, np.int64)
    return _finish(a, exact, lambda: sums.sum_pool(exact, steps, chip.accumulator, **options), none, scale, 0, chip)


def requantize(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Codes of sums that are given."""
    acc, scale_w = arrays["acc"], arrays["scale_w"]
    shape = [1] * acc.ndim
    shape[1] = -1
    wide = np.broadcast_to(scale_w.reshape(shape), acc.shape)
    return OperatorResult(to_codes(a, acc, scale_w, 1 if scale_w.size > 1 else None, chip), acc, wide)


def add(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Residual add, by the definition of integer modules; a fault is one of ADD_FORMS."""
    params = numerics.add_params(a["x_scale"], a["x_zero"], a["w_scale"], a["w_zero"], a["y_scale"])
    codes = {"zero_point": a["y_zero"], "dtype": a["dtype"], "qmin": a["qmin"], "qmax": a["qmax"]}
    if fault:
        return OperatorResult(ADD_FORMS[fault](a, arrays["x"], arrays["w"]))
    return OperatorResult(numerics.add(arrays["x"], arrays["w"], **params._asdict(), **codes))


def maximum(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Maximum of windows."""
    x = arrays["x"]
    if fault == "pool_from_0":
        padded = np.pad(x, [(0, 0), (0, 0), *_sides(a["padding"])], constant_values=0)
        return OperatorResult(
            np.maximum(numerics.max_pool(padded, kernel=a["kernel"], strides=a["strides"]), 0).astype(x.dtype)
        )
    return OperatorResult(numerics.max_pool(x, kernel=a["kernel"], strides=a["strides"], padding=a["padding"]))


def pad(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """A border of zero points."""
    fill = 0 if fault == "pads_with_0" else a["x_zero"]
    return OperatorResult(np.pad(arrays["x"], [(0, 0), (0, 0), *_sides(a["padding"])], constant_values=fill))


def table(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """A function of one code; entry 0 is that of the lowest code."""
    x = arrays["x"].view(np.uint8) if fault == "unsigned_index" else arrays["x"]
    return OperatorResult(numerics.table(x, arrays["values"]))


def quantize(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Codes of floats."""
    limits = {"dtype": a["dtype"], "qmin": a["qmin"], "qmax": a["qmax"]}
    return OperatorResult(numerics.quantize(arrays["x"], np.float32(a["y_scale"]), np.int32(a["y_zero"]), **limits))


def dequantize(a: Attributes, arrays: Arrays, chip: Arithmetic, fault: str) -> OperatorResult:
    """Floats of codes."""
    return OperatorResult(numerics.dequantize(arrays["x"], np.float32(a["x_scale"]), np.int32(a["x_zero"])))


def _in_pairs(exact: np.ndarray, x: np.ndarray, w: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Sums whose pairs saturate; signed codes are taken as unsigned ones and 128 times the weights off again."""
    offset = 128 if x.dtype == np.int8 else 0
    products = sums.conv_products(x.astype(np.int16) + np.int16(offset), w, **options)
    total = sums.pair_sums(products(np.unravel_index(np.arange(exact.size), exact.shape))).reshape(exact.shape)
    filters = w.astype(np.int64).reshape(len(w), -1).sum(axis=1)
    return np.asarray(total - offset * filters.reshape(-1, *[1] * (exact.ndim - 2)))


def _bias(arrays: Arrays, fault: str) -> np.ndarray | int:
    return 0 if fault == "no_bias" else arrays["bias"].astype(np.int64)


def _sides(padding: Any) -> list[tuple[int, int]]:
    top, left, bottom, right = (int(p) for p in padding)
    return [(top, bottom), (left, right)]


OPERATORS: dict[str, Callable[[Attributes, Arrays, Arithmetic, str], OperatorResult]] = {
    "conv2d": conv2d,
    "depthwise": conv2d,
    "dense": dense,
    "multiply": multiply,
    "average": average,
    "requantize": requantize,
    "add": add,
    "maximum": maximum,
    "pad": pad,
    "table": table,
    "quantize": quantize,
    "dequantize": dequantize,
}
