"""Softmax in our own float definition."""

from __future__ import annotations

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.select import softmax_kernel
from tvmq.graph.view import shape_of


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel, on the layout of the IR."""
    call = lowerer.view.value[chain.head]
    x = lowerer.logical(call.args[0].name)
    kernel = softmax_kernel(shape_of(x), int(call.attrs.axis), lowerer.isa)
    if kernel is None:
        return False
    lowerer.give_logical(chain.result, lowerer.call(kernel, [x], shape_of(x), "float32", chain.result))
    return True
