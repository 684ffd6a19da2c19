"""tvm.contrib.debugger.debug_executor."""

from __future__ import annotations

from tvmq.relay.debug_executor import GraphModuleDebug, create

__all__ = ["GraphModuleDebug", "create"]
