"""tvm.contrib.graph_runtime: what graph_executor was called before TVM 0.8."""

from __future__ import annotations

from tvmq.relay.graph_executor import GraphModule, create

__all__ = ["GraphModule", "create"]
