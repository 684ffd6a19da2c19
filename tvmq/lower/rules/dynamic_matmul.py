"""Products of two activations of free sizes; the scale and the transpose behind them go the generic way."""

from __future__ import annotations

from tvm import relax

from tvmq.graph.sizes import free_names
from tvmq.graph.view import dtype_of, rank_of, sizes_of
from tvmq.kernels.attention.dynamic_matmul import FreeMatmul
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.rules import attention
from tvmq.lower.select import free_product_kernel


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel for the sums; False where one operand's matrices serve several of the other's."""
    if chain.members[0] != chain.head:
        return attention.lower(lowerer, chain)
    call = lowerer.view.value[chain.head]
    a, b = call.args
    if not all(isinstance(arg, relax.Var) for arg in call.args) or rank_of(a) != rank_of(b):
        return False
    if sizes_of(a)[:-2] != sizes_of(b)[:-2]:
        return False
    x, y = (lowerer.logical(arg.name) for arg in (a, b))
    *batch, rows, depth, columns = free_names([*a.ty.shape, b.ty.shape[-1]])
    zeros = int(call.attrs.a_zero), int(call.attrs.b_zero)
    product = FreeMatmul(tuple(batch), rows, depth, columns, (dtype_of(x), dtype_of(y)), zeros)
    kernel = free_product_kernel(product, lowerer.isa)
    if kernel is None:
        return False
    out = list(lowerer.view.var[chain.head].ty.shape)
    lowerer.give_logical(chain.head, lowerer.call(kernel, [x, y], out, "int32", chain.head))
    lowerer.as_it_stands(chain.members[chain.members.index(chain.head) + 1 :])
    return True
