"""Attention whose queries, keys and values have a scale for each token, made at run time.

    tvmq.matmul(q, k) -> dynamic_dequantize -> [reshape ->] [multiply by a number ->] [add a mask ->] softmax
      -> [reshape ->] multiply by the scales of the values -> dynamic_scale, dynamic_quantize -> tvmq.matmul(_, v)
      -> dynamic_dequantize

Each has one reader but the weighted rows, which their scale and their codes read, and this scale. The reshapes are
those of passes/realize/group_queries.py: rows of all heads that share keys are rows of one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tvm import relax

from tvmq.codegen.lower.patterns.run_time_codes import DEQUANTIZE, QUANTIZE, SCALE
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, sizes_of

LARGEST_CODE = 127


@dataclass
class TokenAttentionParts:
    """Inputs of such an attention.

    product   its first product
    scales    of queries, keys and values, each one number for each token
    mask      what is added to the scores; None for nothing
    factor    of the scores; 1.0 for none
    members   all bindings, in order; the last one is the result
    """

    product: relax.Call
    scales: tuple[relax.Expr, relax.Expr, relax.Expr]
    mask: relax.Expr | None = None
    factor: float = 1.0
    members: list[str] = field(default_factory=list)


def token_attention_at(view: View, head: str) -> TokenAttentionParts | None:
    """The attention whose second product is `head`; None for any other product."""
    walk = _PatternWalk(view)
    rows = walk.weighted_rows(view.value[head], head)
    if rows is None:
        return None
    weighted, values = rows
    softmax = walk.through(weighted, "tvmq.softmax", others=("reshape",))
    if softmax is None or int(softmax.attrs.axis) not in (-1, rank_of(softmax.args[0]) - 1):
        return None
    scores, mask, factor = softmax.args[0], None, 1.0
    value = walk.step(scores)
    if op_name(value) == "add":
        scores, mask = value.args
        if sizes_of(scores) != sizes_of(softmax.args[0]) or dtype_of(mask) != "float32":
            return None
        value = walk.step(scores)
    if op_name(value) == "multiply" and is_const(value.args[1]) and const_value(value.args[1]).size == 1:
        factor = float(const_value(value.args[1]).reshape(()))
        scores = value.args[0]
        value = walk.step(scores)
    dequantize = walk.through(scores, DEQUANTIZE, others=("reshape",), value=value)
    product = walk.step(dequantize.args[0]) if dequantize is not None else None
    if dequantize is None or op_name(product) != "tvmq.matmul" or not _fit(product, dequantize, values):
        return None
    members = sorted(walk.members, key=view.place.__getitem__)
    return TokenAttentionParts(product, (dequantize.args[1], dequantize.args[2], values), mask, factor, members)


def _fit(product: relax.Call, dequantize: relax.Call, values: relax.Expr) -> bool:
    """True for a scale for each row, each key and each value, of matrices of one batch."""
    *batch, rows, keys = sizes_of(product)
    wanted = ((*batch, rows, 1), (*batch, 1, keys), (*batch, 1, keys))
    return [sizes_of(scale) for scale in (*dequantize.args[1:], values)] == list(wanted)


class _PatternWalk:
    """Backwards through bindings of one reader, which are kept."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.members: set[str] = set()

    def step(self, expr: relax.Expr, readers: int = 1) -> Any:
        """The value of a variable with so many readers; None for any other."""
        view = self._view
        value = view.value.get(expr.name) if isinstance(expr, relax.Var) else None
        if not isinstance(value, relax.Call) or len(view.readers[expr.name]) != readers or view.is_output(expr.name):
            return None
        self.members.add(expr.name)
        return value

    def through(self, expr: relax.Expr, name: str, *, others: tuple[str, ...], value: Any = None) -> Any:
        """The value of that name, behind others that are walked through; value: that of `expr`, if it is known."""
        value = self.step(expr) if value is None else value
        while value is not None and op_name(value) in others:
            value = self.step(value.args[0])
        return value if op_name(value) == name else None

    def weighted_rows(self, product: relax.Call, head: str) -> tuple[relax.Expr, relax.Expr] | None:
        """Softmax's result and the scales that it is multiplied by, of a product of their codes and what follows it."""
        view, finish = self._view, self._view.only_reader(head)
        if finish is None:
            return None
        result: Any = view.value[finish]
        codes: Any = self.step(product.args[0]) if op_name(product) == "tvmq.matmul" else None
        if op_name(result) != DEQUANTIZE or op_name(codes) != QUANTIZE or int(codes.attrs.largest_code) != LARGEST_CODE:
            return None
        rows, scale = codes.args
        scale_call = self.step(scale, readers=2)
        weighted = self.step(rows, readers=2)
        if op_name(scale_call) != SCALE or op_name(weighted) != "multiply" or not scale_call.args[0].same_as(rows):
            return None
        last = rank_of(rows) - 1
        if (int(scale_call.attrs.first), int(scale_call.attrs.count)) != (last, 1) or not result.args[1].same_as(scale):
            return None
        number = result.args[2]
        if not is_const(number) or const_value(number).size != 1 or float(const_value(number).reshape(())) != 1.0:
            return None
        self.members |= {head, finish}
        return weighted.args[0], weighted.args[1]
