"""R.tvmq.unpack(packed, shape): int8 codes that are kept two to a byte, numerics.unpack_int4.

code i = byte i // 2, its low half for even i, else its high half; ((half ^ 8) - 8)
"""

from __future__ import annotations

import math

import tvm
import tvm_ffi
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import register


@py_class("tvmq.attrs.Unpack", frozen=True)
class UnpackAttrs(tvm.ir.Attrs):
    """shape of the codes."""

    shape: tvm_ffi.Array


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    shape = [int(d) for d in call.attrs.shape]
    needed = -(-math.prod(shape) // 2)
    given = call.args[0].ty.shape
    if given is None or [int(d) for d in given] != [needed]:  # an error class of our own would not come back
        raise ValueError(f"{call.op.name}: codes of shape {shape} take uint8[{needed}], got {call.args[0].ty}")
    return relax.TensorType(shape, "int8")


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    shape = [int(d) for d in call.attrs.shape]
    pitch = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def compute(packed: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = sum((index * step for index, step in zip(i, pitch, strict=True)), tirx.const(0, "int64"))
            byte = tirx.Cast("int32", packed(tirx.floordiv(at, 2)))
            half = tirx.bitwise_and(tirx.shift_right(byte, tirx.Cast("int32", tirx.floormod(at, 2)) * 4), 15)
            return tirx.Cast("int8", tirx.bitwise_xor(half, 8) - 8)

        return te.compute(shape, element, name="unpack")

    return bb.call_te(compute, call.args[0], primfunc_name_hint="unpack")


# packed uint8 [ceil(number of codes / 2)]
unpack = register("unpack", ("packed",), UnpackAttrs, _infer, _legalize)
