"""tvm.runtime: TVM's, with libraries that relay.build wrote and Relay's virtual machine."""

from __future__ import annotations

from typing import Any

from tvmq.relay.executor_factory import load_module
from tvmq.relay.param_dict import load_param_dict, save_param_dict
from tvmq.relay.tvm import nd
from tvmq.relay.tvm.forward import forward
from tvmq.relay.tvm.nd import NDArray
from tvmq.relay.tvm.runtime import vm

ndarray = nd

__all__ = ["NDArray", "load_module", "load_param_dict", "ndarray", "save_param_dict", "vm"]


def __getattr__(name: str) -> Any:
    """TVM's other names (PEP 562)."""
    return forward("tvm.runtime", name)
