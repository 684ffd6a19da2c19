"""Which codes a tensor can hold, from how it is made: a kernel that knows may prove more (see kernels/lanes)."""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name

Range = tuple[int, int]


def code_range(view: View, expr: relax.Expr) -> Range:
    """Lowest and highest value that an integer tensor can hold.

    What an operator clips to, the entries of a table, or the union of what is moved; else all of the type.
    """
    if is_const(expr):
        codes = const_value(expr)
        return (int(codes.min()), int(codes.max())) if codes.size else (0, 0)
    limits = np.iinfo(dtype_of(expr))
    whole = int(limits.min), int(limits.max)
    value = view.value.get(expr.name) if isinstance(expr, relax.Var) else None
    if not isinstance(value, relax.Call):
        return whole
    if hasattr(value.attrs, "qmin"):
        return int(value.attrs.qmin), int(value.attrs.qmax)
    if op_name(value) == "tvmq.table":
        return code_range(view, value.args[1])
    if op_name(value) not in MOVES:
        return whole
    moved = [code_range(view, part) for part in _parts(value) if dtype_of(part) == dtype_of(expr)]
    if hasattr(value.attrs, "pad_value"):
        moved.append((int(value.attrs.pad_value),) * 2)
    return (min(low for low, _ in moved), max(high for _, high in moved)) if moved else whole


# Every element of the result is one of an operand's, or the value of a border.
MOVES = frozenset(
    (
        "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "max", "min", "reshape", "flatten", "squeeze", "expand_dims",
        "permute_dims", "strided_slice", "concat", "tile", "flip", "broadcast_to", "nn.pad", "tvmq.fence",
    )
)  # fmt: skip


def _parts(value: relax.Call) -> list[relax.Expr]:
    """The tensors that a call reads, those of a tuple one by one."""
    parts: list[relax.Expr] = []
    for arg in value.args:
        parts += list(arg.fields) if isinstance(arg, relax.Tuple) else [arg]
    return [part for part in parts if isinstance(getattr(part, "ty", None), relax.TensorType)]
