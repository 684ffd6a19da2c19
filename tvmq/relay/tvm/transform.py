"""tvm.transform: passes of TVM, and a PassContext that takes Relay's options."""

from __future__ import annotations

from typing import Any

from tvmq.relay.transform import PassContext
from tvmq.relay.tvm.forward import forward

__all__ = ["PassContext"]


def __getattr__(name: str) -> Any:
    """TVM's other names (PEP 562)."""
    return forward("tvm.transform", name)
