"""tvm.contrib.debugger."""

from __future__ import annotations

from tvmq.relay import debug_executor

__all__ = ["debug_executor"]
