"""Type of a quantized tensor: `QuantSpec` (type, bits, symmetry) and `QParams` (scale and zero point).

    real value = (code - zero_point) * scale,  qmin <= code <= qmax

Both are frozen and checked when they are made, so that nothing later has to ask again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tvmq.errors import ConfigError, RangeError
from tvmq.numerics.code_type import CODE_TYPES, CODES_16, CodeType

SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


@dataclass(frozen=True)
class QuantSpec:
    """How a tensor is to be quantized, without its numbers.

    dtype        storage type: "int8", "uint8" or "int16"
    bits         codes used of the storage type, from 2 to its width
    symmetric    zero point 0 and codes +-(2^(bits-1) - 1); needs a signed type
    per_channel  one scale for each channel instead of one for the tensor
    raises       ConfigError naming the field

    >>> QuantSpec("int8", symmetric=True).qmin, QuantSpec("uint8", bits=4).qmax
    (-127, 15)
    """

    dtype: str = "uint8"
    bits: int = 8
    symmetric: bool = False
    per_channel: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in CODES_16:
            raise ConfigError(f"QuantSpec: dtype must be one of {', '.join(CODES_16)}. Got {self.dtype!r} instead")
        for field in ("symmetric", "per_channel"):
            if not isinstance(getattr(self, field), bool):
                raise ConfigError(f"QuantSpec: {field} must be True or False. Got {getattr(self, field)!r} instead")
        widest = CODE_TYPES[self.dtype].bits
        if not isinstance(self.bits, int) or isinstance(self.bits, bool) or not 2 <= self.bits <= widest:
            raise ConfigError(
                f"QuantSpec: bits of {self.dtype} must be an int in 2..{widest}. Got {self.bits!r} instead"
            )
        if self.symmetric and self.dtype == "uint8":
            raise ConfigError(
                "QuantSpec: symmetric needs a signed dtype, got 'uint8'; use dtype='int8' or symmetric=False"
            )

    @property
    def _code_type(self) -> CodeType:
        """Type of its codes, without its scheme."""
        return CodeType(self.bits, CODE_TYPES[self.dtype].signed)

    @property
    def qmin(self) -> int:
        """Lowest code."""
        return self._code_type.limits[0] + int(self.symmetric)

    @property
    def qmax(self) -> int:
        """Highest code."""
        return self._code_type.limits[1]

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> QuantSpec:
        """Inverse of `to_dict`; ConfigError on an unknown field, and for what is no dictionary."""
        if not isinstance(fields, Mapping):
            raise ConfigError(f"QuantSpec: must be a dictionary of fields. Got {repr(fields)[:99]} instead")
        unknown = set(fields) - set(cls.__dataclass_fields__)
        if unknown:
            raise ConfigError(
                f"QuantSpec: unknown field {sorted(unknown)[0]!r}; known: {', '.join(cls.__dataclass_fields__)}"
            )
        return cls(**fields)


@dataclass(frozen=True, eq=False)
class QParams:
    """Scale and zero point of a tensor.

    scale        float32, shape () or (C,); positive, finite, not denormal
    zero_point   int32, same shape (a scalar is repeated); within qmin..qmax, 0 where the spec is symmetric
    axis         None for shape (), else the channel axis; the spec must then say per_channel
    tensor       whose they are: the name under which statistics are kept; says nothing of the numbers
    raises       RangeError for a bad number, ConfigError for shapes and fields that do not fit each other

    A per-channel spec may come down to one scale (axis None): some tensors have no channel axis.
    Two QParams are equal if all their fields but `tensor` are; there is no hash. The arrays are read-only copies.

    >>> QParams(0.5, 3, QuantSpec()) == QParams.from_dict(QParams(0.5, 3, QuantSpec()).to_dict())
    True
    """

    scale: np.ndarray
    zero_point: np.ndarray
    spec: QuantSpec
    axis: int | None = None
    tensor: str = ""

    def __post_init__(self) -> None:
        scale = _freeze(self.scale, np.float32, "scale")
        zero_point = np.asarray(self.zero_point)
        if zero_point.ndim == 0 and scale.ndim == 1:
            zero_point = np.broadcast_to(zero_point, scale.shape)
        zero_point = _freeze(zero_point, np.int32, "zero_point")
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "zero_point", zero_point)
        self._check_shapes()
        self._check_numbers()

    def _check_shapes(self) -> None:
        if not isinstance(self.spec, QuantSpec):
            raise ConfigError(f"QParams: spec must be a QuantSpec. Got {self.spec!r} instead")
        if self.scale.shape != self.zero_point.shape or self.scale.ndim > 1:
            raise ConfigError(
                f"QParams: scale and zero_point must both have shape () or (channels,). "
                f"Got {self.scale.shape} and {self.zero_point.shape} instead"
            )
        if (self.axis is None) != (self.scale.ndim == 0):
            raise ConfigError(
                f"QParams: axis must be None for one scale and an int for one per channel. "
                f"Got axis {self.axis!r} with scale of shape {self.scale.shape} instead"
            )
        if self.axis is not None and not self.spec.per_channel:
            raise ConfigError(
                f"QParams: {self.scale.size} scales on axis {self.axis}, but the spec is per tensor; "
                f"use per_channel=True"
            )

    def _check_numbers(self) -> None:
        scale, zero_point, spec = self.scale, self.zero_point, self.spec
        self._refuse(
            ~(np.isfinite(scale) & (scale >= SMALLEST_NORMAL)),
            scale,
            f"scale must be finite and at least {SMALLEST_NORMAL:g} (the smallest normal float32); "
            f"an all-zero channel needs scale 1",
        )
        self._refuse(
            (zero_point < spec.qmin) | (zero_point > spec.qmax),
            zero_point,
            f"zero_point must lie in {spec.qmin}..{spec.qmax}",
        )
        if spec.symmetric:
            self._refuse(zero_point != 0, zero_point, "zero_point of a symmetric spec must be 0")

    def _refuse(self, bad: np.ndarray, values: np.ndarray, rule: str) -> None:
        if bad.any():
            channel = int(np.argmax(bad))
            place = "" if self.axis is None else f" at channel {channel} of axis {self.axis}"
            raise RangeError(f"QParams: {rule}. Got {np.ravel(values)[channel]:g}{place} instead")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QParams):
            return NotImplemented
        return (
            self.spec == other.spec
            and self.axis == other.axis
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero_point, other.zero_point)
        )

    @property
    def low(self) -> np.ndarray:
        """Real value of qmin, float64, shape of scale."""
        return (self.spec.qmin - self.zero_point.astype(np.float64)) * self.scale

    @property
    def high(self) -> np.ndarray:
        """Real value of qmax, float64, shape of scale."""
        return (self.spec.qmax - self.zero_point.astype(np.float64)) * self.scale

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists that JSON can hold; float32 survives it exactly."""
        return {
            "scale": self.scale.tolist(),
            "zero_point": self.zero_point.tolist(),
            "spec": self.spec.to_dict(),
            "axis": self.axis,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> QParams:
        """Inverse of `to_dict`; everything is checked again."""
        missing = {"scale", "zero_point", "spec", "axis"} - set(fields)
        if missing:
            raise ConfigError(f"QParams: field {sorted(missing)[0]!r} is missing")
        return cls(fields["scale"], fields["zero_point"], QuantSpec.from_dict(fields["spec"]), fields["axis"])


def _freeze(values: ArrayLike, dtype: type, field: str) -> np.ndarray:
    """A read-only copy of another type; refuses what the type cannot hold."""
    array = np.asarray(values)
    if array.dtype.kind not in ("iuf" if dtype is np.float32 else "iu"):
        raise ConfigError(f"QParams: {field} must be {np.dtype(dtype).name}. Got {array.dtype.name} instead")
    with np.errstate(over="ignore"):
        copy: np.ndarray = array.astype(dtype)
    if dtype is np.int32 and not np.array_equal(copy, array):
        raise RangeError(f"QParams: {field} must be int32. Got {array.tolist()} instead")
    copy.flags.writeable = False
    return copy


def choose_qparams(low: ArrayLike, high: ArrayLike, spec: QuantSpec, axis: int | None = None) -> QParams:
    """Scale and zero point that cover the real range low..high.

    low, high  finite, shape () or (C,) with `axis`; the range is widened to contain 0, so that 0 has a code;
               low = inf with high = -inf (the extremes of no values) counts as empty
    scale      symmetric: max(-low, high) / qmax, else (high - low) / (qmax - qmin); in float64, rounded once
               to float32; 1 for an empty or all-zero range, never below the smallest normal float32
    zero_point clip(rint(qmin - low / scale)), half to even, with the rounded scale
    raises     RangeError for NaN, infinity or low > high, naming the channel

    >>> params = choose_qparams(-1.0, 3.0, QuantSpec("uint8"))
    >>> float(params.scale), int(params.zero_point)
    (0.01568627543747425, 64)
    """
    low, high = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    empty = (low == np.inf) & (high == -np.inf)
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    bad = ~(np.isfinite(low) & np.isfinite(high) & (low <= high))
    if bad.any():
        channel = int(np.argmax(bad))
        place = "" if low.ndim == 0 else f" at channel {channel}"
        raise RangeError(
            f"choose_qparams: the range must be finite with low <= high. "
            f"Got {np.ravel(low)[channel]:g}..{np.ravel(high)[channel]:g}{place} instead; "
            f"look for NaN or inf in weights and calibration data"
        )
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    with np.errstate(over="ignore"):
        if spec.symmetric:
            span, steps = np.maximum(-low, high), spec.qmax
        else:
            span, steps = high - low, spec.qmax - spec.qmin
        scale = np.maximum(np.where(span == 0, 1.0, span / steps).astype(np.float32), SMALLEST_NORMAL)
    zero_point = np.zeros(scale.shape, np.int32)
    if not spec.symmetric:
        zero_point = np.clip(np.rint(spec.qmin - low / scale.astype(np.float64)), spec.qmin, spec.qmax).astype(np.int32)
    return QParams(scale, zero_point, spec, axis)
