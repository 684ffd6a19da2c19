"""Attention as one kernel: both products, the softmax between them, and the moves of heads around them.

Products of two tensors, of codes or floats, at the places where reshapes and transposes put their elements; of dynamic
sizes the sums of two tensors of codes, and the codes of scores.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvm import relax

from tvmq.codegen.kernels.attention.attention import choose_attention
from tvmq.codegen.kernels.attention.batch_matmul import choose_batch_matmul
from tvmq.codegen.kernels.attention.batch_matmul_float import choose_batch_matmul_float
from tvmq.codegen.kernels.attention.dynamic_attention import choose_dynamic_attention
from tvmq.codegen.kernels.attention.dynamic_matmul import choose_dynamic_matmul
from tvmq.codegen.kernels.attention.dynamic_matmul_float import choose_dynamic_matmul_float
from tvmq.codegen.kernels.attention.dynamic_scores import DynamicScores, choose_dynamic_scores
from tvmq.codegen.kernels.attention.shape import Attention, BatchMatmul
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import Dequantize, FixedRequantize, Requantize
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.patterns.run_time_codes import DEQUANTIZE
from tvmq.codegen.lower.patterns.subgraphs import AttentionParts, attention_before
from tvmq.codegen.lower.rules import lower_token_attention
from tvmq.codegen.lower.rules.epilogue import codes_step, dequantize_step
from tvmq.codegen.lower.rules.matrix_operands import mask_of, name_sizes, operand_of, result_of
from tvmq.graph.sizes import is_number, name_dynamic_sizes
from tvmq.graph.view import View, const_value, dtype_of, op_name, rank_of, sizes_of


def lower_batch_matmul(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower the product of two integer tensors, its scale and a transpose of the result to one kernel."""
    view = lowerer.view
    if op_name(view.value[chain.result]) == DEQUANTIZE:
        return lower_token_attention.lower(lowerer, chain)
    if chain.members[0] != chain.head:
        return lower(lowerer, chain)
    scaled = chain.after_head()[:1]
    is_fixed = lowerer.has_fixed_sizes(chain)
    if scaled and not is_fixed and not _has_one_scale(view, scaled[0]):
        product = Chain(chain.head, [chain.head])
        return lower_batch_matmul(lowerer, product) and _lower_rest(lowerer, chain)
    scales = int(sizes_of(view.var[chain.head])[-1]) if is_fixed else 1
    step = step_of(view, scaled[0], scales) if scaled else None
    return _lower_product(lowerer, chain, (choose_batch_matmul, choose_dynamic_matmul), step)


def _has_one_scale(view: View, name: str) -> bool:
    """True for a requantize or dequantize by one number."""
    return all(const_value(arg).size == 1 for arg in view.value[name].args[1:])


def _lower_rest(lowerer: Lowerer, chain: Chain) -> bool:
    lowerer.emit_unchanged(chain.after_head())
    return True


def lower_float(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower the product of two float tensors and a transpose of the result; False for a sum behind it."""
    view = lowerer.view
    call = view.value[chain.head]
    if any(dtype_of(arg) != "float32" or rank_of(arg) < 2 for arg in call.args):
        return False
    choices = choose_batch_matmul_float, choose_dynamic_matmul_float
    if all(op_name(view.value[name]) == "permute_dims" for name in chain.after_head()):
        return _lower_product(lowerer, chain, choices)
    if lowerer.has_fixed_sizes(chain):
        return False
    product = Chain(chain.head, [chain.head])
    return _lower_product(lowerer, product, choices) and _lower_rest(lowerer, chain)


def _lower_product(lowerer: Lowerer, chain: Chain, choices: tuple[Any, Any], *step: Any) -> bool:
    """Lower a product and what its kernel does behind it; choices: of kernels of fixed and of dynamic sizes."""
    view = lowerer.view
    call, out = view.value[chain.head], sizes_of(view.var[chain.head])
    *batch, rows, columns = out
    if 0 in out or not all(_serves(sizes_of(arg)[:-2], batch) for arg in call.args):
        return False
    (a, a_input), (b, b_input) = (operand_of(lowerer, arg, batch, left=i == 0) for i, arg in enumerate(call.args))
    zeros = (int(getattr(call.attrs, "a_zero", 0)), int(getattr(call.attrs, "b_zero", 0)))
    y = result_of(view, chain, out)
    product = BatchMatmul(tuple(batch), rows, sizes_of(call.args[0])[-1], columns, a, b, y, *zeros)
    named = name_sizes(product, ("a", "b", "y"))
    kernel = None
    if named is not None:
        kernel = lowerer.choose(choices[0 if lowerer.has_fixed_sizes(chain) else 1], named, *step)
    if kernel is None:
        return False
    result = view.var[chain.result]
    value = lowerer.call(kernel, [a_input, b_input], list(result.ty.shape), dtype_of(result), chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def _serves(sizes: Sequence[int | str], batch: Sequence[int | str]) -> bool:
    """True for leading axes that are those of a batch, or 1."""
    whole = batch[len(batch) - len(sizes) :]
    return all(size in (1, other) for size, other in zip(sizes, whole, strict=True))


def step_of(view: View, name: str, columns: int) -> Requantize | FixedRequantize | Dequantize:
    """The epilogue for the binding behind the product, with so many scales."""
    call = view.value[name]
    if op_name(call) == "tvmq.requantize":
        return codes_step(call, columns)
    return dequantize_step(call, columns)


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a whole attention to one kernel if there is one, else each part by its own rule."""
    if _as_one(lowerer, chain):
        return True
    attention = attention_before(lowerer.view, chain.head)
    assert attention is not None  # or the chain would not have its members
    if not _lower_dynamic_scores(lowerer, attention):
        product, scaled, *single = attention.members
        for members in ([product, scaled], *([name] for name in single)):
            lowerer.lower(Chain(members[0], members))
    lowerer.lower(Chain(chain.head, chain.members[len(attention.members) :]))
    return True


def _lower_dynamic_scores(lowerer: Lowerer, attention: AttentionParts) -> bool:
    """From the first product's sums to the softmax's codes as one kernel, where sizes are dynamic."""
    view = lowerer.view
    product = view.var[attention.product]
    sizes, mask = sizes_of(product), None
    if all(map(is_number, sizes)) or 0 in sizes:
        return False
    names = dict(zip(sizes, name_dynamic_sizes(list(product.ty.shape)), strict=True))
    if attention.mask is not None:
        added = [1] * (len(sizes) - rank_of(attention.mask)) + list(sizes_of(attention.mask))
        if any(size not in (1, whole) for size, whole in zip(added, sizes, strict=True)):
            return False
        mask = tuple(1 if size == 1 else names[size] for size in added)
    score_scale, code_scale, codes = _scales(view, attention)
    scores = DynamicScores(tuple(names[size] for size in sizes), mask, codes)
    kernel = lowerer.choose(choose_dynamic_scores, scores, score_scale, code_scale)
    if kernel is None:
        return False
    lowerer.lower(Chain(attention.product, [attention.product]))
    inputs = [lowerer.logical(attention.product)]
    if attention.mask is not None:
        shape = [1] * (len(sizes) - rank_of(attention.mask)) + list(attention.mask.ty.shape)
        inputs.append(lowerer.reshape(_input(lowerer, attention.mask), shape, f"{attention.codes}_mask"))
    value = lowerer.call(kernel, inputs, list(product.ty.shape), codes.dtype, attention.codes)
    lowerer.give_logical(attention.codes, value)
    return True


def _scales(view: View, attention: AttentionParts) -> tuple[float, float, CodeLimits]:
    """Scale of the scores, scale of the softmax's codes, and what these are."""
    quantize = view.value[attention.codes]
    score_scale = float(const_value(view.value[attention.scaled].args[1]).reshape(-1)[0])
    code_scale, zero_point = (const_value(arg).reshape(-1)[0] for arg in quantize.args[1:])
    attrs = quantize.attrs
    return (
        score_scale,
        float(code_scale),
        CodeLimits(int(zero_point), int(attrs.qmin), int(attrs.qmax), str(attrs.dtype)),
    )


def _as_one(lowerer: Lowerer, chain: Chain) -> bool:
    view = lowerer.view
    attention = attention_before(view, chain.head)
    assert attention is not None  # or the chain would not have its members
    first, second = view.value[attention.product], view.value[chain.head]
    *batch, rows, keys = sizes_of(view.var[attention.product])
    *out_batch, _, columns = out = sizes_of(view.var[chain.head])
    depth = sizes_of(first.args[0])[-1]
    if batch != out_batch or isinstance(columns, str) or isinstance(depth, str):
        return False  # scores that serve several matrices of values are not worth a kernel of their own
    (q, q_input), (k, k_input) = (operand_of(lowerer, arg, batch, left=i == 0) for i, arg in enumerate(first.args))
    v, v_input = operand_of(lowerer, second.args[1], batch, left=False)
    mask, inputs = None, [q_input, k_input, v_input]
    if attention.mask is not None:
        mask = mask_of(attention.mask, (*batch, rows, keys))
        inputs.append(_input(lowerer, attention.mask))
        if mask is None:
            return False
    score_scale, code_scale, codes = _scales(view, attention)
    y = result_of(view, chain, out)
    zeros = (int(first.attrs.a_zero), int(first.attrs.b_zero), int(second.attrs.b_zero))
    shape = Attention(tuple(batch), rows, keys, depth, columns, q, k, v, y, mask, zeros, codes)
    named, step = name_sizes(shape, ("q", "k", "v", "mask", "y")), step_of(view, chain.after_head()[0], columns)
    is_fixed = lowerer.has_fixed_sizes(Chain(chain.head, [attention.product, *chain.members]))
    choose = choose_attention if is_fixed else choose_dynamic_attention
    kernel = lowerer.choose(choose, named, score_scale, code_scale, step) if named is not None else None
    if kernel is None or int(second.attrs.a_zero) != codes.zero_point:
        return False
    result = view.var[chain.result]
    value = lowerer.call(kernel, inputs, list(result.ty.shape), dtype_of(result), chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def _input(lowerer: Lowerer, mask: relax.Expr) -> relax.Expr:
    return lowerer.logical(mask.name) if isinstance(mask, relax.Var) else mask
