"""Rules of GPUs for operators whose rules for CPUs rest on kernels of CPUs."""

from __future__ import annotations

from tvmq.graph import ops
from tvmq.graph.view import shape_of
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.rules.elementwise import emit_requantize


def sum_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Sums over whole pictures in NHWC; other windows lie in the layout of the IR."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    sizes = list(shape_of(call.args[0]))[2:]
    whole = [int(k) for k in call.attrs.kernel] == sizes and not any(int(p) for p in call.attrs.padding)
    if not whole or not lowerer.rank4(source) or not lowerer.has_nhwc(source):
        return False
    value = ops.sum(lowerer.nhwc(source), axes=[1, 2], keepdims=True, zero_point=call.attrs.zero_point)
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(emit_requantize(lowerer, var, name, True), name)
    lowerer.give_nhwc(chain.result, var)
    return True
