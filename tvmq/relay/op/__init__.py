"""Relay's operators: relay.op.get(name), and the functions of each family."""

from __future__ import annotations

import importlib
from typing import Any

from tvmq.relay.op.registry import Op, get

__all__ = ["Op", "get"]

# Relay's modules of operators; where it had several for ours, the functions are found as relay.<name>
_MODULES = ("annotation", "image", "nn", "reduce")

# Family -> functions of relay.* that make its operators; those of relay.nn stand in nn.py
_FUNCTIONS = {
    "create": """arange full full_like ones ones_like zeros zeros_like
        fixed_point_multiply take where""",
    "elementwise": """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor
        cast ceil clip cos cosh divide equal erf exp floor floor_divide floor_mod greater greater_equal isfinite isinf
        isnan left_shift less less_equal log logical_and logical_not logical_or logical_xor maximum minimum mod
        multiply negative not_equal power right_shift round rsqrt sigmoid sign sin sinh sqrt subtract tan tanh trunc""",
    "reduce": "argmax argmin max mean mean_std mean_variance min prod std sum variance",
    "shape_change": """batch_flatten broadcast_to broadcast_to_like concatenate copy expand_dims layout_transform
        repeat reshape reshape_like reverse reverse_reshape split squeeze stack strided_slice tile transpose""",
}

# Function -> "module:object"
FUNCTIONS = {
    name: f"tvmq.relay.op.{family}:{name}"
    for family, listed in _FUNCTIONS.items()
    for name in listed.split()
    if name != "batch_flatten"
}


def __getattr__(name: str) -> Any:
    """Modules of operators, and the functions of relay.* (PEP 562)."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MODULES:
        return importlib.import_module(f"tvmq.relay.op.{name}")
    if name in ("tensor", "transform"):
        return importlib.import_module("tvmq.relay.op")
    return getattr(importlib.import_module("tvmq.relay"), name)
