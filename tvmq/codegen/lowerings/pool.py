"""Pooling and sums over pictures in NHWC."""

from __future__ import annotations

from tvm import relax

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.lowerings.elementwise import NHWC_AXIS, requantized
from tvmq.graph import ops


def max_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Maximum pooling."""
    call = lowerer.view.value[chain.head]
    a = call.attrs
    if a.layout != "NCHW" or not lowerer.has_nhwc(call.args[0].name):
        return False
    value = relax.op.nn.max_pool2d(
        lowerer.nhwc(call.args[0].name),
        pool_size=[int(k) for k in a.pool_size],
        strides=[int(s) for s in a.strides],
        padding=[int(p) for p in a.padding],
        dilation=[int(d) for d in a.dilation],
        ceil_mode=bool(a.ceil_mode),
        count_include_pad=bool(a.count_include_pad),
        layout="NHWC",
        out_layout="NHWC",
    )
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def average_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Average pooling of floats."""
    call = lowerer.view.value[chain.head]
    a = call.attrs
    if a.layout != "NCHW" or not lowerer.has_nhwc(call.args[0].name):
        return False
    value = relax.op.nn.avg_pool2d(
        lowerer.nhwc(call.args[0].name),
        pool_size=[int(k) for k in a.pool_size],
        strides=[int(s) for s in a.strides],
        padding=[int(p) for p in a.padding],
        dilation=[int(d) for d in a.dilation],
        ceil_mode=bool(a.ceil_mode),
        count_include_pad=bool(a.count_include_pad),
        layout="NHWC",
        out_layout="NHWC",
    )
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def mean(lowerer: Lowerer, chain: Chain) -> bool:
    """Mean of floats over axes of a picture; the result is there as the IR has it, or in NHWC if it keeps rank 4."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if call.attrs.axis is None or not lowerer.rank4(source) or not lowerer.has_nhwc(source):
        return False
    axes = sorted(int(a) % 4 for a in call.attrs.axis)
    keepdims = bool(call.attrs.keepdims)
    if not keepdims and axes != [2, 3]:
        return False
    value = relax.op.mean(lowerer.nhwc(source), [NHWC_AXIS[a] for a in axes], keepdims)
    var = lowerer.emit(value, chain.result)
    (lowerer.give_nhwc if keepdims else lowerer.give_logical)(chain.result, var)
    return True


def global_sum(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.sum over pictures and its requantize."""
    call = lowerer.view.value[chain.head]
    source, axes, keepdims = call.args[0].name, [int(a) for a in call.attrs.axes], bool(call.attrs.keepdims)
    if not lowerer.rank4(source) or not lowerer.has_nhwc(source) or (not keepdims and axes != [2, 3]):
        return False
    moved = sorted(NHWC_AXIS[a] for a in axes)
    value = ops.sum(lowerer.nhwc(source), axes=moved, keepdims=keepdims, zero_point=call.attrs.zero_point)
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(requantized(lowerer, var, name, keepdims), name)
    (lowerer.give_nhwc if keepdims else lowerer.give_logical)(chain.result, var)
    return True


def sum_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.sum_pool2d whose one window is the whole picture; other windows go the generic way."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    shape = [int(d) for d in call.args[0].ty.shape]
    whole = [int(k) for k in call.attrs.kernel] == shape[2:] and not any(int(p) for p in call.attrs.padding)
    if not whole or not lowerer.has_nhwc(source):
        return False
    value = ops.sum(lowerer.nhwc(source), axes=[1, 2], keepdims=True, zero_point=call.attrs.zero_point)
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(requantized(lowerer, var, name, True), name)
    lowerer.give_nhwc(chain.result, var)
    return True
