"""Product of two activations in integers (attention); absorbs factors, relu and clip. Constants on the right: dense.py.

Before                                            After
    m = matmul(sq(x), sq(y))                          a = tvmq.matmul(x, y) of the centred codes, exact in int32
    s = multiply(m, 0.125)                            s = requantize(a, s_x * s_y * 0.125 / s_s), or floats

A constant of more than two axes (a matrix for each head) is codes, too: int8, one scale for each of its last axis.

Tests: tests/passes/calibrate/test_observed_model.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph import ops
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.view import View, const_value, is_const, op_name, rank_of, sizes_of
from tvmq.passes.families import base, dense
from tvmq.passes.families.absorb import absorb_clip, group_names
from tvmq.passes.families.base import BoundedFacts, Codes, Family, Group, Realizer, fact_field
from tvmq.passes.families.weights import weight_codes


@dataclass
class MatmulFacts(BoundedFacts):
    """factor: that of the constants behind the product; weight: the right side is a constant."""

    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)
    factor: float = fact_field(1.0)
    bias: bool = fact_field(False)
    weight: bool = fact_field(False)


class Matmul(Family):
    """Product of two activations."""

    name, facts_type = "matmul", MatmulFacts
    anchor = True

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """A product of matrices of two activations; of one and a constant matrix it is a dense layer."""
        a, b = value.args
        if is_const(a) or (is_const(b) and rank_of(b) <= 2):
            return dense.FAMILY.group(view, var, value)
        depth = sizes_of(a)[-1]
        if isinstance(depth, str) and _terms(depth) is None:
            return f"limit: the number of products is computed from dynamic sizes ({depth})"
        if min(rank_of(a), rank_of(b)) < 2:
            return "limit: a product of a vector has no integer form"
        members, factor = _with_factors(view, var.name)
        facts = MatmulFacts(factor=factor, weight=is_const(b))
        clip = absorb_clip(view, members[-1])
        if clip:
            members.append(clip[0])
            facts.low, facts.high = clip[1:]
        inputs = [arg.name for arg in value.args if not is_const(arg)]
        return Group(self.name, var.name, members, inputs, macs=multiply_accumulates(value), facts=facts)

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the product and its requantize."""
        x = realizer.codes(group.inputs[0])
        if group.facts.weight:
            weight, scale = weight_codes(realizer, group)
            y, y_zero, y_largest = relax.const(weight), 0, 128
        else:
            other = realizer.codes(group.inputs[1])
            y, y_zero, y_largest = other.var, other.zero_point, _largest_step(other)
            scale = np.atleast_1d(other.scale)
        where = ", ".join(group_names(realizer.view, group))
        depth, x_largest = sizes_of(x.var)[-1], _largest_step(x)
        if isinstance(depth, str):  # the executable takes no more than fit into int32
            most, terms = numerics.largest_depth(x_largest, y_largest), _terms(depth) or [depth]
            shares = dict.fromkeys(terms, most // len(terms))
            realizer.note(group, accumulator=most * x_largest * y_largest, most=shares)
        else:
            bound = numerics.check_product_accumulator(where, depth, x_largest, y_largest)
            realizer.note(group, accumulator=bound)
        product = self.sums(realizer.view.value[group.root], x.var, y, x_zero=x.zero_point, y_zero=y_zero)
        acc = realizer.emit(product, f"{group.root}{base.PRODUCT_SUFFIX}")
        real = np.float64(x.scale) * scale.astype(np.float64) * group.facts.factor
        return realizer.requantize(acc, real, group, axis=rank_of(acc) - 1)

    def sums(self, call: relax.Call, x: relax.Expr, y: relax.Expr, *, x_zero: int = 0, y_zero: int = 0) -> relax.Call:
        """Product of matrices of the centred codes."""
        return ops.matmul(x, y, a_zero=x_zero, b_zero=y_zero)

    def has_weight(self, group: Group) -> bool:
        """True where the right side is a constant, of more than two axes."""
        return bool(group.facts.weight)

    def gives_sums(self, group: Group) -> bool:
        """True for a product of two activations that nothing bounds."""
        return not group.facts.weight and not group.facts.is_bounded


def _largest_step(x: Codes) -> int:
    """Largest distance of a code from its zero point."""
    return max(x.qparams.spec.qmax - x.zero_point, x.zero_point - x.qparams.spec.qmin)


def _terms(depth: str) -> list[str] | None:
    """The dynamic dimensions whose sum a number of products is, such as past and new words; None for other numbers.

    >>> _terms("past + words"), _terms("words"), _terms("2*words")
    (['past', 'words'], ['words'], None)
    """
    terms = depth.split(" + ")
    return terms if all(term.isidentifier() for term in terms) and len(set(terms)) == len(terms) else None


def _with_factors(view: View, name: str) -> tuple[list[str], float]:
    """The product, the multiplications by positive numbers that alone read it, and the product of these numbers."""
    members, factor = [name], 1.0
    while True:
        reader = view.only_reader(members[-1])
        number = None if reader is None else _number(view.value[reader])
        if reader is None or number is None:
            return members, factor
        members.append(reader)
        factor *= number


def _number(call: relax.Expr) -> float | None:
    """Factor by which a call multiplies its first argument; None for other calls and for numbers beyond 2^-32..2^32."""
    if op_name(call) not in ("multiply", "divide") or not is_const(call.args[1]) or is_const(call.args[0]):
        return None
    array = const_value(call.args[1])
    if array.ndim != 0 or not 2.0**-32 <= float(array) <= 2.0**32:
        return None
    return float(array) if op_name(call) == "multiply" else 1 / float(array)


FAMILY = Matmul()
