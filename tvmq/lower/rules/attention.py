"""Attention as one kernel: both products, the softmax between them, and the moves of heads around them."""

from __future__ import annotations

from tvm import relax

from tvmq.graph.sizes import free_names, is_number
from tvmq.graph.view import View, const_value, dtype_of, rank_of, shape_of, sizes_of
from tvmq.kernels.attention.batch_matmul_shape import Operand
from tvmq.kernels.attention.dynamic_scores import FreeScores
from tvmq.kernels.attention.shape import Attention
from tvmq.kernels.parts.loops import broadcast_strides
from tvmq.kernels.parts.reciprocal_quantize import Codes
from tvmq.kernels.parts.types import FixedRequantize
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.attention import Attention as Parts
from tvmq.lower.patterns.attention import attention_before
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.select import attention_kernel, free_scores_kernel


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel where there is one; else each part by its own rule."""
    if _as_one(lowerer, chain):
        return True
    found = attention_before(lowerer.view, chain.head)
    assert found is not None  # or the chain would not have its members
    if not _free_scores(lowerer, found):
        for part in _parts(found):
            lowerer.lower(part)
    lowerer.lower(Chain(chain.head, chain.members[len(found.members) :]))
    return True


def _parts(found: Parts) -> list[Chain]:
    """The chains before the second product that there are without kernels of whole attentions."""
    single = [Chain(name, [name]) for name in found.members[2:]]
    return [Chain(found.product, [found.product, found.scaled]), *single]


def _free_scores(lowerer: Lowerer, found: Parts) -> bool:
    """From the first product's sums to the softmax's codes as one kernel, where sizes are free."""
    view = lowerer.view
    product = view.var[found.product]
    sizes, mask = sizes_of(product), None
    if all(map(is_number, sizes)) or 0 in sizes:
        return False
    names = dict(zip(sizes, free_names(list(product.ty.shape)), strict=True))
    if found.mask is not None:
        added = [1] * (len(sizes) - rank_of(found.mask)) + list(sizes_of(found.mask))
        if any(size not in (1, whole) for size, whole in zip(added, sizes, strict=True)):
            return False
        mask = tuple(1 if size == 1 else names[size] for size in added)
    score_scale, code_scale, codes = _scales(view, found)
    scores = FreeScores(tuple(names[size] for size in sizes), mask, codes)
    kernel = free_scores_kernel(scores, score_scale, code_scale, lowerer.isa)
    if kernel is None:
        return False
    lowerer.lower(Chain(found.product, [found.product]))
    inputs = [lowerer.logical(found.product)]
    if found.mask is not None:
        shape = [1] * (len(sizes) - rank_of(found.mask)) + list(found.mask.ty.shape)
        inputs.append(lowerer.reshaped(_input(lowerer, found.mask), shape, f"{found.codes}_mask"))
    value = lowerer.call(kernel, inputs, list(product.ty.shape), codes.dtype, found.codes)
    lowerer.give_logical(found.codes, value)
    return True


def _scales(view: View, found: Parts) -> tuple[float, float, Codes]:
    """Scale of the scores, scale of the softmax's codes, and what these are."""
    quantize = view.value[found.codes]
    score_scale = float(const_value(view.value[found.scaled].args[1]).reshape(-1)[0])
    code_scale, zero_point = (const_value(arg).reshape(-1)[0] for arg in quantize.args[1:])
    attrs = quantize.attrs
    return score_scale, float(code_scale), Codes(int(zero_point), int(attrs.qmin), int(attrs.qmax), str(attrs.dtype))


def _as_one(lowerer: Lowerer, chain: Chain) -> bool:
    from tvmq.lower.rules.batch_matmul import operand_of, result_of, step_of

    view = lowerer.view
    found = attention_before(view, chain.head)
    assert found is not None  # or the chain would not have its members
    first, second = view.value[found.product], view.value[chain.head]
    out = view.var[chain.head].ty.shape
    if not all(map(is_number, (*out, *view.var[found.product].ty.shape))):
        return False
    batch, columns = shape_of(view.var[chain.head])[:-2], int(out[-1])
    rows, keys = shape_of(view.var[found.product])[-2:]
    if shape_of(view.var[found.product])[:-2] != batch:
        return False  # scores that serve several matrices of values are not worth a kernel of their own
    (q, q_input), (k, k_input) = (operand_of(lowerer, arg, batch, left=i == 0) for i, arg in enumerate(first.args))
    v, v_input = operand_of(lowerer, second.args[1], batch, left=False)
    mask, inputs = None, [q_input, k_input, v_input]
    if found.mask is not None:
        mask = _mask(found.mask, (*batch, rows, keys))
        inputs.append(_input(lowerer, found.mask))
    score_scale, code_scale, codes = _scales(view, found)
    y = result_of(view, chain, shape_of(view.var[chain.head]))
    zeros = (int(first.attrs.a_zero), int(first.attrs.b_zero), int(second.attrs.b_zero))
    depth = shape_of(first.args[0])[-1]
    shape = Attention(batch, rows, keys, depth, columns, q, k, v, y, mask, zeros, codes)
    step = step_of(view, chain.after_head()[0], columns)
    assert not isinstance(step, FixedRequantize)  # chains for CPUs have none
    kernel = attention_kernel(shape, score_scale, code_scale, step, lowerer.isa)
    if kernel is None or int(second.attrs.a_zero) != codes.zero_point:
        return False
    value = lowerer.call(kernel, inputs, y.shape, dtype_of(view.var[chain.result]), chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def _mask(mask: relax.Expr, scores: tuple[int, ...]) -> Operand:
    """Where what is added to a score lies; broadcast axes have stride 0."""
    *batch, row, column = broadcast_strides(scores, shape_of(mask))
    return Operand(shape_of(mask), "float32", 0, tuple(batch), row, column if scores[-1] > 1 else 1)


def _input(lowerer: Lowerer, mask: relax.Expr) -> relax.Expr:
    return lowerer.logical(mask.name) if isinstance(mask, relax.Var) else mask
