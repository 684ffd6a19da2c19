"""tvm.transform: passes of TVM, and a PassContext that takes Relay's options; results are modules as Relay's scripts
have them."""

from __future__ import annotations

from typing import Any

from tvmq.relay.transform import PassContext, Sequential, module_pass
from tvmq.relay.tvm.forward import forward

__all__ = ["PassContext", "Sequential", "module_pass"]


def __getattr__(name: str) -> Any:
    """TVM's other names (PEP 562)."""
    return forward("tvm.transform", name)
