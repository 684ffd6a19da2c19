"""Multiply-accumulates of an operator, for the share of a network that computes in integers."""

from __future__ import annotations

from tvm import relax

from tvmq.graph.operators import OPERATORS
from tvmq.graph.view import op_name


def multiply_accumulates(call: relax.Expr) -> int:
    """Of a convolution in any layout, a transposed one or a product; 0 for what multiplies no matrices."""
    record = OPERATORS.get(op_name(call))
    return record.macs(call) if record is not None and record.macs is not None else 0
