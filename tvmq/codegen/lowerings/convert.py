"""Conversions at the borders of the integer core: quantize, dequantize, stand-alone requantize, transposes."""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.lowerings.elementwise import NHWC_AXIS, requantized, wants_nhwc
from tvmq.graph import ops


def transpose(lowerer: Lowerer, value: relax.Expr, axes: Sequence[int], name: str) -> relax.Expr:
    """A transposed copy."""
    return lowerer.emit(relax.op.permute_dims(value, list(axes)), name)


def quantize(lowerer: Lowerer, chain: Chain) -> bool:
    """Floats to codes; what is there in NHWC stays so."""
    if not wants_nhwc(lowerer, chain):
        return False
    call = lowerer.view.value[chain.head]
    attrs = call.attrs
    axis = NHWC_AXIS[attrs.axis] if attrs.axis >= 0 else -1
    value = ops.quantize(
        lowerer.nhwc(call.args[0].name), *call.args[1:], axis=axis, dtype=attrs.dtype, qmin=attrs.qmin, qmax=attrs.qmax
    )
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def dequantize(lowerer: Lowerer, chain: Chain) -> bool:
    """Codes or sums to floats; what is there in NHWC stays so."""
    if not wants_nhwc(lowerer, chain):
        return False
    call = lowerer.view.value[chain.head]
    axis = NHWC_AXIS[call.attrs.axis] if call.attrs.axis >= 0 else -1
    value = ops.dequantize(lowerer.nhwc(call.args[0].name), *call.args[1:], axis=axis)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def requantize(lowerer: Lowerer, chain: Chain) -> bool:
    """A requantize that no kernel has taken."""
    if not wants_nhwc(lowerer, chain):
        return False
    source = lowerer.view.value[chain.head].args[0].name
    value = requantized(lowerer, lowerer.nhwc(source), chain.head, True)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True
