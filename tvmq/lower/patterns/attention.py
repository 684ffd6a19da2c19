"""Attention in a module: the bindings between the product of queries and keys and that of their softmax with values.

    tvmq.matmul(q, k) -> dequantize -> [add a mask ->] softmax -> quantize -> tvmq.matmul(_, v)

Each has one reader, softmax runs over the keys, and each scale is one number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq.graph.view import View, const_value, dtype_of, op_name, rank_of

CODES = ("uint8", "int8")


@dataclass(frozen=True)
class Attention:
    """The bindings by their part, names of variables; `mask` is what is added to the scores, if anything is."""

    product: str
    scaled: str
    masked: str | None
    mask: relax.Expr | None
    softmax: str
    codes: str

    @property
    def members(self) -> list[str]:
        """All of them in order."""
        found = (self.product, self.scaled, self.masked, self.softmax, self.codes)
        return [name for name in found if name is not None]


def attention_before(view: View, head: str) -> Attention | None:
    """What comes before a tvmq.matmul, if it is the second product of an attention."""
    codes = view.value[head].args[0]
    quantize = _made_by(view, codes, "tvmq.quantize")
    if quantize is None or dtype_of(codes) not in CODES or not _one_number(*quantize.args[1:]):
        return None
    softmax = _made_by(view, quantize.args[0], "tvmq.softmax")
    if softmax is None or int(softmax.attrs.axis) not in (-1, rank_of(softmax) - 1):
        return None
    scores = softmax.args[0]
    add, masked, mask = _made_by(view, scores, "add"), None, None
    if add is not None:
        sides = [_made_by(view, arg, "tvmq.dequantize") is not None for arg in add.args]
        if sides not in ([True, False], [False, True]):
            return None
        masked, scores, mask = scores.name, add.args[sides.index(True)], add.args[sides.index(False)]
        if not _same_sizes(view.var[masked], scores) or dtype_of(mask) != "float32":
            return None
    dequantize = _made_by(view, scores, "tvmq.dequantize")
    if dequantize is None or not _one_number(*dequantize.args[1:]) or const_value(dequantize.args[2]).any():
        return None
    product = dequantize.args[0]
    if _made_by(view, product, "tvmq.matmul") is None:
        return None
    return Attention(product.name, scores.name, masked, mask, quantize.args[0].name, codes.name)


def _made_by(view: View, expr: relax.Expr, operator: str) -> relax.Call | None:
    """The call that a variable with one reader is bound to, if it is of that operator."""
    call = view.producer(expr)
    if call is None or op_name(call) != operator or view.only_reader(expr.name) is None:
        return None
    return call


def _one_number(*constants: relax.Expr) -> bool:
    return all(np.size(const_value(constant)) == 1 for constant in constants)


def _same_sizes(a: relax.Var, b: relax.Var) -> bool:
    """True for equal numbers and names of free sizes: a mask may widen no score."""
    return [str(size) for size in a.ty.shape] == [str(size) for size in b.ty.shape]
