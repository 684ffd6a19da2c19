"""Weights as bytes, in TVM's form: what `relay.save_param_dict` wrote is read back, by any version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm

from tvmq.errors import ModelError


def save_param_dict(params: Mapping[str, Any]) -> bytearray:
    """Names and arrays as bytes, to be written to a file.

    params   {name: NumPy array or tvm tensor}

    >>> import numpy as np
    >>> {k: v.numpy().tolist() for k, v in load_param_dict(save_param_dict({"w": np.eye(2)})).items()}
    {'w': [[1.0, 0.0], [0.0, 1.0]]}
    """
    return bytearray(bytes(tvm.runtime.save_param_dict({name: as_tensor(value) for name, value in params.items()})))


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, tvm.runtime.Tensor]:
    """{name: tensor} of what `save_param_dict` gave.

    raises  ModelError for other bytes
    """
    try:
        loaded = tvm.runtime.load_param_dict(bytes(param_bytes))
    except Exception as error:  # TVM has no narrower one
        reason = str(error).strip().splitlines()[-1:] or [type(error).__name__]
        raise ModelError(
            f"load_param_dict: {len(param_bytes)} bytes are no saved weights ({reason[0]}); "
            "give what save_param_dict returned"
        ) from error
    return {str(name): value for name, value in loaded.items()}


def as_tensor(value: Any) -> tvm.runtime.Tensor:
    """A NumPy array, a number, a torch or a tvm tensor as a tensor of the CPU."""
    if isinstance(value, tvm.runtime.Tensor):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    return tvm.runtime.tensor(value.numpy() if hasattr(value, "numpy") else value)
