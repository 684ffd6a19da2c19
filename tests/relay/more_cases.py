"""More calls of operators, beside cases.py: windows of other ranks, resizing, inverse functions, bits, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.relay.cases import INPUTS, Case
from tvmq import relay

_RNG = np.random.default_rng(11)
W3 = _RNG.normal(size=(5, 2, 2, 3, 3)).astype("float32")
W1T = _RNG.normal(size=(4, 3, 5)).astype("float32")
SPECIAL = np.array([1, np.nan, np.inf, -np.inf, 0], "float32")
INT = np.array([-7, -1, 3, 5, 120], "int32")


def windows(x: np.ndarray, sizes: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Windows over the last dimensions; their elements come last."""
    axes = tuple(range(x.ndim - len(sizes), x.ndim))
    found = np.lib.stride_tricks.sliding_window_view(x, sizes, axis=axes)
    return found[(slice(None), slice(None), *(slice(None, None, stride) for stride in strides))]


def padded(x: np.ndarray, before: int, after: int, value: float = 0) -> np.ndarray:
    """A border around all dimensions behind the second."""
    return np.pad(x, ((0, 0), (0, 0), *((before, after),) * (x.ndim - 2)), constant_values=value)


def conv(x: np.ndarray, w: np.ndarray, pad: int = 0, groups: int = 1) -> np.ndarray:
    """Convolution of NC... and OI... by its definition."""
    rank, outs = w.ndim - 2, len(w) // groups
    found = windows(padded(x, pad, pad), w.shape[2:], (1,) * rank)
    inner = tuple(range(-rank, 0))
    parts = [
        np.tensordot(found[:, g * w.shape[1] : (g + 1) * w.shape[1]], w[g * outs : (g + 1) * outs], ((1, *inner), (1, *inner)))
        for g in range(groups)
    ]  # fmt: skip
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def transposed(x: np.ndarray, w: np.ndarray, stride: int, pad: int, more: int) -> np.ndarray:
    """Transposed convolution of NCW and IOW: every input adds its kernel at its place; the border is cut off."""
    full = np.zeros((len(x), w.shape[1], (x.shape[2] - 1) * stride + w.shape[2] + more), "float64")
    for place in range(x.shape[2]):
        full[:, :, place * stride : place * stride + w.shape[2]] += np.einsum("nc,cok->nok", x[:, :, place], w)
    return full[:, :, pad : full.shape[2] - pad]


def mean_inside(x: np.ndarray, sizes: tuple[int, ...], strides: tuple[int, ...], pad: int) -> np.ndarray:
    """Mean of what lies inside of the picture."""
    axes = tuple(range(-len(sizes), 0))
    ones = padded(np.ones_like(x), pad, pad)
    return windows(padded(x, pad, pad), sizes, strides).sum(axes) / windows(ones, sizes, strides).sum(axes)


def weights(length: int, size: int, mode: str, method: str) -> np.ndarray:
    """Weight of each of `length` values in each of `size` resized ones; beyond the border the border's value counts."""
    out = np.arange(size)
    place = {
        "half_pixel": (out + 0.5) * length / size - 0.5,
        "align_corners": out * (length - 1) / max(size - 1, 1),
        "asymmetric": out * length / size,
    }[mode]
    left = np.floor(place).astype(int)
    part = place - left
    far, near = 1 + part, part
    a = -0.5
    cubic = [
        a * far**3 - 5 * a * far**2 + 8 * a * far - 4 * a,
        (a + 2) * near**3 - (a + 3) * near**2 + 1,
        (a + 2) * (1 - near) ** 3 - (a + 3) * (1 - near) ** 2 + 1,
        a * (2 - near) ** 3 - 5 * a * (2 - near) ** 2 + 8 * a * (2 - near) - 4 * a,
    ]
    nearest = np.floor(place + 0.5).astype(int) if mode == "align_corners" else left
    taps = {
        "linear": [(left, 1 - part), (left + 1, part)],
        "cubic": [(left + tap - 1, weight) for tap, weight in enumerate(cubic)],
        "nearest": [(nearest, np.ones(size))],
    }[method]
    matrix = np.zeros((size, length))
    for index, weight in taps:
        np.add.at(matrix, (out, np.clip(index, 0, length - 1)), weight)
    return matrix


def resized(x: np.ndarray, rows: int, columns: int, mode: str, method: str) -> np.ndarray:
    """A picture in another size, one dimension after the other."""
    x = np.einsum("nchw,rh->ncrw", x, weights(x.shape[2], rows, mode, method))
    return np.einsum("nchw,rw->nchr", x, weights(x.shape[3], columns, mode, method))


def flat(x: Any) -> Any:
    """(2, 4, 36) of Relay's x."""
    return relay.reshape(x, (0, 0, -1))


def deep(x: Any) -> Any:
    """(2, 4, 6, 3, 2) of Relay's x."""
    return relay.reshape(x, (2, 4, 6, 3, 2))


def np_deep(x: np.ndarray) -> np.ndarray:
    return x.reshape(2, 4, 6, 3, 2)


def _cubes(x: np.ndarray) -> np.ndarray:
    return x.reshape(2, 2, 3, 4, 6)


NN: dict[str, Case] = {
    "conv3d": (
        lambda x, z, m, v, i: relay.nn.conv3d(relay.reshape(x, (2, 2, 3, 4, 6)), relay.const(W3), padding=1),
        lambda x, z, m, v, i: conv(_cubes(x), W3, 1),
    ),
    "conv3d grouped, by sizes": (
        lambda x, z, m, v, i: relay.nn.conv3d(relay.reshape(x, (2, 2, 3, 4, 6)), relay.const(W3[:4, :1]), groups=2, channels=4, kernel_size=(2, 3, 3)),
        lambda x, z, m, v, i: conv(_cubes(x), W3[:4, :1], groups=2),
    ),
    "conv1d_transpose": (
        lambda x, z, m, v, i: relay.nn.conv1d_transpose(flat(x), relay.const(W1T), strides=2, padding=1, output_padding=1),
        lambda x, z, m, v, i: transposed(x.reshape(2, 4, 36), W1T, 2, 1, 1),
    ),
    "max_pool1d": (lambda x, z, m, v, i: relay.nn.max_pool1d(flat(x), 3, 2, padding=1), lambda x, z, m, v, i: windows(padded(x.reshape(2, 4, 36), 1, 1, -np.inf), (3,), (2,)).max(-1)),
    "avg_pool1d": (lambda x, z, m, v, i: relay.nn.avg_pool1d(flat(x), 3, 2, padding=1), lambda x, z, m, v, i: mean_inside(x.reshape(2, 4, 36), (3,), (2,), 1)),
    "avg_pool2d inside": (lambda x, z, m, v, i: relay.nn.avg_pool2d(x, 3, 2, padding=1), lambda x, z, m, v, i: mean_inside(x, (3, 3), (2, 2), 1)),
    "max_pool3d": (lambda x, z, m, v, i: relay.nn.max_pool3d(deep(x), (2, 3, 1), (2, 1, 1)), lambda x, z, m, v, i: windows(np_deep(x), (2, 3, 1), (2, 1, 1)).max((-3, -2, -1))),
    "avg_pool3d": (lambda x, z, m, v, i: relay.nn.avg_pool3d(deep(x), 2, 1, padding=1), lambda x, z, m, v, i: mean_inside(np_deep(x), (2, 2, 2), (1, 1, 1), 1)),
    "avg_pool3d border": (
        lambda x, z, m, v, i: relay.nn.avg_pool3d(deep(x), 2, 1, padding=1, count_include_pad=True),
        lambda x, z, m, v, i: windows(padded(np_deep(x), 1, 1), (2, 2, 2), (1, 1, 1)).mean((-3, -2, -1)),
    ),
    "pools as they are": (lambda x, z, m, v, i: relay.nn.max_pool2d(relay.nn.avg_pool2d(x)), lambda x, z, m, v, i: x),
    "adaptive_avg_pool2d uneven": (
        lambda x, z, m, v, i: relay.nn.adaptive_avg_pool2d(x, 4),
        lambda x, z, m, v, i: np.stack([np.stack([x[:, :, a:b, c:d].mean((2, 3)) for c, d in ((0, 2), (1, 3), (3, 5), (4, 6))], -1) for a, b in ((0, 2), (1, 3), (3, 5), (4, 6))], -2),
    ),
    "adaptive_avg_pool2d none": (lambda x, z, m, v, i: relay.nn.adaptive_avg_pool2d(x), lambda x, z, m, v, i: x),
    "upsampling odd": (lambda x, z, m, v, i: relay.nn.upsampling(x, 1.5, 2.5), lambda x, z, m, v, i: resized(x, 9, 15, "asymmetric", "nearest")),
    "upsampling bilinear": (lambda x, z, m, v, i: relay.nn.upsampling(x, 2, 3, method="bilinear"), lambda x, z, m, v, i: resized(x, 12, 18, "asymmetric", "linear")),
    "upsampling bilinear corners": (lambda x, z, m, v, i: relay.nn.upsampling(x, 2, 3, method="bilinear", align_corners=True), lambda x, z, m, v, i: resized(x, 12, 18, "align_corners", "linear")),
    "upsampling bicubic": (lambda x, z, m, v, i: relay.nn.upsampling(x, 2, 2, method="bicubic"), lambda x, z, m, v, i: resized(x, 12, 12, "asymmetric", "cubic")),
    "upsampling NHWC": (
        lambda x, z, m, v, i: relay.nn.upsampling(relay.transpose(x, (0, 2, 3, 1)), 2, 2, layout="NHWC", method="bilinear"),
        lambda x, z, m, v, i: resized(x, 12, 12, "asymmetric", "linear").transpose(0, 2, 3, 1),
    ),
    "resize2d as it is": (lambda x, z, m, v, i: relay.image.resize2d(x, (9, 4)), lambda x, z, m, v, i: resized(x, 9, 4, "half_pixel", "linear")),
    "resize2d corners": (lambda x, z, m, v, i: relay.image.resize2d(x, 11, coordinate_transformation_mode="align_corners"), lambda x, z, m, v, i: resized(x, 11, 11, "align_corners", "linear")),
    "resize2d nearest corners": (
        lambda x, z, m, v, i: relay.image.resize2d(x, 9, method="nearest_neighbor", coordinate_transformation_mode="align_corners"),
        lambda x, z, m, v, i: resized(x, 9, 9, "align_corners", "nearest"),
    ),
    "resize2d cubic": (lambda x, z, m, v, i: relay.image.resize2d(x, 9, method="cubic"), lambda x, z, m, v, i: resized(x, 9, 9, "half_pixel", "cubic")),
    "dropout_raw": (lambda x, z, m, v, i: relay.TupleGetItem(relay.nn.dropout_raw(x), 1), lambda x, z, m, v, i: np.ones_like(x)),
    "pad reflect": (lambda x, z, m, v, i: relay.nn.pad(m, ((1, 1), (2, 2)), pad_mode="reflect"), lambda x, z, m, v, i: np.pad(m, ((1, 1), (2, 2)), "reflect")),
}  # fmt: skip


def _special() -> Any:
    return relay.const(SPECIAL)


def _masks() -> tuple[Any, Any]:
    """Two masks that have all four pairs."""
    return relay.const(np.array([True, True, False, False])), relay.const(np.array([True, False, True, False]))


_A, _B = np.array([True, True, False, False]), np.array([True, False, True, False])
_BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
_LOGIC = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}

ELEMENTWISE: dict[str, Case] = {
    "tan": (lambda x, z, m, v, i: relay.tan(m), lambda x, z, m, v, i: np.tan(m)),
    "sinh": (lambda x, z, m, v, i: relay.sinh(m), lambda x, z, m, v, i: np.sinh(m)),
    "cosh": (lambda x, z, m, v, i: relay.cosh(m), lambda x, z, m, v, i: np.cosh(m)),
    "atan": (lambda x, z, m, v, i: relay.atan(m), lambda x, z, m, v, i: np.arctan(m)),
    "asinh": (lambda x, z, m, v, i: relay.asinh(m), lambda x, z, m, v, i: np.arcsinh(m)),
    "asin": (lambda x, z, m, v, i: relay.asin(relay.const(0.9) * relay.sin(m)), lambda x, z, m, v, i: np.arcsin(0.9 * np.sin(m))),
    "acos": (lambda x, z, m, v, i: relay.acos(relay.const(0.9) * relay.sin(m)), lambda x, z, m, v, i: np.arccos(0.9 * np.sin(m))),
    "atanh": (lambda x, z, m, v, i: relay.atanh(relay.const(0.9) * relay.sin(m)), lambda x, z, m, v, i: np.arctanh(0.9 * np.sin(m))),
    "acosh": (lambda x, z, m, v, i: relay.acosh(relay.const(1.5) + relay.abs(m)), lambda x, z, m, v, i: np.arccosh(1.5 + np.abs(m))),
    "atan2": (lambda x, z, m, v, i: relay.atan2(x, z), lambda x, z, m, v, i: np.arctan2(x, z)),
    "floor_divide": (lambda x, z, m, v, i: relay.floor_divide(i, relay.const(INT)), lambda x, z, m, v, i: i // INT),
    "floor_divide floats": (lambda x, z, m, v, i: relay.floor_divide(x, z), lambda x, z, m, v, i: np.floor(x / z)),
    "floor_mod": (lambda x, z, m, v, i: relay.floor_mod(i, relay.const(INT)), lambda x, z, m, v, i: np.mod(i, INT)),
    "floor_mod floats": (lambda x, z, m, v, i: relay.floor_mod(m, relay.const(-0.75)), lambda x, z, m, v, i: np.mod(m, np.float32(-0.75))),
    "mod": (lambda x, z, m, v, i: relay.mod(i, relay.const(INT)), lambda x, z, m, v, i: np.fmod(i, INT)),
    "mod floats": (lambda x, z, m, v, i: relay.mod(m, relay.const(0.75)), lambda x, z, m, v, i: np.fmod(m, np.float32(0.75))),
    "bitwise_not": (lambda x, z, m, v, i: relay.bitwise_not(i), lambda x, z, m, v, i: ~i),
    "logical_not": (lambda x, z, m, v, i: relay.logical_not(_masks()[0]), lambda x, z, m, v, i: ~_A),
    "isnan": (lambda x, z, m, v, i: relay.isnan(m * _special()), lambda x, z, m, v, i: np.isnan(m * SPECIAL)),
    "isfinite": (lambda x, z, m, v, i: relay.isfinite(m * _special()), lambda x, z, m, v, i: np.isfinite(m * SPECIAL)),
    "isinf": (lambda x, z, m, v, i: relay.isinf(m * _special()), lambda x, z, m, v, i: np.isinf(m * SPECIAL)),
    "comparisons": (
        lambda x, z, m, v, i: relay.logical_and(x <= z, relay.logical_not(x >= z)), lambda x, z, m, v, i: x < z,
    ),
    "cast_hint": (lambda x, z, m, v, i: relay.annotation.cast_hint(x, "int8"), lambda x, z, m, v, i: x),
    "on_device": (lambda x, z, m, v, i: relay.annotation.on_device(x, "cpu"), lambda x, z, m, v, i: x),
    "compiler_begin, compiler_end": (
        lambda x, z, m, v, i: relay.annotation.compiler_end(-relay.annotation.compiler_begin(x, "dnnl"), "dnnl"), lambda x, z, m, v, i: -x,
    ),
}  # fmt: skip
ELEMENTWISE |= {
    name: (lambda x, z, m, v, i, f=name: getattr(relay, f)(i, relay.const(INT)), lambda x, z, m, v, i, f=f: f(i, INT))
    for name, f in _BITS.items()
}
ELEMENTWISE |= {
    name: (lambda x, z, m, v, i, f=name: getattr(relay, f)(*_masks()), lambda x, z, m, v, i, f=f: f(_A, _B))
    for name, f in _LOGIC.items()
}

MOVES: dict[str, Case] = {
    "copy": (lambda x, z, m, v, i: relay.copy(m), lambda x, z, m, v, i: m),
    "broadcast_to_like": (lambda x, z, m, v, i: relay.broadcast_to_like(relay.reshape(v, (4, 1, 1)), x), lambda x, z, m, v, i: np.broadcast_to(v[:, None, None], x.shape)),
    "full_like": (lambda x, z, m, v, i: relay.full_like(m, relay.const(1.5)), lambda x, z, m, v, i: np.full_like(m, 1.5)),
    "ones": (lambda x, z, m, v, i: relay.ones((3, 5), "int32") + i, lambda x, z, m, v, i: i + 1),
    "zeros_like": (lambda x, z, m, v, i: relay.zeros_like(m), lambda x, z, m, v, i: np.zeros_like(m)),
    "arange steps": (lambda x, z, m, v, i: relay.arange(relay.const(9), relay.const(-1), relay.const(-2), "int32") + i, lambda x, z, m, v, i: np.arange(9, -1, -2, dtype="int32") + i),
    "mean_variance": (lambda x, z, m, v, i: relay.concatenate(relay.mean_variance(x, [2, 3], True), 0), lambda x, z, m, v, i: np.concatenate([x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)])),
    "mean_std": (lambda x, z, m, v, i: relay.concatenate(relay.mean_std(x, 1, unbiased=True), 0), lambda x, z, m, v, i: np.concatenate([x.mean(1), x.std(1, ddof=1)])),
    "variance unbiased": (lambda x, z, m, v, i: relay.variance(x, 0, True, True, True), lambda x, z, m, v, i: x.var((1, 2, 3), ddof=1, keepdims=True)),
    "variance of a mean": (lambda x, z, m, v, i: relay.variance(m, 1, with_mean=relay.const(np.zeros((3, 1), "float32"))), lambda x, z, m, v, i: (m * m).mean(1)),
}  # fmt: skip

__all__ = ["ELEMENTWISE", "INPUTS", "MOVES", "NN"]
