"""Float layers: reductions, norms, pools, products and resizes; values and gradients as in floats.py.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from tvmq.graph.sizes import covering_padding
from tvmq.graph.view import shape_of
from tvmq.training.forms.floats import Smooth, defined_form, native_form
from tvmq.training.forms.pools import pad_with

CONVOLUTIONS = (functional.conv1d, functional.conv2d, functional.conv3d)
TRANSPOSED = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)


def _ints(values: Any) -> list[int]:
    return [int(v) for v in values]


def _axes(call: Any, x: torch.Tensor) -> list[int]:
    axis = call.attrs.axis
    return list(range(x.ndim)) if axis is None else _ints(axis if hasattr(axis, "__len__") else [axis])


# ---- normalizations


def _layer_norm(call: Any, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    shape = list(x.shape[x.ndim - int(call.attrs.axes) :])
    return functional.layer_norm(x, shape, gamma.reshape(shape), beta.reshape(shape), float(call.attrs.epsilon))


def _rms_norm(call: Any, x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    axes = list(range(x.ndim - int(call.attrs.axes), x.ndim))
    factor = torch.rsqrt((x * x).mean(dim=axes, keepdim=True) + float(call.attrs.epsilon))
    return x * factor * gamma.reshape(x.shape[axes[0] :])


def _group_norm(call: Any, x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    return functional.group_norm(x, int(call.attrs.groups), gamma.reshape(-1), beta.reshape(-1), call.attrs.epsilon)


# ---- reductions and scans


def _float_sum(call: Any, x: torch.Tensor) -> torch.Tensor:
    reduce = torch.mean if bool(call.attrs.mean) else torch.sum
    return reduce(x, dim=_ints(call.attrs.axes), keepdim=bool(call.attrs.keepdims))


def _variance(call: Any, x: torch.Tensor) -> torch.Tensor:
    return torch.var(x, dim=_axes(call, x), correction=0, keepdim=bool(call.attrs.keepdims))


def _product(call: Any, x: torch.Tensor) -> torch.Tensor:
    for axis in sorted((a % x.ndim for a in _axes(call, x)), reverse=True):
        x = torch.prod(x, dim=axis, keepdim=bool(call.attrs.keepdims))
    return x


def _cumulative(function: Any) -> Smooth:
    def smooth(call: Any, x: torch.Tensor) -> torch.Tensor:
        axis = call.attrs.axis
        if axis is None:
            x, axis = x.reshape(-1), 0
        result = function(x, int(axis))
        if not call.attrs.exclusive:
            return torch.as_tensor(result)
        first = torch.full_like(result.narrow(int(axis), 0, 1), 0.0 if function is torch.cumsum else 1.0)
        return torch.cat([first, result.narrow(int(axis), 0, result.shape[int(axis)] - 1)], dim=int(axis))

    return smooth


# ---- what sorts


def _top(call: Any, x: torch.Tensor) -> Any:
    values, places = torch.topk(x, int(call.attrs.k), dim=int(call.attrs.axis), largest=bool(call.attrs.largest))
    kind = str(call.attrs.ret_type)
    return {"values": values, "indices": places}.get(kind, [values, places])


def _median(call: Any, x: torch.Tensor) -> Any:
    axes = _axes(call, x)
    if len(axes) != 1:
        x, axes = x.reshape(-1), [0]
    median = torch.median(x, dim=axes[0], keepdim=bool(call.attrs.keepdims))
    return [median.values, median.indices] if hasattr(call.ty, "fields") else median.values


# ---- pools and resizes


def _average_pool(call: Any, x: torch.Tensor) -> torch.Tensor:
    attrs, size, out = call.attrs, x.shape[2:], shape_of(call)[2:]
    kernel, strides = _ints(attrs.pool_size), _ints(attrs.strides)
    padding = list(covering_padding(attrs.padding, size, out, kernel, strides, _ints(attrs.dilation)))
    operator = CONVOLUTIONS[len(kernel) - 1]
    options: dict[str, Any] = {"stride": strides, "dilation": _ints(attrs.dilation)}
    channels = x.shape[1]
    window = x.new_ones((channels, 1, *kernel))
    counted = _ints(attrs.padding) if attrs.count_include_pad else [0] * len(padding)
    ones = pad_with(x.new_ones((1, 1, *size)), counted, 1.0)
    beyond = [p - c for p, c in zip(padding, counted, strict=True)]
    counts = operator(pad_with(ones, beyond, 0.0), window[:1], **options)
    return operator(pad_with(x, padding, 0.0), window, groups=channels, **options) / counts


def _adaptive_pool(call: Any, x: torch.Tensor) -> torch.Tensor:
    operators: Any = (
        functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d, functional.adaptive_avg_pool3d,
    )  # fmt: skip
    pooled: torch.Tensor = operators[x.ndim - 3](x, shape_of(call)[2:])
    return pooled


def _resample(call: Any, x: torch.Tensor, index: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    axis = int(call.attrs.axis)
    shape = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    total = None
    for places, factors in zip(index, weight, strict=True):
        product = x.index_select(axis, places.long()) * factors.reshape(shape)
        total = product if total is None else total + product
    assert total is not None
    return total


# ---- products


def _convolution(call: Any, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    attrs = call.attrs
    return CONVOLUTIONS[w.ndim - 3](
        pad_with(x, _ints(attrs.padding), 0.0), w, stride=_ints(attrs.strides), dilation=_ints(attrs.dilation),
        groups=int(attrs.groups),
    )  # fmt: skip


def _transposed_conv(call: Any, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    attrs, spatial = call.attrs, w.ndim - 2
    padding = _ints(attrs.padding)
    value = TRANSPOSED[spatial - 1](
        x, w, stride=_ints(attrs.strides), dilation=_ints(attrs.dilation), groups=int(attrs.groups),
        output_padding=_ints(attrs.output_padding),
    )  # fmt: skip
    ends = [size - after for size, after in zip(value.shape[2:], padding[spatial:], strict=True)]
    return value[(..., *map(slice, padding[:spatial], ends))]


NATIVE: dict[str, Smooth] = {"tvmq.resample": _resample}
DEFINED: dict[str, Smooth] = {
    "tvmq.softmax": lambda call, x: torch.softmax(x, int(call.attrs.axis)),
    "tvmq.log_softmax": lambda call, x: torch.log_softmax(x, int(call.attrs.axis)),
    "tvmq.layer_norm": _layer_norm,
    "tvmq.rms_norm": _rms_norm,
    "tvmq.group_norm": _group_norm,
    "tvmq.float_sum": _float_sum,
}
COMPILED: dict[str, Smooth] = {
    "sum": lambda call, x: torch.sum(x, dim=_axes(call, x), keepdim=bool(call.attrs.keepdims)),
    "mean": lambda call, x: torch.mean(x, dim=_axes(call, x), keepdim=bool(call.attrs.keepdims)),
    "variance": _variance,
    "std": lambda call, x: torch.sqrt(_variance(call, x)),
    "prod": _product,
    "cumsum": _cumulative(torch.cumsum),
    "cumprod": _cumulative(torch.cumprod),
    "sort": lambda call, x: torch.sort(x, dim=int(call.attrs.axis), descending=bool(call.attrs.descending)).values,
    "topk": _top,
    "median": _median,
    **{f"nn.avg_pool{axes}d": _average_pool for axes in (1, 2, 3)},
    **{f"nn.adaptive_avg_pool{axes}d": _adaptive_pool for axes in (1, 2, 3)},
    **{f"nn.conv{axes}d_transpose": _transposed_conv for axes in (1, 2, 3)},
}
# of floats; on codes they have forms of their own (products.py)
PRODUCTS: dict[str, Smooth] = {
    **{f"nn.conv{axes}d": _convolution for axes in (1, 2, 3)},
    "matmul": lambda _call, a, b: a @ b,
}

FORMS: dict[str, Any] = {
    **{name: native_form(smooth) for name, smooth in (*NATIVE.items(), *COMPILED.items())},
    **{name: defined_form(smooth) for name, smooth in DEFINED.items()},
}
FLOAT_PRODUCTS: dict[str, Any] = {name: native_form(smooth) for name, smooth in PRODUCTS.items()}
