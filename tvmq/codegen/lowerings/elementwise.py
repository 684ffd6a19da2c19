"""Element-wise operators: they keep whatever layout their inputs have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm import relax

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.graph import ops
from tvmq.graph.view import const_value, is_const, make_const, op_name


def wants_nhwc(lowerer: Lowerer, chain: Chain) -> bool:
    """True if the result has rank 4 and an input of the same shape is there in NHWC."""
    if not lowerer.rank4(chain.result):
        return False
    inputs = [arg for arg in lowerer.view.value[chain.head].args if isinstance(arg, relax.Var)]
    return bool(inputs) and all(lowerer.rank4(arg.name) for arg in inputs) and any(
        lowerer.has_nhwc(arg.name) and not _one_pixel(arg) for arg in inputs
    )


def _one_pixel(var: relax.Var) -> bool:
    return all(int(d) == 1 for d in list(var.ty.shape)[2:])


def nhwc_constant(expr: relax.Expr) -> relax.Expr | None:
    """A constant that broadcasts against NCHW as one that broadcasts against NHWC; None if that needs more than moving axes."""
    array = const_value(expr)
    if array.size == 1:
        return make_const(array.reshape(()))
    full = array.reshape((1,) * (4 - array.ndim) + array.shape) if array.ndim <= 4 else None
    return None if full is None else make_const(np.ascontiguousarray(full.transpose(0, 2, 3, 1)))


def same_layout(lowerer: Lowerer, chain: Chain) -> bool:
    """The operator itself, on NHWC where its input is there in NHWC."""
    if not wants_nhwc(lowerer, chain):
        return False
    call = lowerer.view.value[chain.head]
    args: list[relax.Expr] = []
    for arg in call.args:
        if isinstance(arg, relax.Var):
            args.append(lowerer.nhwc(arg.name))
        elif is_const(arg) and op_name(call) != "tvmq.simulated_quantize":
            moved = nhwc_constant(arg)
            if moved is None:
                return False
            args.append(moved)
        else:
            args.append(arg)
    if op_name(call) == "tvmq.simulated_quantize" and call.attrs.axis >= 0:
        return False
    value = relax.Call(call.op, args, call.attrs, call.ty_args)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def _rest(lowerer: Lowerer, chain: Chain, value: relax.Expr, nhwc: bool) -> None:
    """Emit a rebuilt head and a requantize behind it, in one layout."""
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(requantized(lowerer, var, name, nhwc), name)
    (lowerer.give_nhwc if nhwc else lowerer.give_logical)(chain.result, var)


def requantized(lowerer: Lowerer, acc: relax.Expr, name: str, nhwc: bool) -> relax.Call:
    """The tvmq.requantize of the IR applied to `acc`, its channel axis moved if `acc` is NHWC."""
    call = lowerer.view.value[name]
    attrs = call.attrs
    axis = NHWC_AXIS[attrs.axis] if nhwc and attrs.axis >= 0 else attrs.axis
    names = ("zero_point", "mode", "rounding", "dtype", "qmin", "qmax")
    return ops.requantize(acc, *call.args[1:], axis=axis, **{key: getattr(attrs, key) for key in names})


# axis of NCHW -> axis of NHWC
NHWC_AXIS = {0: 0, 1: 3, 2: 1, 3: 2}


def _on(lowerer: Lowerer, names: Sequence[str], nhwc: bool) -> list[relax.Expr]:
    return [lowerer.nhwc(name) if nhwc else lowerer.logical(name) for name in names]


def add(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.add of two activations."""
    call = lowerer.view.value[chain.head]
    nhwc = wants_nhwc(lowerer, chain)
    value = relax.Call(call.op, _on(lowerer, [arg.name for arg in call.args], nhwc), call.attrs)
    _rest(lowerer, chain, value, nhwc)
    return True


def multiply(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.multiply of two activations and its requantize."""
    return add(lowerer, chain)


def table(lowerer: Lowerer, chain: Chain) -> bool:
    """A 256-entry lookup."""
    call = lowerer.view.value[chain.head]
    nhwc = wants_nhwc(lowerer, chain)
    value = relax.Call(call.op, [*_on(lowerer, [call.args[0].name], nhwc), call.args[1]], call.attrs)
    _rest(lowerer, chain, value, nhwc)
    return True
