"""Concat and stack on codes: unify_scales gives all parts one scale, so that the codes are only copied.

Before                                            After
    c = concat((sq(x), sq(y)))                        c = concat((x, y)) on codes

A part that keeps a scale of its own is brought to the common one by a 256-entry table first. Constant parts, which
residual streams have (residual_streams.py), become codes of it.

Tests: tests/passes/partition/test_residual_streams.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.families.base import Codes, Facts, Family, Group, Realizer, encode_constant


@dataclass
class ConcatFacts(Facts):
    """Facts of a concat; the result of one that gives int16 codes has a scale: its parts may be constants."""

    needs_output_codes: bool = False
    stream: bool = False


class Concat(Family):
    """Concat and stack, which only copy codes."""

    name, facts_type = "concat", ConcatFacts
    joins = concatenates = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A concat of tensors of the graph."""
        parts = value.args[0]
        if not isinstance(parts, relax.Tuple) or any(is_const(part) for part in parts.fields):
            return "limit: a constant part, or parts that are not written out"
        return Group(
            self.name, var.name, [var.name], [part.name for part in parts.fields], passes=True, facts=ConcatFacts()
        )

    def of_tokens(self, name: str, parts: list[str]) -> Group:
        """A concat that also has constant parts, which become codes of the result's scale."""
        return Group(self.name, name, [name], parts, facts=ConcatFacts(needs_output_codes=True))

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit concat; parts of another scale are rescaled."""
        parts = [realizer.codes(name) for name in group.inputs]
        # a model with scales of its own says what its result's is; unify_scales leaves the parts' common one
        common = realizer.output_qparams(group) or max(
            (part.qparams for part in parts), key=lambda q: float(np.float32(q.scale))
        )
        value = realizer.view.value[group.root]
        known = iter([realizer.rescale(part, common, group).var for part in parts])
        same = [
            relax.const(encode_constant(const_value(p), common)) if is_const(p) else next(known)
            for p in value.args[0].fields
        ]
        join = relax.op.stack if op_name(value) == "stack" else relax.op.concat
        call = join(same, axis=0 if value.attrs.axis is None else int(value.attrs.axis))
        return Codes(realizer.emit(call, group.root), common)


FAMILY = Concat()
