"""Structures of the header of a C library, as ctypes passes them; names there begin with the model's.

Tests: tests/library/test_load_library.py
"""

from __future__ import annotations

import ctypes

import numpy as np

MOST_RANK = 8


class Buffer(ctypes.Structure):
    """NAME_buffer: memory of the caller."""

    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


class TensorDescription(ctypes.Structure):
    """NAME_tensor: an input or output."""

    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("name", "type")),
        *((name, ctypes.c_uint32) for name in ("rank", "alignment")),
        ("shape", ctypes.c_int64 * MOST_RANK),
        ("bytes", ctypes.c_int64),
        ("scale", ctypes.c_double),
        ("zero_point", ctypes.c_int64),
    )


class SizeDescription(ctypes.Structure):
    """NAME_size: a dynamic dimension."""

    _fields_ = (("name", ctypes.c_char_p), *((name, ctypes.c_int64) for name in ("least", "most", "multiple")))


class ModelDescription(ctypes.Structure):
    """NAME_description."""

    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("name", "model_hash", "code_hash", "code", "codes")),
        *((name, ctypes.c_uint32) for name in ("abi", "inputs", "outputs", "sizes")),
    )


class Threads(ctypes.Structure):
    """NAME_threads: how a run shares its loops."""

    _fields_ = (("count", ctypes.c_uint32), ("launch", ctypes.c_void_p), ("pool", ctypes.c_void_p))


def buffer_of(array: np.ndarray) -> Buffer:
    """The memory of an array, which has to be kept while it is used.

    >>> buffer_of(np.zeros(3, np.float32)).bytes
    12
    """
    return Buffer(array.ctypes.data, array.nbytes)
