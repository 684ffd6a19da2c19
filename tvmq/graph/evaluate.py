"""NumPy execution of the standard Relax operators whose results are exact or are wanted in float64.

Three readers: constant folding, the filling of 256-entry tables (in float64), and the reference execution of
modules (only the operators of EXACT, whose float32 result does not depend on how it is computed).

Tests: tests/passes/test_fold_constants.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax
from tvm.sym import Analyzer

from tvmq import numerics
from tvmq.graph.sizes import is_multiple
from tvmq.graph.view import op_name
from tvmq.numerics.gemm import multiply_matrices

Evaluator = Callable[..., Any]
# TVM's name -> NumPy's
PAD_MODES: dict[str, Any] = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: np.ndarray) -> np.ndarray:
    # exp of a non-positive number on both branches, so that nothing overflows
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e)).astype(x.dtype)


def _ints(values: Any) -> list[int]:
    return [int(v) for v in values]


def _pad(call: relax.Call, x: np.ndarray, *value: Any) -> np.ndarray:
    width = np.asarray(_ints(call.attrs.pad_width)).reshape(-1, 2)
    fill = call.attrs.pad_value if hasattr(call.attrs, "pad_value") else 0.0
    mode = PAD_MODES[call.attrs.pad_mode]
    if mode == "constant":
        return np.pad(x, width, constant_values=np.asarray(fill).astype(x.dtype))
    return np.pad(x, width, mode=mode)


def slice_of(call: relax.Call, shape: Sequence[int]) -> tuple[slice, ...]:
    """The index of NumPy by which a strided_slice takes from an array of that shape."""
    axes, begin, end, *strides = (_shape_values(arg) for arg in call.args[1:])
    steps = strides[0] if strides else [1] * len(axes)
    index = [slice(None)] * len(shape)
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        stop = None if step < 0 and last < -shape[axis] else last
        index[axis] = slice(first, stop, step)
    return tuple(index)


def _strided_slice(call: relax.Call, x: np.ndarray, *_rest: Any) -> np.ndarray:
    return np.ascontiguousarray(x[slice_of(call, x.shape)])


def _shape_values(expr: relax.Expr) -> list[int]:
    fields = expr.fields if isinstance(expr, relax.Tuple) else expr.values
    return [_number(v) for v in fields]


def _number(value: Any) -> int:
    """A number, also one that fixed sizes left as a sum of numbers."""
    value = getattr(value, "value", value)
    return value if isinstance(value, int) else int(Analyzer().simplify(value))


def split_indices(sections: Any, size: int) -> list[int]:
    """Indices at which a split by `indices_or_sections` cuts an axis of `size` elements.

    Of n parts Relax makes the first ones ceil(size / n) long; the last ones are shorter, or empty.
    """
    if hasattr(sections, "__len__"):
        return _ints(sections)
    length = -(-size // int(sections))
    return [min(part * length, size) for part in range(1, int(sections))]


def _split(call: relax.Call, x: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
    if isinstance(call.ty, relax.TensorType):
        return x  # one part
    axis = int(call.attrs.axis)
    indices = split_indices(call.attrs.indices_or_sections, x.shape[axis])
    return tuple(np.ascontiguousarray(part) for part in np.split(x, indices, axis))


def _permute_dims(call: relax.Call, x: np.ndarray) -> np.ndarray:
    axes = call.attrs.axes
    return np.ascontiguousarray(np.transpose(x, None if axes is None else _ints(axes)))


def _squeeze(call: relax.Call, x: np.ndarray) -> np.ndarray:
    axes = call.attrs.axis
    return np.squeeze(x, None if axes is None else tuple(_ints(axes)))


def _static_shape(call: relax.Call) -> tuple[int, ...]:
    return tuple(int(d) for d in call.ty.shape)


def _reshape(call: relax.Call, x: np.ndarray, *_shape: Any) -> np.ndarray:
    return x.reshape(_static_shape(call))


def repeats_pixels(call: relax.Call) -> bool:
    """True for a resize (NCHW) in which output pixel i is input pixel i // factor, whatever float32 makes of
    coordinates."""
    attrs = call.attrs
    if attrs.method != "nearest_neighbor" or attrs.layout != "NCHW":
        return False
    (rows, columns), (new_rows, new_columns) = (list(ty.shape)[2:] for ty in (call.args[0].ty, call.ty))
    if not is_multiple(new_rows, rows) or not is_multiple(new_columns, columns):
        return False
    return str(attrs.rounding_method) in REPEATING.get(str(attrs.coordinate_transformation_mode), ())


# Coordinate rule -> roundings that give pixel i // factor: with half_pixel no coordinate is a tie.
REPEATING = {
    "asymmetric": ("floor", ""),
    "half_pixel": ("round", "round_prefer_floor", "round_prefer_ceil"),
    "pytorch_half_pixel": ("round", "round_prefer_floor", "round_prefer_ceil"),
    "tf_half_pixel_for_nn": ("floor", ""),
}


def _resize_nearest(call: relax.Call, x: np.ndarray, *_size: Any) -> np.ndarray:
    """Each pixel repeated; see repeats_pixels."""
    rows, columns = _static_shape(call)[2:]
    return x.repeat(rows // x.shape[2], axis=2).repeat(columns // x.shape[3], axis=3)


def _axes(call: relax.Call) -> tuple[int, ...] | None:
    return None if call.attrs.axis is None else tuple(_ints(call.attrs.axis))


def _divide(_call: relax.Call, a: Any, b: Any) -> Any:
    """Quotient; of integers it is cut towards zero, as compiled code does it."""
    return a / b if np.asarray(a).dtype.kind not in "iu" else numerics.divide(a, b)


def _axis(call: relax.Call) -> int:
    return 0 if call.attrs.axis is None else int(call.attrs.axis)


def _take(call: relax.Call, x: np.ndarray, indices: Any) -> np.ndarray:
    """Elements along an axis; outside of it "clip" stops at both ends, "nan" gives NaN, the others wrap round."""
    axis, mode = (None if call.attrs.axis is None else int(call.attrs.axis)), str(call.attrs.mode)
    size = x.size if axis is None else x.shape[axis]
    if mode == "clip":
        return np.ascontiguousarray(np.take(x, np.clip(indices, 0, size - 1).astype(np.int64), axis))
    rows = np.ascontiguousarray(np.take(x, numerics.place(indices, size), axis))
    if mode == "nan":
        outside = (np.asarray(indices) < 0) | (np.asarray(indices) >= size)
        rows[(slice(None),) * (axis or 0) + (outside,)] = np.nan
    return rows


def _gather_elements(call: relax.Call, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Each index names a place along the axis; along the others it stands at the place itself."""
    axis = int(call.attrs.axis) % x.ndim
    part = x[tuple(slice(None if i == axis else size) for i, size in enumerate(indices.shape))]
    return np.take_along_axis(part, numerics.place(indices, x.shape[axis]), axis)


def _along(values: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """A vector laid along an axis; one number as it is."""
    return (
        values.reshape([-1 if i == axis % rank else 1 for i in range(rank)]) if values.size > 1 else values.reshape(())
    )


def _selu(x: np.ndarray) -> np.ndarray:
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _maximum(a: Any, b: Any) -> Any:
    """The larger one, NaN where one is NaN; the second of equal ones (zeros of two signs), on every CPU."""
    return np.where((a > b) | (a != a), a, b)


def _minimum(a: Any, b: Any) -> Any:
    """The smaller one, as in `_maximum`."""
    return np.where((a < b) | (a != a), a, b)


def _reduce(call: relax.Call, x: np.ndarray, order: Callable[[Any, Any], Any], sign: int) -> np.ndarray:
    """order(so far, next) chooses over axes, in the order of memory; floats begin at infinity times sign.

    As `numerics.max_pool`, and unlike `_maximum`, they take the next number for a NaN: a check would cost as much.
    """
    axes = _axes(call)
    axes = tuple(range(x.ndim)) if axes is None else tuple(sorted(axis % x.ndim for axis in axes))
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    if not call.attrs.keepdims:
        shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
    if x.dtype.kind != "f":
        return (x.max if sign < 0 else x.min)(axes).reshape(shape)
    rest = np.moveaxis(x, axes, range(len(axes)))
    result = np.full(rest.shape[len(axes) :], sign * np.inf, x.dtype)
    for part in rest.reshape(-1, *result.shape):
        result = np.where(order(result, part), result, part)
    return result.reshape(shape)


# Results that are the same however they are computed: no rounding at all, or one correctly rounded operation.
EXACT: dict[str, Evaluator] = {
    "nn.relu": lambda call, x: _maximum(np.zeros((), x.dtype), x),
    "nn.leakyrelu": lambda call, x: np.where(x >= 0, x, x * x.dtype.type(call.attrs.alpha)),
    "nn.prelu": lambda call, x, slopes: np.where(x >= 0, x, x * _along(slopes, int(call.attrs.axis), x.ndim)),
    "clip": lambda call, x, low, high: _maximum(x.dtype.type(low), _minimum(x.dtype.type(high), x)),
    "maximum": lambda call, a, b: _maximum(a, b),
    "minimum": lambda call, a, b: _minimum(a, b),
    "max": lambda call, x: _reduce(call, x, np.greater, -1),
    "min": lambda call, x: _reduce(call, x, np.less, 1),
    "negative": lambda call, x: -x,
    "abs": lambda call, x: np.abs(x),
    "add": lambda call, a, b: a + b,
    "subtract": lambda call, a, b: a - b,
    "multiply": lambda call, a, b: a * b,
    "divide": _divide,
    "sqrt": lambda call, x: np.sqrt(x),
    "floor": lambda call, x: np.floor(x),
    "ceil": lambda call, x: np.ceil(x),
    "round": lambda call, x: np.rint(x),
    "astype": lambda call, x: numerics.cast(x, str(call.attrs.dtype)),
    "reshape": _reshape,
    "flatten": _reshape,
    "expand_dims": _reshape,
    "squeeze": _squeeze,
    "permute_dims": _permute_dims,
    "broadcast_to": lambda call, x, *_shape: np.broadcast_to(x, _static_shape(call)),
    "concat": lambda call, parts: np.concatenate(parts, _axis(call)),
    "split": _split,
    "strided_slice": _strided_slice,
    "nn.pad": _pad,
    "where": lambda call, condition, a, b: np.where(condition, a, b),
    "equal": lambda call, a, b: np.equal(a, b),
    "not_equal": lambda call, a, b: np.less(a, b) | np.greater(a, b),
    "greater": lambda call, a, b: np.greater(a, b),
    "greater_equal": lambda call, a, b: np.greater_equal(a, b),
    "less": lambda call, a, b: np.less(a, b),
    "less_equal": lambda call, a, b: np.less_equal(a, b),
    "logical_and": lambda call, a, b: np.logical_and(a, b),
    "logical_or": lambda call, a, b: np.logical_or(a, b),
    "logical_xor": lambda call, a, b: np.logical_xor(a, b),
    "logical_not": lambda call, x: np.logical_not(x),
    "zeros_like": lambda call, x: np.zeros(np.shape(x), str(call.ty.dtype)),
    "ones_like": lambda call, x: np.ones(np.shape(x), str(call.ty.dtype)),
    "full_like": lambda call, x, value: np.full(np.shape(x), value, str(call.ty.dtype)),
    "trunc": lambda call, x: np.trunc(x),
    "isnan": lambda call, x: np.isnan(x),
    "isinf": lambda call, x: np.isinf(x),
    "isfinite": lambda call, x: np.isfinite(x),
    "take": _take,
    "gather_elements": _gather_elements,
    "tile": lambda call, x: np.tile(x, _ints(call.attrs.repeats)),
    "flip": lambda call, x: np.ascontiguousarray(np.flip(x, int(call.attrs.axis))),
    "stack": lambda call, parts: np.stack(parts, _axis(call)),
    "image.resize2d": _resize_nearest,
}

# Further operators, good enough for folding constants and for tables in float64.
FLOAT: dict[str, Evaluator] = {
    "exp": lambda call, x: np.exp(x),
    "log": lambda call, x: np.log(x),
    "sign": lambda call, x: np.sign(x),
    "sin": lambda call, x: np.sin(x),
    "cos": lambda call, x: np.cos(x),
    "tan": lambda call, x: np.tan(x),
    "sinh": lambda call, x: np.sinh(x),
    "cosh": lambda call, x: np.cosh(x),
    "asin": lambda call, x: np.arcsin(x),
    "acos": lambda call, x: np.arccos(x),
    "atan": lambda call, x: np.arctan(x),
    "asinh": lambda call, x: np.arcsinh(x),
    "acosh": lambda call, x: np.arccosh(x),
    "atanh": lambda call, x: np.arctanh(x),
    "log_add_exp": lambda call, a, b: np.logaddexp(a, b),
    "nn.selu": lambda call, x: _selu(x),
    "rsqrt": lambda call, x: 1 / np.sqrt(x),
    "tanh": lambda call, x: np.tanh(x),
    "sigmoid": lambda call, x: _sigmoid(x),
    "erf": lambda call, x: _erf(x).astype(x.dtype),
    "power": lambda call, a, b: np.power(a, b),
    "square": lambda call, x: x * x,
    "nn.silu": lambda call, x: x * _sigmoid(x),
    "nn.gelu": lambda call, x: x * 0.5 * (1 + _erf(x / math.sqrt(2))).astype(x.dtype),
    "nn.gelu_tanh": lambda call, x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "nn.softplus": lambda call, x: np.logaddexp(x * call.attrs.beta, 0) / call.attrs.beta,
    "matmul": lambda call, a, b: multiply_matrices(a, b),
    "sum": lambda call, x: x.sum(_axes(call), keepdims=bool(call.attrs.keepdims)),
    "mean": lambda call, x: x.mean(_axes(call), keepdims=bool(call.attrs.keepdims)),
}


# Operators of which only some calls have a NumPy form.
CONDITIONS: dict[str, Callable[[relax.Call], bool]] = {
    "image.resize2d": repeats_pixels,
    "nn.pad": lambda call: call.attrs.pad_mode in PAD_MODES,
}


def evaluator(call: relax.Expr, *, exact: bool = False) -> Evaluator | None:
    """The NumPy function of a call, None where there is none; `exact` asks for those of EXACT only."""
    name = op_name(call)
    if name in CONDITIONS and not CONDITIONS[name](call):
        return None
    return EXACT.get(name) or (None if exact else FLOAT.get(name))


def evaluate(call: relax.Call, args: Sequence[Any]) -> Any:
    """Apply an operator to arrays; KeyError where it has no NumPy form."""
    function = evaluator(call)
    if function is None:
        raise KeyError(op_name(call))
    return function(call, *args)
