"""tvm.ir: TVM's, with Relay's view of modules."""

from __future__ import annotations

from typing import Any

from tvmq.relay.module import IRModule
from tvmq.relay.tvm.forward import forward
from tvmq.relay.types import FuncType, TensorType, TupleType

__all__ = ["FuncType", "IRModule", "TensorType", "TupleType"]


def __getattr__(name: str) -> Any:
    """TVM's other names (PEP 562)."""
    return forward("tvm.ir", name)
