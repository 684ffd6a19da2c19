"""Softmax in our own float definition."""

from __future__ import annotations

from tvmq.graph.view import shape_of
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.select import softmax_kernel


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel, on the layout of the IR."""
    call = lowerer.view.value[chain.head]
    x = lowerer.logical(call.args[0].name)
    kernel = softmax_kernel(shape_of(x), int(call.attrs.axis), lowerer.isa)
    if kernel is None:
        return False
    lowerer.give_logical(chain.result, lowerer.call(kernel, [x], shape_of(x), "float32", chain.result))
    return True
