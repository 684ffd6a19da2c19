"""Attention with a scale for each token as one kernel: patterns/token_attention_parts.py says which.

Tests: tests/codegen/lower/patterns/test_token_attention_parts.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax

from tvmq.codegen.kernels.attention.shape import Attention, MatrixOperand
from tvmq.codegen.kernels.attention.token_attention import TokenAttention, choose_token_attention
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.patterns.token_attention_parts import TokenAttentionParts, token_attention_at
from tvmq.codegen.lower.rules.matrix_operands import mask_of, name_sizes, operand_of, result_of
from tvmq.codegen.lower.strides import contiguous_view
from tvmq.graph.sizes import is_number
from tvmq.graph.view import sizes_of

CODES = CodeLimits(0, 0, 127, "uint8")
Sizes = Sequence[int | str]


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower the attention to one kernel if there is one, else each part by its own rule."""
    parts = token_attention_at(lowerer.view, chain.head)
    assert parts is not None  # or the chain would not have its members
    if not _as_one(lowerer, chain, parts):
        for name in chain.members:
            lowerer.lower(Chain(name, [name]))
    return True


def _as_one(lowerer: Lowerer, chain: Chain, parts: TokenAttentionParts) -> bool:
    view = lowerer.view
    first, second = parts.product, view.value[chain.head]
    *batch, rows, keys = sizes_of(first)
    *out_batch, _, columns = out = sizes_of(view.var[chain.head])
    depth = sizes_of(first.args[0])[-1]
    if batch != out_batch or isinstance(columns, str) or isinstance(depth, str) or 0 in (*out, keys):
        return False
    (q, q_input), (k, k_input) = (operand_of(lowerer, arg, batch, left=i == 0) for i, arg in enumerate(first.args))
    v, v_input = operand_of(lowerer, second.args[1], batch, left=False)
    mask = None if parts.mask is None else _mask_operand(parts.mask, batch, rows, keys)
    if parts.mask is not None and mask is None:
        return False
    zeros = int(first.attrs.a_zero), int(first.attrs.b_zero), int(second.attrs.b_zero)
    y = result_of(view, Chain(chain.head, [chain.head]), out)
    shape = Attention(tuple(batch), rows, keys, depth, columns, q, k, v, y, mask, zeros, CODES)
    named = name_sizes(shape, ("q", "k", "v", "mask", "y"))
    if named is None:
        return False
    queries = named.rows if named.mask is None else named.mask.shape[-2]
    kernel = lowerer.choose(choose_token_attention, TokenAttention(named, queries, parts.factor))
    if kernel is None:
        return False
    inputs = [q_input, k_input, v_input]
    if parts.mask is not None:
        mask = lowerer.logical(parts.mask.name) if isinstance(parts.mask, relax.Var) else parts.mask
        inputs.append(lowerer.reshape(mask, _four_axes(list(parts.mask.ty.shape)), f"{chain.result}_mask"))
    for scale in parts.scales:
        *leading, row, column = scale.ty.shape
        lines = row if is_number(column) and int(column) == 1 else column
        inputs.append(lowerer.reshape(lowerer.logical(scale.name), [*leading, lines, 1], f"{scale.name}_column"))
    value = lowerer.call(kernel, inputs, list(view.var[chain.result].ty.shape), "float32", chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def _four_axes(shape: Sizes) -> list[int | str]:
    return [*[1] * (4 - len(shape)), *shape]


def _mask_operand(mask: relax.Expr, batch: Sizes, rows: int | str, keys: int | str) -> MatrixOperand | None:
    """Where a mask lies that has a row for each row of q, or for each query of all heads; None for any other."""
    sizes = _four_axes(sizes_of(mask))
    if len(sizes) != 4 or len(batch) != 2 or sizes[3] != keys:
        return None
    whole = mask_of(mask, (*batch, rows, keys))
    if whole is not None:
        return whole if len(whole.shape) == 4 else MatrixOperand(
            tuple(sizes), "float32", 0, whole.batch, whole.row, whole.column
        )  # fmt: skip
    if sizes[1] != 1 or sizes[0] not in (1, batch[0]):
        return None
    strides = contiguous_view("", tuple(sizes)).strides
    step, row = (0 if sizes[axis] == 1 else strides[axis] for axis in (0, 2))
    return MatrixOperand(tuple(sizes), "float32", 0, (step, 0), row, 1)
