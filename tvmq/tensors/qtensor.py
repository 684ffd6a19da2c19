"""QTensor: an array of codes with its scale and zero point.

Nothing is rounded here: quantize and dequantize are those of tvmq.numerics, and what needs a new scale is refused with
the name of what chooses one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike

from tvmq.errors import ConfigError, DataError, RangeError
from tvmq.numerics.affine import dequantize
from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.codes import along_axis
from tvmq.numerics.spec import QParams
from tvmq.tensors.array_protocol import apply_function, apply_ufunc
from tvmq.tensors.code_moves import check_order, move_codes
from tvmq.tensors.tensor_file import read_tensor, write_tensor

Axes = int | Sequence[int] | None


@dataclass(frozen=True, eq=False, repr=False)
class QTensor(NDArrayOperatorsMixin):
    """Codes of a tensor, with their scale and zero point: real value = (code - zero_point) * scale.

    codes    uint8, int8 or int16 as `qparams.spec` says, any shape, within its codes; not copied, and read-only here
    qparams  one scale, or one for each channel of an axis
    raises   ConfigError for codes of another type or scales that do not fit the shape, RangeError for other codes

    Transposing, reshaping, slicing, joining, sorting, minimum, maximum, relu and comparisons work on codes; NumPy's
    functions of these names do as well. Everything else raises UnsupportedOpError and names what to call.
    `numpy.asarray` gives the real values (float32), `int_repr` the codes.

    >>> from tvmq import QuantSpec
    >>> q = QTensor(np.uint8([0, 3, 5]), QParams(0.5, 3, QuantSpec()))
    >>> q
    QTensor([-1.5,  0. ,  1. ], size=(3,), dtype=uint8, quantization_scheme=per_tensor_affine, scale=0.5, zero_point=3)
    >>> q[::-1].int_repr(), np.asarray(q.relu()), float(q.max())
    (array([5, 3, 0], dtype=uint8), array([0., 0., 1.], dtype=float32), 1.0)
    """

    codes: np.ndarray
    qparams: QParams

    def __post_init__(self) -> None:
        if not isinstance(self.qparams, QParams):
            raise ConfigError(f"QTensor: qparams must be a QParams. Got {type(self.qparams).__name__} instead")
        codes = np.asarray(self.codes).view()
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        self._check_codes()
        axis, scale = self.qparams.axis, self.qparams.scale
        if axis is None:
            return
        if not -codes.ndim <= axis < codes.ndim or codes.shape[axis] != scale.size:
            raise ConfigError(f"QTensor: {scale.size} scales on axis {axis} do not fit codes of shape {codes.shape}")
        object.__setattr__(self, "qparams", replace(self.qparams, axis=axis % codes.ndim))

    def _check_codes(self) -> None:
        spec, codes = self.qparams.spec, self.codes
        if codes.dtype != spec.dtype:
            raise ConfigError(
                f"QTensor: codes must be {spec.dtype}, as the spec says. Got {codes.dtype.name} instead; "
                f"tvmq.quantize_tensor makes codes of floats"
            )
        if codes.size and (codes.min() < spec.qmin or codes.max() > spec.qmax):
            wrong = codes[(codes < spec.qmin) | (codes > spec.qmax)]
            raise RangeError(f"QTensor: codes must lie in {spec.qmin}..{spec.qmax}. Got {wrong.flat[0]} instead")

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.codes.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.codes.ndim

    @property
    def size(self) -> int:
        """Number of values."""
        return self.codes.size

    @property
    def nbytes(self) -> int:
        """Bytes of the codes."""
        return self.codes.nbytes

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes."""
        return self.codes.dtype

    @property
    def scale(self) -> np.ndarray:
        """Real units a step, float32, shape () or (channels,)."""
        return self.qparams.scale

    @property
    def zero_point(self) -> np.ndarray:
        """Code of 0.0, int32, shape of `scale`."""
        return self.qparams.zero_point

    @property
    def axis(self) -> int | None:
        """Axis of the channels that have scales of their own; None for one scale."""
        return self.qparams.axis

    @property
    def T(self) -> QTensor:
        """The axes in reverse order."""
        return self.transpose()

    def int_repr(self) -> np.ndarray:
        """The codes, as a copy that may be written to."""
        return self.codes.copy()

    def dequantize(self) -> np.ndarray:
        """Real values, float32, shape of the codes, by `tvmq.numerics.dequantize`."""
        return dequantize(self.codes, self.scale, self.zero_point, axis=self.axis)

    def transpose(self, *axes: int) -> QTensor:
        """The axes in this order; without arguments in reverse order."""
        return move_codes(self, "transpose", lambda array: array.transpose(*axes))

    def reshape(self, *shape: int) -> QTensor:
        """Another shape of as many values; ConfigError where channels with scales of their own would be mixed."""
        return move_codes(self, "reshape", lambda array: array.reshape(*shape))

    view = reshape

    def __getitem__(self, index: Any) -> QTensor:
        return move_codes(self, "index", lambda array: array[index])

    def __len__(self) -> int:
        return len(self.codes)

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> QTensor:
        """Least values over these axes, as codes; ConfigError over an axis whose channels have scales of their own."""
        return self._reduce("min", axis, keepdims)

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> QTensor:
        """Greatest values; see `min`."""
        return self._reduce("max", axis, keepdims)

    def _reduce(self, name: str, axis: Axes, keepdims: bool) -> QTensor:
        check_order(self, name, axis)
        axes = tuple(axis) if isinstance(axis, Sequence) else axis
        return move_codes(self, name, lambda array: np.asarray(getattr(array, name)(axes, keepdims=keepdims)))

    def argmin(self, axis: int | None = None) -> Any:
        """Places of the least values, intp, the first of equal ones."""
        check_order(self, "argmin", axis)
        return self.codes.argmin(axis)

    def argmax(self, axis: int | None = None) -> Any:
        """Places of the greatest values; see `argmin`."""
        check_order(self, "argmax", axis)
        return self.codes.argmax(axis)

    def sort(self, axis: int = -1) -> QTensor:
        """The values in ascending order along an axis, as a new tensor."""
        check_order(self, "sort", axis)
        return move_codes(self, "sort", lambda array: np.sort(array, axis))

    def argsort(self, axis: int = -1) -> np.ndarray:
        """Places in ascending order of the values along an axis; equal ones stay in order."""
        check_order(self, "argsort", axis)
        return self.codes.argsort(axis, kind="stable")

    def relu(self) -> QTensor:
        """max(x, 0): codes below the zero point become it; the scale stays."""
        zero = along_axis(self.zero_point, self.axis, self.shape)
        return QTensor(np.maximum(self.codes, zero).astype(self.dtype), self.qparams)

    def item(self) -> float:
        """The real value of a tensor of one value; DataError for others."""
        if self.size != 1:
            raise DataError(f"QTensor: item gives the value of a tensor of one, this one has {self.size}")
        return float(self.dequantize().reshape(()))

    __float__ = item

    def __bool__(self) -> bool:
        return bool(self.item())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write codes and scales: .npz, or .safetensors with the extra of that name (pip install "tvmq[safetensors]").

        raises  OutputError, and then nothing is left behind; ConfigError for another suffix, or without the package
        """
        write_tensor(path, self.codes, self.qparams)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> QTensor:
        """Read what `save` wrote; ArtifactError for a file that is missing, damaged or another one."""
        return read_tensor(path, cls)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("QTensor: real values are computed, which is a copy; int_repr() gives the codes")
        return self.dequantize().astype(np.float32 if dtype is None else dtype, copy=False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return apply_function(function, args, options)

    def __repr__(self) -> str:
        values = np.array2string(self.dequantize(), prefix="QTensor(", separator=", ")
        return f"QTensor({values}, {', '.join(self._describe())})"

    def _describe(self) -> list[str]:
        spec = self.qparams.spec
        per = "tensor" if self.axis is None else "channel"
        parts = [f"size={self.shape}", f"dtype={self.dtype.name}"]
        parts += [f"bits={spec.bits}"] if spec.bits < CODE_TYPES[spec.dtype].bits else []
        parts += [f"quantization_scheme=per_{per}_{'symmetric' if spec.symmetric else 'affine'}"]
        if self.axis is None:
            return [*parts, f"scale={np.float32(self.scale)!s}", f"zero_point={int(self.zero_point)}"]
        numbers = {"scale": self.scale, "zero_point": self.zero_point}
        listed = [f"{name}={np.array2string(array, separator=', ', threshold=8)}" for name, array in numbers.items()]
        return [*parts, *listed, f"axis={self.axis}"]
