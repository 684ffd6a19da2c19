"""Layer norm and rms norm in integers, of the int16 codes of a residual stream: qconfig(integer_layer_norm=True).

Before                                            After
    n = layer_norm(stream, gamma, beta)               n = tvmq.integer_layer_norm(codes, multiplier, offset), codes
    m = multiply(n, constant)                         m = tvmq.scale_shift(n, ...) of the int16 codes of n

The result has the 8 bits of the products that read it; it has 16 bits where a sum of the stream reads it, a float
operator, a constant that is multiplied (channels of very different size are why it is there), or nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import RangeError, StageError
from tvmq.graph import ops
from tvmq.graph.view import View, const_value, is_const, make_const, op_name, sizes_of
from tvmq.numerics.integer_layer_norm import LONGEST_ROW
from tvmq.passes.families.absorb import group_names
from tvmq.passes.families.base import Codes, Facts, Family, Group, Realizer, fact_field


@dataclass
class NormFacts(Facts):
    """Facts of a norm: its input has 16 bits; its result may have."""

    stream: bool = fact_field(True)
    needs_output_codes: bool = False


class IntegerLayerNorm(Family):
    """Layer norm and rms norm of the int16 codes of a residual stream."""

    name, facts_type = "integer_layer_norm", NormFacts
    is_asked_for = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A layer norm or rms norm of constant parameters."""
        x, *parameters = value.args
        row = sizes_of(x)[len(sizes_of(x)) - int(value.attrs.axes) :]
        if any(isinstance(size, str) for size in row):
            return f"limit: the number of normalized values is dynamic ({', '.join(map(str, row))})"
        count = int(np.prod([int(size) for size in row]))
        if not 0 < count <= LONGEST_ROW:
            return f"limit: a norm of {count} values, integer_layer_norm takes {LONGEST_ROW}"
        if not all(is_const(p) and np.isfinite(const_value(p)).all() for p in parameters):
            return "limit: parameters that are no constants of finite numbers"
        return Group(self.name, var.name, [var.name], [x.name], facts=NormFacts())

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit one tvmq.integer_layer_norm."""
        x, y = realizer.codes(group.inputs[0]), realizer.output_qparams(group)
        where = ", ".join(group_names(realizer.view, group))
        if y is None:
            raise StageError(f"realize, integer_layer_norm '{where}': its result carries no scale; annotate it here")
        call = realizer.view.value[group.root]
        row = [int(size) for size in sizes_of(call)[len(sizes_of(call)) - int(call.attrs.axes) :]]
        gamma, *rest = (np.broadcast_to(const_value(p), row) for p in call.args[1:])
        beta = rest[0] if rest else None
        try:
            params = numerics.integer_layer_norm_params(
                float(x.scale), gamma, beta, float(y.scale), epsilon=float(call.attrs.epsilon)
            )
        except RangeError as error:
            raise RangeError(f"realize, layer '{where}': {error}") from error
        normed = ops.integer_layer_norm(
            x.var,
            make_const(params.multiplier),
            make_const(params.offset),
            epsilon=params.epsilon,
            shift=params.shift,
            zero_point=int(y.zero_point),
            dtype=y.spec.dtype,
            qmin=y.spec.qmin,
            qmax=y.spec.qmax,
            centred=op_name(call) == "tvmq.layer_norm",
            x_zero=x.zero_point,
        )
        return Codes(realizer.emit(normed, group.output), y)

    def settle(self, view: View, group: Group, groups: Mapping[str, Group]) -> None:
        """Give the result 16 bits for readers of int16 codes; constants are multiplied with these."""
        owner = {member: other for other in groups.values() for member in other.members}
        for reader in (owner.get(name) for name in view.readers[group.output]):
            if reader is not None and reader.strategy.reads_norms:
                reader.facts.stream = True
                reader.facts.needs_output_codes = _has_int16_readers(view, reader, owner)
        if _has_int16_readers(view, group, owner):
            group.facts.needs_output_codes = True


def _has_int16_readers(view: View, group: Group, owner: Mapping[str, Group]) -> bool:
    """True if anything but groups of 8 bits reads the result."""
    readers = [owner.get(name) for name in view.readers[group.output]]
    narrow = [reader for reader in readers if reader is not None and not reader.facts.stream]
    return not readers or len(narrow) < len(readers) or view.is_output(group.output)


FAMILY = IntegerLayerNorm()
