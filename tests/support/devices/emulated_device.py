"""An integer-only device, emulated: per-tensor int8, shifts for requantize, no zero points, 32-bit sums, no division.

DEVICE is what it says of itself. `run` executes the function quantized_main of a module that was quantized for it; the
host does what comes before and after. Every operator is written anew here, with the unit of emulated_arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tests.support.devices.emulated_arithmetic import clip, code, dot, plus, right, shifted, times
from tvmq.backends.description import Backend
from tvmq.graph.view import const_value, is_const, leaves, op_name, shape_of

DEVICE = Backend(
    "emulated",
    activations=("int8",),
    requantize=("power_of_two",),
    per_channel=False,
    zero_points=False,
    division=False,
    wide=False,
    streams=(),
    floats=False,
)


def run(
    mod: tvm.IRModule, codes: Sequence[np.ndarray], watch: Callable[[str, np.ndarray], None] | None = None
) -> list[np.ndarray]:
    """The codes that quantized_main gives for those that it takes; `watch` sees every value on the way."""
    func = mod["quantized_main"]
    values: dict[str, Any] = dict(zip((param.name for param in func.params), codes, strict=True))
    assert all(array.dtype in (np.int8, np.int32) for array in codes)
    for block in func.body.blocks:
        for binding in block.bindings:
            name = binding.var.name
            values[name] = _execute(binding.value, values)
            if watch and isinstance(values[name], np.ndarray):
                watch(name, values[name])
    return [values[leaf.name] for leaf in leaves(func.body.body)]


def _execute(value: relax.Expr, values: Mapping[str, Any]) -> Any:
    if isinstance(value, relax.Tuple | relax.Var):
        return _read(value, values)
    if isinstance(value, relax.TupleGetItem):
        return values[value.tuple_value.name][value.index]
    args = [_read(arg, values) for arg in value.args]
    if op_name(value).startswith("nn.max_pool"):
        args.append(shape_of(value)[2:])
    result = OPERATORS[op_name(value)](value.attrs, *args)
    for array in result if isinstance(result, list) else [result]:
        assert array.dtype in (np.int8, np.int32), f"{op_name(value)}: the device has no {array.dtype}"
    return result


def _read(arg: relax.Expr, values: Mapping[str, Any]) -> Any:
    if isinstance(arg, relax.Tuple):
        return [_read(item, values) for item in arg.fields]
    if isinstance(arg, relax.ShapeExpr):
        return [int(size) for size in arg.values]
    if isinstance(arg, relax.Var):
        return values[arg.name]
    return const_value(arg) if is_const(arg) else getattr(arg, "value", arg)


# ---- sums of products


def _conv(attrs: Any, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    assert not any(int(p) for p in attrs.padding)
    rank, groups = x.ndim - 2, int(attrs.groups)
    strides, dilation = [int(s) for s in attrs.strides], [int(d) for d in attrs.dilation]
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    sizes = [(n - span) // s + 1 for n, span, s in zip(x.shape[2:], spans, strides, strict=True)]
    acc = np.zeros((x.shape[0], groups, w.shape[0] // groups, int(np.prod(sizes))), np.int32)
    for tap in itertools.product(*map(range, w.shape[2:])):
        starts = [t * d for t, d in zip(tap, dilation, strict=True)]
        ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, strides, strict=True)]
        part = x[(..., *(slice(a, e, s) for a, e, s in zip(starts, ends, strides, strict=True)))]
        filters = w[(..., *tap)].reshape(groups, -1, w.shape[1])
        acc = plus(acc, dot(filters, part.reshape(x.shape[0], groups, w.shape[1], -1)))
    assert rank == len(sizes)
    return acc.reshape(x.shape[0], w.shape[0], *sizes)


def _conv_transpose(attrs: Any, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Every element of x is spread over a window; weights have the shape (C, F / groups, kernel...)."""
    groups, rank = int(attrs.groups), x.ndim - 2
    strides, dilation, extra = ([int(v) for v in getattr(attrs, n)] for n in ("strides", "dilation", "output_padding"))
    padding = [int(p) for p in attrs.padding]
    padding = padding if len(padding) == 2 * rank else [padding[i % len(padding)] for i in range(2 * rank)]
    whole = [
        (n - 1) * s + (k - 1) * d + 1 + e
        for n, s, k, d, e in zip(x.shape[2:], strides, w.shape[2:], dilation, extra, strict=True)
    ]
    acc = np.zeros((x.shape[0], w.shape[1] * groups, *whole), np.int32)
    data = x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)
    for tap in itertools.product(*map(range, w.shape[2:])):
        filters = w[(..., *tap)].reshape(groups, w.shape[0] // groups, w.shape[1]).swapaxes(1, 2)
        part = dot(filters, data).reshape(x.shape[0], -1, *x.shape[2:])
        place = (..., *(slice(t * d, t * d + (n - 1) * s + 1, s)
                        for t, d, n, s in zip(tap, dilation, x.shape[2:], strides, strict=True)))  # fmt: skip
        acc[place] = plus(acc[place], part)
    return acc[(..., *(slice(padding[i], size - padding[i + rank]) for i, size in enumerate(whole)))]


def _sum(attrs: Any, q: np.ndarray) -> np.ndarray:
    axes = tuple(int(a) for a in attrs.axes)
    kept = np.moveaxis(q, axes, range(-len(axes), 0))
    flat = kept.reshape(*kept.shape[: q.ndim - len(axes)], -1)
    total = np.zeros(flat.shape[:-1], np.int32)
    for i in range(flat.shape[-1]):
        total = plus(total, flat[..., i])
    return np.expand_dims(total, axes) if attrs.keepdims else total


def _sum_pool(attrs: Any, q: np.ndarray) -> np.ndarray:
    one = np.ones((q.shape[1], 1, *(int(k) for k in attrs.kernel)), np.int8)
    window = _Pool(attrs.strides, [1] * len(attrs.kernel), q.shape[1])
    return _conv(window, _bordered(q, [int(p) for p in attrs.padding], 0), one)


class _Pool:
    """Attributes of a convolution by ones, channel by channel."""

    def __init__(self, strides: Any, dilation: Any, groups: int) -> None:
        self.strides, self.dilation, self.groups, self.padding = strides, dilation, groups, ()


def _bordered(q: np.ndarray, padding: list[int], fill: int) -> np.ndarray:
    """All befores, then all afters."""
    rank = len(padding) // 2
    width = [(0, 0), (0, 0), *zip(padding[:rank], padding[rank:], strict=True)]
    return np.pad(q, width, constant_values=fill)


# ---- codes


def _requantize(attrs: Any, acc: np.ndarray, _multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    assert attrs.mode == "power_of_two" and attrs.zero_point == 0 and shift.ndim == 0
    return code(clip(shifted(acc, int(shift), away=attrs.rounding == "TONEAREST"), attrs.qmin, attrs.qmax))


def _add(attrs: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    assert attrs.zero_point == 0
    total = plus(times(a, np.int32(attrs.a_multiplier)), times(b, np.int32(attrs.b_multiplier)))
    return _finished(attrs, plus(total, np.int32(attrs.offset)))


def _finished(attrs: Any, total: np.ndarray) -> np.ndarray:
    return code(clip(right(total, int(attrs.shift)), attrs.qmin, attrs.qmax))


def _prelu(attrs: Any, q: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    assert attrs.x_zero == 0 and attrs.zero_point == 0
    total = times(q, np.where(q > 0, np.int32(attrs.multiplier), slopes))
    return _finished(attrs, plus(total, np.int32(2 ** int(attrs.shift) // 2)))


def _scale_shift(attrs: Any, q: np.ndarray, multiplier: np.ndarray, offset: np.ndarray) -> np.ndarray:
    assert attrs.zero_point == 0
    return _finished(attrs, plus(times(q, multiplier), offset))


def _table(_attrs: Any, q: np.ndarray, values: np.ndarray) -> np.ndarray:
    assert values.shape == (256,) and values.dtype == np.int8
    return values[plus(q, np.int32(128))]


def _max_pool(attrs: Any, q: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    kernel, strides, dilation = ([int(v) for v in getattr(attrs, n)] for n in ("pool_size", "strides", "dilation"))
    rank, padding = len(kernel), [int(p) for p in attrs.padding]
    for i, n in enumerate(q.shape[2:]):  # windows may reach beyond the border where sizes are rounded up
        needed = (sizes[i] - 1) * strides[i] + (kernel[i] - 1) * dilation[i] + 1
        padding[i + rank] = max(padding[i + rank], needed - n - padding[i])
    q = _bordered(q, padding, -128)
    best = np.full((*q.shape[:2], *sizes), -128, np.int8)
    for tap in itertools.product(*map(range, kernel)):
        starts = [t * d for t, d in zip(tap, dilation, strict=True)]
        part = q[(..., *(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(starts, sizes, strides, strict=True)))]
        best = np.where(part > best, part, best)
    return best


def _largest(attrs: Any, q: np.ndarray) -> np.ndarray:
    axes = tuple(int(a) for a in attrs.axis)
    kept = np.moveaxis(q, axes, range(-len(axes), 0))
    flat = kept.reshape(*kept.shape[: q.ndim - len(axes)], -1)
    best = flat[..., 0]
    for i in range(1, flat.shape[-1]):
        best = np.where(flat[..., i] > best, flat[..., i], best)
    return np.expand_dims(best, axes) if attrs.keepdims else best


def _pad(attrs: Any, q: np.ndarray) -> np.ndarray:
    width = [int(w) for w in attrs.pad_width]
    return np.pad(q, list(zip(width[::2], width[1::2], strict=True)), constant_values=int(attrs.pad_value))


def _resize(attrs: Any, q: np.ndarray, size: Any) -> np.ndarray:
    """Nearest by whole factors: pixels are repeated."""
    assert attrs.method == "nearest_neighbor" and attrs.layout == "NCHW"
    factors = [out // n for out, n in zip(size, q.shape[2:], strict=True)]
    assert [n * f for n, f in zip(q.shape[2:], factors, strict=True)] == list(size)
    return q.repeat(factors[0], axis=2).repeat(factors[1], axis=3)


def _split(attrs: Any, q: np.ndarray) -> list[np.ndarray]:
    return np.split(q, [int(i) for i in attrs.indices_or_sections], axis=int(attrs.axis))


OPERATORS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("nn.conv1d", "nn.conv2d", "nn.conv3d"), _conv),
    "tvmq.conv_transpose": _conv_transpose,
    "matmul": lambda attrs, x, w: dot(x, w),
    "add": lambda attrs, a, b: plus(a, b),
    "multiply": lambda attrs, a, b: times(a, b),
    "tvmq.requantize": _requantize,
    "tvmq.add": _add,
    "tvmq.multiply": lambda attrs, a, b: times(a, b),
    "tvmq.matmul": lambda attrs, a, b: dot(a, b),
    "tvmq.prelu": _prelu,
    "tvmq.scale_shift": _scale_shift,
    "tvmq.sum": _sum,
    "tvmq.sum_pool": _sum_pool,
    "tvmq.table": _table,
    **dict.fromkeys(("nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d"), _max_pool),
    "maximum": lambda attrs, a, b: np.where(a > b, a, b),
    "minimum": lambda attrs, a, b: np.where(a < b, a, b),
    "max": _largest,
    "nn.pad": _pad,
    "image.resize2d": _resize,
    "split": _split,
    "concat": lambda attrs, parts: np.concatenate(parts, axis=int(attrs.axis)),
    "reshape": lambda attrs, q, shape: q.reshape(shape),
    "squeeze": lambda attrs, q: q.squeeze(None if attrs.axis is None else tuple(int(a) for a in attrs.axis)),
    "permute_dims": lambda attrs, q: q.transpose(None if attrs.axes is None else [int(a) for a in attrs.axes]),
}
