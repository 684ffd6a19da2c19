"""The arithmetic of a chip as what JSON can hold, and back: vectors carry it with them."""

from __future__ import annotations

from typing import Any

from tvmq.emulation.accumulator import Accumulator
from tvmq.emulation.arithmetic import Arithmetic
from tvmq.numerics.requantize_rule import RequantizeRule


def arithmetic_dict(chip: Arithmetic) -> dict[str, Any]:
    """For JSON.

    >>> arithmetic_from(arithmetic_dict(Arithmetic(Accumulator(16, "wrap")))).accumulator
    Accumulator(bits=16, overflow='wrap')
    """
    return {
        "accumulator": {"bits": chip.accumulator.bits, "overflow": chip.accumulator.overflow},
        "rule": None if chip.rule is None else chip.rule.to_dict(),
        "bias_bits": chip.bias_bits,
        "floats": chip.floats,
    }


def arithmetic_from(fields: dict[str, Any]) -> Arithmetic:
    """Inverse of `arithmetic_dict`."""
    rule = fields["rule"]
    return Arithmetic(
        Accumulator(**fields["accumulator"]),
        None if rule is None else RequantizeRule.from_dict(rule),
        fields["bias_bits"],
        fields["floats"],
    )
