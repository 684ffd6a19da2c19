"""Operators of ours by their short names, as R.tvmq has them: `ops.add(a, b, ...)` makes a call of R.tvmq.add.

Importing this module registers them all; they are declared in graph/operators.

Tests: tests/graph/test_ops.py
"""

from __future__ import annotations

from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.declaration import DECLARED, Operator

__all__ = sorted(operator.name.removeprefix("tvmq.") for operator in DECLARED)  # pyright: ignore


def __getattr__(name: str) -> Operator:
    """The operator R.tvmq.<name>."""
    operator = OPERATORS.get(f"tvmq.{name}")
    if not isinstance(operator, Operator):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return operator
