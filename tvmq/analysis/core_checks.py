"""What of one operator of a core lies outside of a backend description: one function a rule, listed in CHECKS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tvm import relax

from tvmq.backends.description import NEEDS, Backend
from tvmq.graph.core_bounds import Bounds
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of

FLOATS = ("float16", "float32", "float64", "bfloat16")
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "conv_transpose")
# Operator -> families it serves; () is part of any: biases, paddings, what makes codes of sums.
OPERATORS: dict[str, tuple[str, ...]] = {
    **{f"nn.conv{axes}d": (f"conv{axes}d",) for axes in (1, 2, 3)},
    "tvmq.conv_transpose": ("conv_transpose",),
    "matmul": ("dense", "matmul"),
    "tvmq.matmul": ("matmul",),
    "tvmq.add": ("add",),
    "tvmq.multiply": ("multiply",),
    "tvmq.scale_shift": ("scale_shift",),
    "tvmq.prelu": ("prelu",),
    "tvmq.sum": ("mean",),
    **dict.fromkeys(("tvmq.integer_softmax", "tvmq.add_mask"), ("integer_softmax",)),
    **{f"tvmq.{name}": (name,) for name in ("integer_layer_norm", "masked_mean")},
    **dict.fromkeys(("tvmq.sum_pool", "tvmq.adaptive_sum_pool"), ("avg_pool",)),
    **dict.fromkeys(("nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "max", "min"), ("max_pool",)),
    **dict.fromkeys(("concat", "stack"), ("concat",)),
    **dict.fromkeys(("maximum", "minimum"), ("select", *CONVOLUTIONS)),
    "where": ("select",),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), ("compare",)),
    "take": ("shape", "embedding"),
    **dict.fromkeys(
        ("reshape", "flatten", "permute_dims", "squeeze", "expand_dims", "split", "strided_slice", "broadcast_to",
         "tile", "flip", "image.resize2d"),
        ("shape",),
    ),
    **dict.fromkeys(("tvmq.requantize", "tvmq.table", "nn.pad", "add", "multiply", "astype"), ()),
}  # fmt: skip
DIVISIONS = ("divide", "floor_divide", "mod", "floor_mod", "mean")
# Attributes that hold the code of 0.0, and those that hold factors of int32.
ZERO_POINTS = ("zero_point", "a_zero", "b_zero", "x_zero")
FACTORS = ("a_multiplier", "b_multiplier", "multiplier")
WITH_CONSTANT_FACTORS = {"multiply": (0, 1), "tvmq.scale_shift": (1,), "tvmq.prelu": (1,)}


class Site(NamedTuple):
    """One binding of a core, and what is known around it."""

    view: View
    var: relax.Var
    value: relax.Expr
    bounds: Bounds
    backend: Backend


def _tensors(site: Site) -> Iterator[relax.Expr]:
    """The result and the arguments that are tensors, those in tuples too."""
    args = site.value.args if isinstance(site.value, relax.Call) else ()
    items = [item for arg in args for item in (arg.fields if isinstance(arg, relax.Tuple) else (arg,))]
    for expr in (site.var, *items):
        if isinstance(getattr(expr, "ty", None), relax.TensorType):
            yield expr


def _types(site: Site) -> Iterator[tuple[str, str]]:
    backend = site.backend
    known = {*backend.activations, *backend.weights, *backend.streams, "int32", "bool"}
    for dtype in map(dtype_of, _tensors(site)):
        if dtype in FLOATS:
            if not backend.floats:
                yield "float", f"computes with {dtype}"
        elif dtype in ("int64", "uint64"):
            if not backend.wide:
                yield "int64", f"computes with {dtype}"
        elif dtype not in known:
            yield "dtype", f"computes with {dtype}"


def _operator(site: Site) -> Iterator[tuple[str, str]]:
    name, backend = op_name(site.value), site.backend
    if name in DIVISIONS:
        if not backend.division:
            yield "division", f"{name} divides"
        return
    if not isinstance(site.value, relax.Call) or any(dtype_of(tensor) in FLOATS for tensor in _tensors(site)):
        return  # tuples and their parts; floats are told by their type
    if name not in OPERATORS:
        yield "operator", f"{name or 'this call'} is none of the integer operators"
    elif backend.families is not None and OPERATORS[name] and not backend.families.intersection(OPERATORS[name]):
        yield "operator", f"{name} needs {' or '.join(OPERATORS[name])}"
    if not backend.wide and any(NEEDS.get(family) == "wide" for family in OPERATORS.get(name, ())):
        yield "int64", f"{name} counts in 64 bits"
    if name == "tvmq.table" and not backend.tables:
        yield "table", "looks codes up in a table"


def _zero_points(site: Site) -> Iterator[tuple[str, str]]:
    if site.backend.zero_points:
        return
    for name in ZERO_POINTS:
        zero = getattr(getattr(site.value, "attrs", None), name, 0)
        if int(zero):
            yield "zero_point", f"{name}={int(zero)}"


def _requantize(site: Site) -> Iterator[tuple[str, str]]:
    if op_name(site.value) != "tvmq.requantize":
        return
    attrs, backend = site.value.attrs, site.backend
    if attrs.mode not in backend.requantize:
        yield "requantize", f"mode {attrs.mode}"
    if attrs.mode != "float" and attrs.rounding not in backend.roundings:
        yield "rounding", f"rounding {attrs.rounding}"
    scales = max(const_value(arg).size for arg in site.value.args[1:] if is_const(arg))
    if scales > 1 and not backend.per_channel:
        yield "per_channel", f"{scales} factors, one for each channel"


def _factors(site: Site) -> Iterator[tuple[str, str]]:
    """Constants that int32 is multiplied by outside of convolutions and products."""
    if site.backend.multipliers:
        return
    attrs = getattr(site.value, "attrs", None)
    found = [int(getattr(attrs, name)) for name in FACTORS if hasattr(attrs, name)]
    places = WITH_CONSTANT_FACTORS.get(op_name(site.value), ())
    constants = [site.value.args[i] for i in places if is_const(site.value.args[i])]
    for factor in [*found, *(int(v) for arg in constants for v in np.unique(const_value(arg))[:64])]:
        if not _is_shift(factor):
            yield "multiplier", f"multiplies by {factor}"
            return


def _is_shift(factor: int) -> bool:
    return factor == 0 or abs(factor) & (abs(factor) - 1) == 0


def _accumulators(site: Site) -> Iterator[tuple[str, str]]:
    reach = site.bounds.reach.get(site.var.name, 0)
    most = 2 ** (site.backend.accumulator_bits - 1) - 1
    if reach is None:
        yield "accumulator", "how large its sums get is not known"
    elif reach > most:
        yield "accumulator", f"sums reach {reach}, {site.backend.accumulator_bits} bits end at {most}"


def _kernels(site: Site) -> Iterator[tuple[str, str]]:
    largest = site.backend.largest_kernel
    families = OPERATORS.get(op_name(site.value), ())
    if largest is None or not set(families).intersection(CONVOLUTIONS) or len(families) > 1:
        return
    side = max(shape_of(site.value.args[1])[2:])
    if side > largest:
        yield "kernel", f"a kernel of {side}, {largest} is the largest"


CHECKS: tuple[Callable[[Site], Iterator[tuple[str, Any]]], ...] = (
    _types, _operator, _zero_points, _requantize, _factors, _accumulators, _kernels,
)  # fmt: skip
