"""tvm.contrib.graph_executor."""

from __future__ import annotations

from tvmq.relay.graph_executor import GraphModule, create

__all__ = ["GraphModule", "create"]
