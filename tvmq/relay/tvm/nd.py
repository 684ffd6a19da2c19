"""tvm.nd, which is tvm.runtime.tensor today: arrays of a device.

Tests: tests/relay/test_scripts.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm

NDArray = tvm.runtime.Tensor
cpu, cuda, gpu = tvm.cpu, tvm.cuda, tvm.cuda


def device(device_type: Any, index: int = 0) -> Any:
    """A device by its kind, or by the target that computes on it.

    >>> str(device("llvm")), str(device(tvm.target.Target("llvm"), 0)), str(device("cpu"))
    ('cpu:0', 'cpu:0', 'cpu:0')
    """
    kind = device_type.kind.name if isinstance(device_type, tvm.target.Target) else str(device_type).split()[0]
    return tvm.device("cpu" if kind == "llvm" else kind, index)


def array(arr: Any, device: Any = None, mem_scope: Any = None) -> tvm.runtime.Tensor:
    """A tensor with the values of an array, a list or a number; element types stay.

    >>> array([[1, 2]]).shape, array(np.float32([0.5])).asnumpy().tolist()
    ((1, 2), [0.5])
    """
    value = arr.numpy() if hasattr(arr, "numpy") else np.asarray(arr)
    return tvm.runtime.tensor(np.ascontiguousarray(value).reshape(value.shape), device or tvm.cpu(0))


def empty(shape: Sequence[int], dtype: str = "float32", device: Any = None, mem_scope: Any = None) -> Any:
    """A tensor whose values nobody has written.

    >>> empty((2, 3)).dtype
    dtype('float32')
    """
    return tvm.runtime.empty(tuple(shape), dtype, device or tvm.cpu(0))


def with_asnumpy() -> None:
    """Give TVM's tensors the method that `numpy` was called before; done where `tvmq.relay.tvm` is imported."""
    if not hasattr(tvm.runtime.Tensor, "asnumpy"):
        tvm.runtime.Tensor.asnumpy = tvm.runtime.Tensor.numpy
