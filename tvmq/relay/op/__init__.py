"""Relay's operators: relay.op.get(name), and the functions of each family."""

from __future__ import annotations

import importlib
from typing import Any

from tvmq.relay.op.registry import Op, get

__all__ = ["Op", "get"]

# Relay's modules of operators; where it had several for ours, the functions are found as relay.<name>
_MODULES = ("annotation", "image", "nn", "reduce")


def __getattr__(name: str) -> Any:
    """Modules of operators, and the functions of relay.* (PEP 562)."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MODULES:
        return importlib.import_module(f"tvmq.relay.op.{name}")
    if name in ("tensor", "transform"):
        return importlib.import_module("tvmq.relay.op")
    return getattr(importlib.import_module("tvmq.relay"), name)
