"""Repairs of TVM's ONNX converters, one file an operator family.

A repair is `repair(call: NodeCall) -> relax expression, or None to leave the node to TVM's converter`; it may also
raise `call.unsupported(...)` for what TVM would import wrongly. REPAIRS maps an ONNX operator to "module:function".
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tvmq.frontends.onnx_ops.node import NodeCall

_HERE = "tvmq.frontends.onnx_ops."

REPAIRS: dict[str, str] = {
    "Clip": _HERE + "elementwise:clip",
}


def load_repair(op_type: str) -> Callable[[NodeCall], Any] | None:
    """The repair of an operator, None if TVM's converter is right as it is."""
    if op_type not in REPAIRS:
        return None
    module, function = REPAIRS[op_type].split(":")
    return getattr(importlib.import_module(module), function)


__all__ = ["REPAIRS", "NodeCall", "load_repair"]
