"""Conversions between floats, accumulators and codes of another scale.

Scales are float32, zero points int32; both have rank 0, or one entry for each channel of an axis.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from tvmq import numerics
from tvmq.graph.operators.declaration import declare
from tvmq.graph.operators.loops import fence, infer_like
from tvmq.graph.operators.own_simulation import own_simulation
from tvmq.graph.operators.record import CONVERSION
from tvmq.graph.view import make_const
from tvmq.numerics.rule_arithmetic import LARGEST_PRODUCT, SMALLEST_SHIFT
from tvmq.numerics.spec import QuantSpec


def _per_channel(definition: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The definition with -1 for no axis."""

    @wraps(definition)
    def define(*arrays: np.ndarray, axis: int, **named: Any) -> np.ndarray:
        return definition(*arrays, axis=None if axis < 0 else axis, **named)

    return define


def _place(i: Sequence[tirx.Var], axis: int) -> Sequence[tirx.Var]:
    """Index of the scale of an element."""
    return (i[axis],) if axis >= 0 else ()


def _steps(
    x: te.Tensor, scale: te.Tensor, zero: te.Tensor, i: Sequence[tirx.Var], axis: int, qmin: int, qmax: int
) -> tirx.PrimExpr:
    """Steps of an element from the zero point, clipped, as int32."""
    at = _place(i, axis)
    low, high = (tirx.Cast("float32", tirx.const(limit, "int32") - zero(*at)) for limit in (qmin, qmax))
    # max first: comparisons with NaN are false, so NaN becomes the lowest code
    return tirx.Cast("int32", tirx.min(tirx.max(tirx.nearbyint(x(*i) / scale(*at)), low), high))


@declare(CONVERSION, _per_channel(numerics.quantize), infer=infer_like(), batch="constants along", integer=True)
def quantize(
    x: te.Tensor,
    scale: te.Tensor,
    zero_point: te.Tensor,
    *,
    axis: int = -1,
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
) -> te.Tensor:
    """q = clip(rint(x / scale) + zero_point, qmin, qmax).

    float32 division, half to even, NaN gives qmin. axis of the channels, -1 for one scale.
    """

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        steps = _steps(x, scale, zero_point, i, axis, qmin, qmax)
        return tirx.Cast(dtype, steps + zero_point(*_place(i, axis)))

    return te.compute(x.shape, element, name="quantize")


@declare(
    CONVERSION,
    _per_channel(numerics.dequantize),
    infer=infer_like("float32"),
    batch="constants along",
    integer=True,
    weight=0,
)
def dequantize(q: te.Tensor, scale: te.Tensor, zero_point: te.Tensor, *, axis: int = -1) -> te.Tensor:
    """x = float32(q - zero_point) * scale.

    The difference in int32; q is a code or an int32 accumulator. axis of the channels, -1 for one scale.
    """

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        at = _place(i, axis)
        return fence(tirx.Cast("float32", tirx.Cast("int32", q(*i)) - zero_point(*at)) * scale(*at))

    return te.compute(q.shape, element, name="dequantize")


@declare(CONVERSION, numerics.round_floats, infer=infer_like("float32"), batch="same rank")
def round_floats(x: te.Tensor, *, dtype: str) -> te.Tensor:
    """float32 rounded to bfloat16, half to even, as float32; NaN stays.

    dtype  "bfloat16", for which TVM has no casts that compile: the bits are rounded as an integer. float16 has casts
    """
    if dtype != "bfloat16":
        raise ValueError(f"tvmq.round_floats rounds to bfloat16, not to {dtype}; astype gives that type")

    def element(*i: tirx.Var) -> tirx.PrimExpr:
        value = x(*i)
        bits = tirx.reinterpret("uint32", value)
        odd = (bits >> tirx.const(16, "uint32")) & tirx.const(1, "uint32")
        rounded = (bits + tirx.const(0x7FFF, "uint32") + odd) & tirx.const(0xFFFF0000, "uint32")
        return tirx.Select(tirx.isnan(value), value, tirx.reinterpret("float32", rounded))

    return te.compute(x.shape, element, name="round_floats")


def spec_of(attrs: Any) -> QuantSpec:
    """The QuantSpec that the attributes of a simulated_quantize describe, `call.attrs`."""
    return QuantSpec(dtype=attrs.dtype, bits=attrs.bits, symmetric=attrs.symmetric, per_channel=attrs.axis >= 0)


def is_calibrated(call: relax.Call) -> bool:
    """True once the scale of a simulated_quantize is known."""
    return bool((call.args[1].value.numpy() > 0).all())


def _infer_simulated_quantize(call: relax.Call, _builder: relax.BlockBuilder) -> relax.TensorType:
    if len(call.args) != 3:
        raise ValueError("tvmq.simulated_quantize takes x, scale, zero_point")
    return call.args[0].ty


def _simulate(
    x: np.ndarray,
    scale: np.ndarray,
    zero: np.ndarray,
    *,
    kind: str,
    tensor: str,
    dtype: str,
    bits: int,
    symmetric: bool,
    axis: int,
) -> np.ndarray:
    if not (scale > 0).all():
        return x
    if (own := own_simulation()) is not None:
        attributes = {"kind": kind, "tensor": tensor, "dtype": dtype, "bits": bits, "symmetric": symmetric}
        return own.define(x, scale, zero, attributes | {"axis": axis})
    spec, channels = QuantSpec(dtype=dtype, bits=bits, symmetric=symmetric), None if axis < 0 else axis
    codes = numerics.quantize(x, scale, zero, axis=channels, dtype=dtype, qmin=spec.qmin, qmax=spec.qmax)
    return numerics.dequantize(codes, scale, zero, axis=channels)


@declare(CONVERSION, _simulate, infer=_infer_simulated_quantize, batch="constants along", integer=True)
def simulated_quantize(
    builder: relax.BlockBuilder,
    x: relax.Expr,
    scale: relax.Expr,
    zero_point: relax.Expr,
    *,
    kind: str,
    tensor: str,
    dtype: str = "uint8",
    bits: int = 8,
    symmetric: bool = False,
    axis: int = -1,
) -> relax.Expr:
    """Round to the codes of a QuantSpec and back, in float, by constants.

        y = (clip(rint(x / scale) + zero_point, qmin, qmax) - zero_point) * scale

    Before calibration the scale is 0 and the operator is the identity ("watch this tensor"). `simulate_by` computes it
    by other code.

    kind                    "input" | "weight" | "activation"
    tensor                  name under which statistics are kept; tensors that share it share their range
    dtype, bits, symmetric  the QuantSpec
    axis                    of the channels, -1 for one scale
    """
    if not (scale.value.numpy() > 0).all():
        return x
    if (own := own_simulation()) is not None:
        attributes = {"kind": kind, "tensor": tensor, "dtype": dtype, "bits": bits, "symmetric": symmetric}
        return own.legalize(builder, x, scale.value.numpy(), zero_point.value.numpy(), attributes | {"axis": axis})
    spec = QuantSpec(dtype=dtype, bits=bits, symmetric=symmetric)

    def compute(x: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            # through an integer, as the codes go: minus zero becomes zero
            centred = tirx.Cast("float32", _steps(x, scale, zero, i, axis, spec.qmin, spec.qmax))
            return fence(centred * scale(*_place(i, axis)))

        return te.compute(x.shape, element, name="simulated_quantize")

    return builder.call_te(compute, x, scale, zero_point, primfunc_name_hint="simulated_quantize")


@declare(CONVERSION, _per_channel(numerics.requantize), infer=infer_like(), batch="constants along", integer=True)
def requantize(
    builder: relax.BlockBuilder,
    acc: relax.Expr,
    multiplier: relax.Expr,
    shift: relax.Expr,
    *,
    zero_point: int,
    axis: int = -1,
    mode: str = "float",
    rounding: str = "UPWARD",
    dtype: str = "uint8",
    qmin: int = 0,
    qmax: int = 255,
    negative_slope: float = 1.0,
) -> relax.Expr:
    """int32 accumulators, or codes, to codes of another scale.

    mode "float"         clip(rint(float32(acc) * float32(multiplier)) + zero_point, qmin, qmax); shift is ignored;
                         where acc < 0 the multiplier is float32(multiplier * negative_slope)
    mode "fixed_point"   int32 multiplier and shift in int64, rounding "UPWARD" (half up), "TONEAREST" (half away from
                         zero) or "DOUBLE" (two roundings)
    mode "power_of_two"  shift alone; multiplier is ignored
    axis                 of the channels, -1 for one multiplier
    """
    limits = (qmin - zero_point, qmax - zero_point)

    def by_float(acc: te.Tensor, multiplier: te.Tensor) -> te.Tensor:
        # clipping before the conversion to int32 keeps products beyond 2^31 right
        low, high = (tirx.const(float(limit), "float32") for limit in limits)

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            factor = multiplier(*_place(i, axis))
            if negative_slope != 1.0:
                shrunk = factor * tirx.const(negative_slope, "float32")
                factor = tirx.Select(tirx.Cast("int32", acc(*i)) < tirx.const(0, "int32"), shrunk, factor)
            steps = tirx.nearbyint(tirx.Cast("float32", acc(*i)) * factor)
            steps = tirx.Cast("int32", tirx.min(tirx.max(steps, low), high))
            return tirx.Cast(dtype, steps + tirx.const(zero_point, "int32"))

        return te.compute(acc.shape, element, name="requantize")

    def by_integers(
        acc: te.Tensor, factor: te.Tensor, left: te.Tensor, right: te.Tensor, reach: te.Tensor
    ) -> te.Tensor:
        rule = numerics.rule_of_mode(mode, rounding)
        one, zero = tirx.const(1, "int64"), tirx.const(0, "int64")

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = _place(i, axis)
            wide = tirx.Cast("int64", acc(*i))
            wide = tirx.min(tirx.max(wide, zero - reach(*at)), reach(*at))
            product = (wide << left(*at)) * factor(*at)
            half = one << (right(*at) - one)
            if rule.roundings[0] == "away":
                half = half - tirx.Select(product < zero, one, zero)
            if rule.rounds_twice:
                nudge = tirx.Select(product < zero, tirx.const(-(2**30), "int64"), tirx.const(2**30, "int64"))
                half = half + tirx.Select(right(*at) > tirx.const(31, "int64"), nudge, zero)
            low, high = (tirx.const(limit, "int64") for limit in limits)
            steps = tirx.min(tirx.max((product + half) >> right(*at), low), high)
            return tirx.Cast(dtype, steps + tirx.const(zero_point, "int64"))

        return te.compute(acc.shape, element, name="requantize")

    if mode == "float":
        return builder.call_te(by_float, acc, multiplier, primfunc_name_hint="requantize")
    constants = map(make_const, _integer_constants(mode, multiplier.value.numpy(), shift.value.numpy()))
    return builder.call_te(by_integers, acc, *constants, primfunc_name_hint="requantize")


def _integer_constants(mode: str, multiplier: np.ndarray, shift: np.ndarray) -> list[np.ndarray]:
    """Factor, left shift, right shift and largest accumulator as int64; see numerics.fixed_point_multiply."""
    multiplier, shift = numerics.fixed_point_constants(multiplier, shift, mode=mode)
    shift = np.maximum(shift, SMALLEST_SHIFT)
    left, right = np.maximum(shift, 0), 31 + np.maximum(-shift, 0)
    reach = LARGEST_PRODUCT // np.maximum(multiplier << left, 1)
    return [np.asarray(value) for value in (multiplier, left, right, reach)]
