"""Move each bias by the mean error that the rounding of the weight causes.

Before                                            After
    c = conv2d(x_sq, w_sq)                            c = conv2d(x_sq, w_sq)
    b = add(c, bias)                                  b = add(c, bias + sum((w - w_sq) * mean(x)))

Needs     a calibrated module and the channel means of the inputs of its convolutions and products.
Leaves    layers without a bias get one.
Known as  bias correction, of data-free quantization (DFQ); here with means that calibration measured.
Numerics  the correction is computed in float64 from the channel means; each tap counts
          as often as it lies inside the picture; positions of a channel are taken to have one mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.graph.ledger import get_ledger, require_stage, with_ledger
from tvmq.graph.operators import where
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.operators.record import RESHAPE, TRANSPOSED
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import View, const_value, op_name, shape_of, sizes_of
from tvmq.numerics.gemm import multiply_matrices
from tvmq.passes.families.base import family_named


def correct_bias(mod: tvm.IRModule, means: Mapping[str, np.ndarray]) -> tvm.IRModule:
    """Shift biases by the mean error of rounding; `means`: {activation: float64 [channels]}, others are left alone."""
    ledger = require_stage(mod, "correct_bias", ("calibrated",))
    view = View(mod)
    roots = [
        entry["root"]
        for entry in ledger.layers.values()
        if entry["precision"] == "int8" and family_named(entry["family"]).weighted
    ]
    shifts = {root: _shift(view, view.var[root], means) for root in roots}
    return shift_biases(mod, {root: shift for root, shift in shifts.items() if shift is not None})


def shift_biases(mod: tvm.IRModule, shifts: Mapping[str, np.ndarray]) -> tvm.IRModule:
    """Add to the bias of each convolution or product; {root: float64, one an output channel}."""
    ledger = get_ledger(mod)
    rewriter = Rewriter(mod)
    roots = {entry["root"]: entry for entry in ledger.layers.values() if entry.get("root") in shifts}
    pending: dict[str, tuple[np.ndarray, tuple[int, ...]]] = {}
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        new = rewriter.substitute(value)
        entry = roots.get(var.name)
        if entry is not None and entry["facts"]["bias"]:
            pending[entry["members"][1]] = shifts[var.name], _bias_shape(var, entry)
        elif entry is not None:
            new = _replace_bias(rewriter, var, new, shifts[var.name], entry)
        elif var.name in pending:
            a, b = new.args
            total = const_value(b).astype(np.float64) + _reshape_to_bias(*pending[var.name], const_value(b).shape)
            new = relax.op.add(a, relax.const(total.astype(np.float32)))
        rewriter.bind(var, new if isinstance(new, relax.Var) else rewriter.emit(new, var.name))
    return with_ledger(rewriter.finish(), ledger)


def _replace_bias(
    rewriter: Rewriter, var: relax.Var, call: relax.Expr, shift: np.ndarray, entry: dict[str, Any]
) -> relax.Expr:
    """The sum of the root, under a new name, and the correction, which takes over the root's name."""
    inner = rewriter.emit(call, f"{var.name}_sum")
    entry["members"] = [inner.name, *entry["members"]]
    entry["root"] = inner.name
    entry["facts"]["bias"] = True
    return relax.op.add(inner, relax.const(shift.reshape(_bias_shape(var, entry)).astype(np.float32)))


def _bias_shape(var: relax.Var, entry: dict[str, Any]) -> tuple[int, ...]:
    """Shape of a bias of the layer: channels come second in convolutions, last in products."""
    second = family_named(entry["family"]).bias_axis == 1
    return (1, -1) + (1,) * (len(var.ty.shape) - 2) if second else (-1,)


def _reshape_to_bias(shift: np.ndarray, bias_shape: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    """The correction in the shape of the bias; a bias of one number becomes one a channel."""
    return shift.reshape(shape if int(np.prod(shape)) == shift.size else bias_shape)


def _shift(view: View, var: relax.Var, means: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Mean of conv(x, w) - conv(x, w_sq) for each output channel."""
    call = view.value[var.name]
    mean = _mean_of(view, call.args[0], means)
    simulated = view.producer(call.args[1])
    if mean is None or simulated is None or op_name(simulated) != "tvmq.simulated_quantize":
        return None
    weight = const_value(simulated.args[0])
    spec = spec_of(simulated.attrs)
    axis = simulated.attrs.axis if simulated.attrs.axis >= 0 else None
    scale, zero = const_value(simulated.args[1]), const_value(simulated.args[2])
    codes = numerics.quantize(weight, scale, zero, axis=axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
    error = weight.astype(np.float64) - numerics.dequantize(codes, scale, zero, axis=axis).astype(np.float64)
    if op_name(call) == "matmul":
        return multiply_matrices(mean, error) if mean.size == error.shape[0] else None
    groups = int(call.attrs.groups)
    transposed = op_name(call) in where(kind=TRANSPOSED)
    if transposed:
        error = numerics.filters_first(error, groups)
    filters, per_group = error.shape[:2]
    if mean.size != per_group * groups:
        return None
    by_filter = mean.reshape(groups, per_group).repeat(filters // groups, axis=0)
    shares = transposed_tap_shares if transposed else tap_shares
    error = error * shares(call, sizes_of(call.args[0])[2:], sizes_of(var)[2:])
    return (error.sum(axis=tuple(range(2, error.ndim))) * by_filter).sum(axis=1)


def tap_shares(call: relax.Call, size: Sequence[int | str], out_size: Sequence[int | str]) -> np.ndarray:
    """Share of the output positions for which each tap of the kernel lies inside the picture, not in the padding.

    On small pictures the padding is a large part of what the border taps see, and there x is 0. Where a size is dynamic
    the pictures count as large.
    """
    attrs = call.attrs
    rank = len(size)
    shares = np.ones((1,) * rank)
    for axis, (inside, outside) in enumerate(zip(size, out_size, strict=True)):
        if isinstance(inside, str) or isinstance(outside, str):
            continue
        taps = shape_of(call.args[1])[2 + axis]
        before, stride, dilation = (
            int(attrs.padding[axis]),
            int(attrs.strides[axis]),
            int(attrs.dilation[axis]),
        )
        position = np.arange(outside)[None, :] * stride + np.arange(taps)[:, None] * dilation - before
        share = ((position >= 0) & (position < inside)).mean(axis=1)
        shares = shares * share.reshape([-1 if a == axis else 1 for a in range(rank)])
    return shares


def transposed_tap_shares(call: relax.Call, size: Sequence[int | str], out_size: Sequence[int | str]) -> np.ndarray:
    """Share of the output positions that an element of x reaches through each tap of a transposed convolution."""
    attrs = call.attrs
    rank = len(size)
    shares = np.ones((1,) * rank)
    for axis, (inside, outside) in enumerate(zip(size, out_size, strict=True)):
        if isinstance(inside, str) or isinstance(outside, str):
            continue
        taps = np.arange(shape_of(call.args[1])[2 + axis]) * int(attrs.dilation[axis])
        position = np.arange(inside)[None, :] * int(attrs.strides[axis]) + taps[:, None] - int(attrs.padding[axis])
        share = ((position >= 0) & (position < outside)).sum(axis=1) / outside
        shares = shares * share.reshape([-1 if a == axis else 1 for a in range(rank)])
    return shares


def _mean_of(view: View, x: relax.Expr, means: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Channel means of an activation, back through its simulated_quantize and operators that keep channels in place."""
    name = x.name
    while name not in means:
        value = view.value.get(name)
        if value is None or op_name(value) not in KEEP_CHANNELS:
            return None
        name = value.args[0].name
    return np.asarray(means[name], np.float64)


KEEP_CHANNELS = where(form=RESHAPE) | {"tvmq.simulated_quantize"}
