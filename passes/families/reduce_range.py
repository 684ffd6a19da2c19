"""Weights of 7 bits where the option reduce_range asks for them: in every layer whose products are summed in lanes.

A CPU without VNNI multiplies bytes by an instruction that saturates 16 bits (vpmaddubsw). With weights in -63..63 two
products of any uint8 codes fit, four nearly always, and the kernels prove which (kernels/conv/int16_accumulation).
Depthwise convolutions do not use that instruction: they keep all bits, and so do layers with a rule for their weights.
"""

from __future__ import annotations

from dataclasses import replace

from tvmq.config import QConfig
from tvmq.passes.families.base import Family
from tvmq.rules import Decision
from tvmq.spec import QuantSpec

BITS = 7


def reduce_weight_bits(decision: Decision, family: Family, weight: tuple[int | str, ...], config: QConfig) -> Decision:
    """The decision about a layer, with weights of fewer bits if that helps.

    family  that of the layer
    weight  shape of its weight, [filters, channels / groups, ...] of a convolution
    """
    spec = config.weight_spec
    if not config.reduce_range or decision.is_float or decision.weights or not family.sums_in_lanes(weight):
        return decision
    if spec.dtype != "int8" or spec.bits <= BITS:
        return decision
    return replace(decision, weights=reduced_spec(spec))


def reduced_spec(spec: QuantSpec) -> QuantSpec:
    """The same with 7 bits.

    >>> reduced_spec(QuantSpec("int8", symmetric=True)).qmin
    -63
    """
    return replace(spec, bits=BITS)
