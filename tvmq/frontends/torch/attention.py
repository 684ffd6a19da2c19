"""Attention as products and a softmax, which the later stages know."""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax
from tvm.ir import GenericConst

from tvmq.frontends.torch.call import TorchCall


def attention(call: TorchCall) -> relax.Expr:
    """softmax(query @ key^T * scale + mask) @ value; rows that are masked everywhere give zeros."""
    query, key, value = call["query"], call["key"], call["value"]
    if call["dropout_p"]:
        raise call.unsupported("dropout", "pass dropout_p=0.0 in evaluation")
    if call["enable_gqa"]:
        raise call.unsupported("enable_gqa", "repeat the heads of key and value before it")
    rank = len(call.shape(key))
    turned = call.emit(relax.op.permute_dims(key, [*range(rank - 2), rank - 1, rank - 2]))
    scores = call.emit(relax.op.matmul(query, turned))
    scores = call.emit(relax.op.multiply(scores, call.constant(_scale(call), query)))
    mask = _mask(call)
    if mask is None:
        return relax.op.matmul(call.emit(relax.op.nn.softmax(scores, -1)), value)
    scores = call.emit(relax.op.add(scores, mask))
    weights = call.emit(relax.op.nn.softmax(scores, -1))
    if not isinstance(mask, GenericConst) or np.isneginf(mask.value.numpy()).all(-1).any():
        weights = _zero_where_masked(call, scores, weights)
    return relax.op.matmul(weights, value)


def _scale(call: TorchCall) -> float:
    scale = call["scale"]
    if scale is not None:
        return float(scale)
    return float(call.shape(call["query"])[-1]) ** -0.5


def _mask(call: TorchCall) -> Any:
    """What is added to the scores, None for nothing."""
    query, given = call["query"], call["attn_mask"]
    if call["is_causal"]:
        rows, columns = call.shape(query)[-2], call.shape(call["key"])[-2]
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise call.unsupported("is_causal with a free length", "give the mask as attn_mask")
        return call.constant(np.where(np.tri(rows, columns, dtype=bool), 0.0, -np.inf), query)
    if given is None or str(given.ty.dtype) != "bool":
        return given
    return call.emit(relax.op.where(given, call.constant(0.0, query), call.constant(-np.inf, query)))


def _zero_where_masked(call: TorchCall, scores: relax.Expr, weights: relax.Expr) -> relax.Expr:
    """softmax of a row of -inf is no number; torch has zeros there.

    Relax's max begins at the lowest finite number, so the row is asked for a score above -inf instead.
    """
    open_scores = call.emit(relax.op.greater(scores, call.constant(-np.inf, scores)))
    counted = call.emit(relax.op.astype(open_scores, str(scores.ty.dtype)))
    any_open = call.emit(relax.op.max(counted, [-1], keepdims=True))
    masked = call.emit(relax.op.equal(any_open, call.constant(0.0, scores)))
    return call.emit(relax.op.where(masked, call.constant(0.0, scores), weights))
