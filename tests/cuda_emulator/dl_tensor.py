"""CPU arrays that host code takes for arrays on a GPU."""

from __future__ import annotations

import ctypes

import numpy as np

CUDA = 2  # kDLCUDA of dlpack.h
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # kDLInt, kDLUInt, kDLFloat, kDLBool


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DlTensor:
    """A DLTensor of an array; both must live as long as `pointer` is used."""

    def __init__(self, array: np.ndarray) -> None:
        self._shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        steps = [step // array.itemsize for step in array.strides]
        self._strides = (ctypes.c_int64 * max(array.ndim, 1))(*steps)
        kind, bits = CODES[array.dtype.kind], array.itemsize * 8
        self._tensor = _Tensor(
            array.ctypes.data, CUDA, 0, array.ndim, kind, bits, 1, self._shape, self._strides, 0
        )  # fmt: skip

    @property
    def pointer(self) -> ctypes.c_void_p:
        """Address of the tensor, as TVM's functions take it."""
        return ctypes.c_void_p(ctypes.addressof(self._tensor))
