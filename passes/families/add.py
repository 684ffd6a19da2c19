"""Sum or difference of two activations in integers; absorbs relu and clip.

Before                                            After
    a = add(sq(x), sq(y))                             a = tvmq.add(x, y, multipliers, offset, shift)
    r = relu(a)                                       (bounds of the codes from the relu)
    d = subtract(sq(x), sq(y))                        the same with a negative multiplier of y

Sums that are rounded twice (TFLite)              u = table(x, int32), v = table(y, int32), see numerics.summand_tables
                                                  a = requantize(add(u, v))

Tests: tests/passes/test_realize.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph import ops
from tvmq.graph.view import View, is_const, make_const, op_name
from tvmq.passes.families import scale_shift
from tvmq.passes.families.absorb import absorb_clip
from tvmq.passes.families.base import SUM_SUFFIX, CodedFacts, Codes, Family, Group, Realizer
from tvmq.passes.partition.float_exceptions import why_float_sum


class Add(Family):
    """Sum or difference of two activations."""

    name, facts_type = "add", CodedFacts
    adds = reads_int16 = True

    def group(self, view: View, var: relax.Var, value: relax.Call, *, as_int16: bool = False) -> Group | str:
        """A sum or difference of two tensors of the graph; those of a stream only if they become int16 codes."""
        if any(is_const(arg) for arg in value.args):
            return scale_shift.FAMILY.group(view, var, value)
        stream = None if as_int16 else why_float_sum(view, var.name)
        if stream:
            return stream
        members, low, high = [var.name], -np.inf, np.inf
        clip = absorb_clip(view, var.name)
        if clip:
            members.append(clip[0])
            low, high = clip[1:]
        inputs = [arg.name for arg in value.args]
        return Group(self.name, var.name, members, inputs, facts=CodedFacts(low, high))

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit one tvmq.add."""
        a, b = (realizer.codes(name) for name in group.inputs)
        y = realizer.output_qparams(group)
        if y is None:
            raise StageError(
                f"realize, add '{group.root}': its result carries no scale; was the module annotated here?"
            )
        subtract = op_name(realizer.view.value[group.root]) == "subtract"
        dtypes = (a.qparams.spec.dtype, b.qparams.spec.dtype)
        twice = numerics.rule_of_mode("fixed_point", realizer.rounding).rounds_twice
        if twice and "int16" not in (*dtypes, y.spec.dtype):
            return _emit_rescaled_sum(realizer, group, a, b, subtract)
        params = numerics.add_params(
            a.scale, a.zero_point, b.scale, b.zero_point, y.scale, subtract=subtract, dtypes=dtypes,
            bits=realizer.accumulator_bits,
        )  # fmt: skip
        qmin, qmax = realizer.code_bounds(y, group)
        call = ops.add(
            a.var,
            b.var,
            a_multiplier=int(params.a_multiplier),
            b_multiplier=int(params.b_multiplier),
            offset=int(params.offset),
            shift=int(params.shift),
            zero_point=int(y.zero_point),
            dtype=y.spec.dtype,
            qmin=qmin,
            qmax=qmax,
        )
        return Codes(realizer.emit(call, group.output), y)


def _emit_rescaled_sum(realizer: Realizer, group: Group, a: Codes, b: Codes, subtract: bool) -> Codes | relax.Expr:
    """Emit both sides as int32, their sum and its requantize."""
    dtypes = (a.qparams.spec.dtype, b.qparams.spec.dtype)
    tables = numerics.summand_tables(a.scale, a.zero_point, b.scale, b.zero_point, subtract=subtract, dtypes=dtypes)
    sides = [
        realizer.emit(ops.table(side.var, make_const(values), function="summand"), f"{group.root}_side")
        for side, values in ((a, tables.a), (b, tables.b))
    ]
    acc = realizer.emit(relax.op.add(*sides), f"{group.root}{SUM_SUFFIX}")
    return realizer.requantize(acc, np.atleast_1d(np.float64(tables.scale)), group)


FAMILY = Add()
