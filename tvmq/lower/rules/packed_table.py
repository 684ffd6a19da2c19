"""Rows of a table that is kept two codes to a byte: only those that are taken are unpacked."""

from __future__ import annotations

import math

from tvm import relax, te, tirx

from tvmq.graph.functions import is_packed
from tvmq.graph.indices import index_operands
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain


def take(lowerer: Lowerer, chain: Chain) -> bool:
    """A take along axis 0 of an unpack of a constant; False for any other take."""
    call = lowerer.view.value[chain.head]
    table, indices = call.args
    packed = lowerer.view.producer(table)
    if packed is None or not is_packed(packed) or int(call.attrs.axis or 0) or not index_operands(call):
        return False
    given = lowerer.logical(indices.name) if isinstance(indices, relax.Var) else indices
    rows, *row = (int(d) for d in packed.attrs.shape)
    value = lowerer.call_te(_gather(rows, row), packed.args[0], given, name="take_packed")
    lowerer.give_logical(chain.result, lowerer.emit(value, chain.result))
    return True


def _gather(rows: int, row: list[int]):  # type: ignore[no-untyped-def]
    """What computes the codes of rows; an index outside of them wraps round."""
    pitch = [math.prod(row[axis + 1 :]) for axis in range(len(row))]

    def compute(packed: te.Tensor, indices: te.Tensor) -> te.Tensor:
        rank = len(indices.shape)

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = tirx.floormod(tirx.Cast("int64", indices(*i[:rank])), rows) * math.prod(row)
            for index, step in zip(i[rank:], pitch, strict=True):
                at = at + index * step
            byte = tirx.Cast("int32", packed(tirx.floordiv(at, 2)))
            half = tirx.bitwise_and(tirx.shift_right(byte, tirx.Cast("int32", tirx.floormod(at, 2)) * 4), 15)
            return tirx.Cast("int8", tirx.bitwise_xor(half, 8) - 8)

        return te.compute([*indices.shape, *row], element, name="take_packed")

    return compute
