"""Layer, rms, group and instance norm in our own float definition."""

from __future__ import annotations

from math import prod

from tvm import relax

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.select import norm_kernel
from tvmq.graph.view import const_value, is_const, make_const, op_name, shape_of
from tvmq.kernels.group_norm import Norm


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel, on the layout of the IR."""
    call = lowerer.view.value[chain.head]
    norm = _norm(call)
    kernel = norm_kernel(norm, lowerer.isa)
    if kernel is None:
        return False
    x = lowerer.reshaped(
        lowerer.logical(call.args[0].name), (norm.batch, norm.channels, norm.positions), f"{chain.result}_rows"
    )
    factors = [_vector(lowerer, arg, norm.channels, chain.result) for arg in call.args[1:]]
    shape = (norm.batch, norm.channels, norm.positions)
    result = lowerer.call(kernel, [x, *factors], shape, "float32", f"{chain.result}_normalized")
    lowerer.give_logical(chain.result, lowerer.reshaped(result, shape_of(call), chain.result))
    return True


def _norm(call: relax.Call) -> Norm:
    shape, epsilon = shape_of(call), float(call.attrs.epsilon)
    if op_name(call) == "tvmq.group_norm":
        return Norm(shape[0], shape[1], prod(shape[2:]), int(call.attrs.groups), epsilon)
    split = len(shape) - int(call.attrs.axes)
    centred = op_name(call) == "tvmq.layer_norm"
    return Norm(prod(shape[:split]), prod(shape[split:]), epsilon=epsilon, centred=centred)


def _vector(lowerer: Lowerer, arg: relax.Expr, channels: int, name: str) -> relax.Expr:
    """gamma or beta as [channels]."""
    if is_const(arg):
        return make_const(const_value(arg).reshape(channels))
    return lowerer.reshaped(lowerer.logical(arg.name), (channels,), f"{name}_factor")
