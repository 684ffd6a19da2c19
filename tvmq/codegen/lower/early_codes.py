"""Floats become codes before they are moved: a fourth of the bytes, and the kernels of codes.

    quantize(max_pool(x)) = max_pool(quantize(x))        quantize(concat(x, y)) = concat(quantize(x), quantize(y))

Both sides are equal, as one quantize with one scale keeps the order of numbers and looks at each by itself. It goes
to the front of what only it reads: joins, pools, repeated pixels; and of what moves the heads of an attention, whose
kernels read codes at any distances. NaN is the lowest code, but no maximum: pools need numbers that are finite.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import tvm
from tvm import relax

from tvmq.codegen.lower.code_range import magnitude_bound
from tvmq.graph.evaluate import repeats_pixels
from tvmq.graph.operators import where
from tvmq.graph.operators.record import POOL, RESHAPE, TRANSPOSE
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import View, const_value, dtype_of, flatten_tuples, is_const, op_name, rank_of
from tvmq.graph.walk import resolve_each
from tvmq.numerics.code_type import CODES_8

POOLS = where(kind=POOL, commutes_with_quantize=True)
HEAD_MOVES = where(form=(RESHAPE, TRANSPOSE))
QUANTIZE = "tvmq.quantize"

Key = tuple[Any, ...]


def codes_early(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with quantize in front of what moves numbers; itself where there is nothing to do."""
    view = View(mod)
    plan = _CodePlan(view)
    ends = [var.name for var, value in view.bindings if op_name(value) == QUANTIZE and plan.goes_ahead(var.name)]
    if not ends:
        return mod
    rewriter = Rewriter(mod)
    emitted: dict[tuple[str, Key], relax.Expr] = {}
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        if var.name in ends:
            rewriter.bind(var, _codes_of(rewriter, plan, value.args[0].name, value, emitted))
        else:
            rewriter.bind(var, rewriter.emit(rewriter.substitute(value), var.name))
    return rewriter.finish()


class _CodePlan:
    """Which tensors exist as codes only."""

    def __init__(self, view: View) -> None:
        self.view = view

    def goes_ahead(self, name: str) -> bool:
        """True for a quantize whose source need not exist as floats."""
        call = self.view.value[name]
        return _key(call) is not None and isinstance(call.args[0], relax.Var) and self.moves(call.args[0].name)

    def moves(self, name: str) -> bool:
        """True for a tensor of moved numbers that is read as the codes of one quantize alone."""
        keys = resolve_each(name, self._keys, self.view.memo(codes_early))
        return keys is not None and self._is_move(name)

    def _keys(self, name: str) -> Generator[str, Key | None, Key | None]:
        """The one quantize that reads a tensor, itself or behind moves; None for other readers."""
        view = self.view
        if view.is_output(name) or not view.readers[name]:
            return None
        keys = []
        for reader in view.readers[name]:
            call = view.value[reader]
            if op_name(call) == QUANTIZE:
                keys.append(_key(call))
            else:
                keys.append((yield reader) if self._is_move(reader) else None)
        return keys[0] if all(key == keys[0] for key in keys) else None

    def _is_move(self, name: str) -> bool:
        view, value = self.view, self.view.value.get(name)
        op = op_name(value)
        if value is None:
            return False
        if op == "concat":
            parts = flatten_tuples(value.args)
            return all(isinstance(part, relax.Var) and dtype_of(part) == "float32" for part in parts)
        if op not in (*POOLS, "image.resize2d", *HEAD_MOVES) or not isinstance(value.args[0], relax.Var):
            return False  # of a constant there is no source to quantize
        if op in POOLS:
            return _has_no_empty_window(value) and magnitude_bound(view, value.args[0]) is not None
        if op == "image.resize2d":
            return repeats_pixels(value)
        return self._of_heads(name)

    def _of_heads(self, name: str) -> bool:
        """True for what only products of two tensors read, behind moves and a quantize."""

        def holds(name: str) -> Generator[str, bool, bool]:
            for reader in self.view.readers[name]:
                op = op_name(self.view.value[reader])
                if op != "tvmq.matmul" and (op not in (*HEAD_MOVES, QUANTIZE) or not (yield reader)):
                    return False
            return bool(self.view.readers[name])

        return resolve_each(name, holds, self.view.memo(HEAD_MOVES))


def _key(call: relax.Call) -> Key | None:
    """Scale, zero point, range and type of a quantize with one scale to 8 bits; None for others."""
    if not all(map(is_const, call.args[1:])):
        return None
    scale, zero_point = (const_value(arg) for arg in call.args[1:])
    attrs = call.attrs
    if scale.size != 1 or zero_point.size != 1 or attrs.dtype not in CODES_8:
        return None
    return float(scale.reshape(-1)[0]), int(zero_point.reshape(-1)[0]), int(attrs.qmin), int(attrs.qmax), attrs.dtype


def _has_no_empty_window(call: relax.Call) -> bool:
    """True where every window meets the tensor: such a one gives the lowest float, no code of a scale."""
    attrs, rank = call.attrs, rank_of(call) - 2
    padding = [int(p) for p in attrs.padding]
    sizes = [int(size) for size in attrs.pool_size]
    inside = all(side < size for side, size in zip(padding, sizes * (len(padding) // rank), strict=True))
    return inside and not attrs.ceil_mode


def _codes_of(
    rewriter: Rewriter, plan: _CodePlan, name: str, quantize: relax.Call, emitted: dict[tuple[str, Key], relax.Expr]
) -> relax.Expr:
    """The codes of a tensor: those of its sources, moved, where they go ahead."""
    key = _key(quantize)
    assert key is not None
    waiting = [name]
    while waiting:  # a stack, as chains of joins may be long
        current = waiting[-1]
        moved = plan.moves(current)
        call = plan.view.value[current] if moved else quantize
        sources = [arg.name for arg in flatten_tuples(call.args[:1])] if moved else []
        missing = [source for source in sources if (source, key) not in emitted]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if (current, key) in emitted:
            continue
        if not moved:
            x = rewriter.substitute(plan.view.var[current])
            value = relax.Call(quantize.op, [x, *quantize.args[1:]], quantize.attrs)
        else:
            codes = [emitted[source, key] for source in sources]
            first = relax.Tuple(codes) if isinstance(call.args[0], relax.Tuple) else codes[0]
            value = relax.Call(call.op, [first, *call.args[1:]], call.attrs)
        emitted[current, key] = rewriter.emit(value, f"{current}_as_codes", plan.view.sources(current))
    return emitted[name, key]
