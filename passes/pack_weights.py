"""Keep weights of at most 4 bits two to a byte.

Before                                            After
    m = matmul(x, int8 w)                             w = unpack(uint8 w)
                                                      m = matmul(x, w)
    f = dequantize(int8 w, s)                         w = unpack(uint8 w)
    m = matmul(x, f)                                  f = dequantize(w, s)

Needs     a realized module, whose ledger tells the bits of its weights.
Leaves    weights of more bits, and constants that are no weights.
Numerics  none: numerics.unpack_int4 gives the same codes. Layers that share a weight go on sharing it.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.ledger import require_stage
from tvmq.graph.operators import OPERATORS
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import const_value, dtype_of, is_const, op_name


def pack_weights(mod: tvm.IRModule) -> tvm.IRModule:
    """Pack weights of at most 4 bits two to a byte."""
    ledger = require_stage(mod, "pack_weights", ("realized",))
    narrow = [entry for entry in ledger.layers.values() if entry.get("weight_bits", 8) <= numerics.PACKED_BITS]
    layers = {source for entry in narrow for source in entry["layers"]}
    return rewrite(mod, _WeightPacker(layers).visit) if layers else mod


class _WeightPacker:
    """Replaces the weights of some layers; `packed` holds those that were met."""

    def __init__(self, layers: set[str]) -> None:
        self.layers = layers
        self.packed: list[tuple[relax.Expr, relax.Expr]] = []

    def visit(self, rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        """The call with its weight unpacked in front of it."""
        record = OPERATORS.get(op_name(value))
        position = record.weight if record is not None else None
        if position is None or self.layers.isdisjoint(rewriter.sources) or not _is_narrow(value.args[position]):
            return None
        weight = value.args[position]
        shape = [int(d) for d in weight.ty.shape]
        args = list(value.args)
        args[position] = rewriter.emit(ops.unpack(self._constant(weight), shape=shape), f"{var.name}_weight")
        return relax.Call(value.op, args, value.attrs, value.ty_args, value.span)

    def _constant(self, weight: relax.Expr) -> relax.Expr:
        """The packed constant; the same one for the same weight."""
        for known, packed in self.packed:
            if known.same_as(weight):
                return packed
        self.packed.append((weight, relax.const(numerics.pack_int4(const_value(weight)))))
        return self.packed[-1][1]


def _is_narrow(weight: relax.Expr) -> bool:
    return is_const(weight) and dtype_of(weight) == "int8" and numerics.fits_int4(const_value(weight))
