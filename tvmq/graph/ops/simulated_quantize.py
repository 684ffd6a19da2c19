"""R.tvmq.simulated_quantize(x, scale, zero_point): rounds to the codes of a spec and back, in float.

    y = (clip(rint(x / scale) + zero_point, qmin, qmax) - zero_point) * scale   (numerics.quantize, dequantize)

Before calibration the scale is 0 and the operator is the identity ("watch this tensor"). Attributes: kind "input" |
"weight" | "activation"; tensor = name under which statistics are kept (tensors that share it share their range);
dtype, bits, symmetric = the QuantSpec; axis of the channels, -1 for one scale.
"""

from __future__ import annotations

import tvm
from tvm import relax, te, tirx
from tvm_ffi.dataclasses import py_class

from tvmq.graph.ops.registry import fence, register
from tvmq.spec import QuantSpec


@py_class("tvmq.attrs.SimulatedQuantize", frozen=True)
class SimulatedQuantizeAttrs(tvm.ir.Attrs):
    """See the head of this file."""

    kind: str
    tensor: str
    dtype: str = "uint8"
    bits: int = 8
    symmetric: bool = False
    axis: int = -1


def spec_of(attrs: SimulatedQuantizeAttrs) -> QuantSpec:
    """The QuantSpec that the attributes describe."""
    return QuantSpec(dtype=attrs.dtype, bits=attrs.bits, symmetric=attrs.symmetric, per_channel=attrs.axis >= 0)


def is_calibrated(call: relax.Call) -> bool:
    """True once the scale of a simulated_quantize is known."""
    return bool((call.args[1].value.numpy() > 0).all())


def _infer(call: relax.Call, _ctx: relax.BlockBuilder) -> relax.TensorType:
    if len(call.args) != 3:
        raise ValueError("tvmq.simulated_quantize takes x, scale, zero_point")
    return call.args[0].ty


def _legalize(bb: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    if not is_calibrated(call):
        return call.args[0]
    spec, axis = spec_of(call.attrs), call.attrs.axis

    def compute(x: te.Tensor, scale: te.Tensor, zero: te.Tensor) -> te.Tensor:
        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = (i[axis],) if axis >= 0 else ()
            z = zero(*at)
            low = tirx.Cast("float32", tirx.const(spec.qmin, "int32") - z)
            high = tirx.Cast("float32", tirx.const(spec.qmax, "int32") - z)
            steps = tirx.min(tirx.max(tirx.nearbyint(x(*i) / scale(*at)), low), high)
            # through an integer, as the codes go: minus zero becomes zero
            centred = tirx.Cast("float32", tirx.Cast("int32", steps))
            return fence(centred * scale(*at))

        return te.compute(x.shape, element, name="simulated_quantize")

    return bb.call_te(compute, *call.args, primfunc_name_hint="simulated_quantize")


# `scale` and `zero_point` are constants, rank 0 or one entry a channel
simulated_quantize = register(
    "simulated_quantize", ("x", "scale", "zero_point"), SimulatedQuantizeAttrs, _infer, _legalize
)
