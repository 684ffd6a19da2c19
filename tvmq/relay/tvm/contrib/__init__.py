"""tvm.contrib: the graph executor and its debugger are ours, the rest is TVM's."""

from __future__ import annotations

import importlib
from typing import Any

from tvmq.relay.tvm.forward import forward

_OURS = ("debugger", "download", "graph_executor", "graph_runtime", "utils")


def __getattr__(name: str) -> Any:
    """A module of ours, else TVM's (PEP 562)."""
    if name in _OURS:
        return importlib.import_module(f"tvmq.relay.tvm.contrib.{name}")
    return forward("tvm.contrib", name)
