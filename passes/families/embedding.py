"""Embedding tables in int8: the codes of rows are gathered.

Before                                            After
    e = take(table, indices)                          q = take(codes of the table, indices)
                                                      e = dequantize(q), one scale for each column

Where integer operators read the rows, the table is coded in the scale of its result at once: the same codes as if the
gathered floats were quantized. Where float operators read them (sums in front of a layer norm), each column has a scale
of its own, as the channels of any other weight; so it has where a residual stream wants int16: the gathered codes of
8 bits are requantized, and the table stays as small as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.view import View, const_value, is_const
from tvmq.passes.families.base import CODES_SUFFIX, Codes, Facts, Family, Group, Realizer, encode_constant

LARGEST_CODE = 127


class Embedding(Family):
    """Embedding table in int8, whose rows are gathered."""

    name, facts_type = "embedding", Facts
    holds_codes = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """Rows of a constant table of finite numbers."""
        table = const_value(value.args[0])
        if is_const(value.args[1]) or value.attrs.axis is None:
            return "limit: the input is a constant"
        if not np.isfinite(table).all():
            return "limit: a table of numbers that are not finite"
        return Group(self.name, var.name, [var.name], [])

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit take on codes, and what makes them floats where no codes are wanted."""
        call, y = realizer.view.value[group.root], realizer.output_qparams(group)
        table = const_value(call.args[0])
        indices = realizer.substitute(call.args[1])
        if y is not None and y.spec.bits <= 8:
            rows = relax.op.take(relax.const(encode_constant(table, y)), indices, **_options(call))
            return Codes(realizer.emit(rows, group.root), y)
        is_power = y is not None and realizer.mode == "power_of_two"
        scale = column_scales(table, int(call.attrs.axis), is_power=is_power)
        axis = None if scale.ndim == 0 else table.ndim - 1
        zero = np.zeros(scale.shape, np.int32)
        codes = numerics.quantize(table, scale, zero, axis=axis, dtype="int8", qmin=-LARGEST_CODE, qmax=LARGEST_CODE)
        row_codes = relax.op.take(relax.const(codes), indices, **_options(call))
        rows = realizer.emit(row_codes, f"{group.root}{CODES_SUFFIX}")
        last = -1 if axis is None else len(rows.ty.shape) - 1
        if y is not None:
            return realizer.requantize(rows, np.atleast_1d(scale).astype(np.float64), group, axis=last)
        return realizer.emit(ops.dequantize(rows, relax.const(scale), relax.const(zero), axis=last), group.root)


def _options(call: relax.Call) -> dict[str, Any]:
    return {"axis": int(call.attrs.axis), "mode": str(call.attrs.mode)}


def column_scales(table: np.ndarray, gathered: int, *, is_power: bool) -> np.ndarray:
    """Scales: one for each index of the last axis, or one for all where that is the gathered axis; float32.

    is_power  raised to powers of two
    """
    kept = gathered % table.ndim != table.ndim - 1
    largest = np.abs(table).max(tuple(range(table.ndim - 1)) if kept else None, initial=0.0)
    scale = np.asarray(np.where(largest > 0, largest / LARGEST_CODE, 1.0), np.float32)
    return np.exp2(np.ceil(np.log2(scale.astype(np.float64)))).astype(np.float32) if is_power else scale


FAMILY = Embedding()
