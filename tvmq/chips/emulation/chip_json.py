"""The arithmetic of a chip as what JSON can hold, and back: vectors carry it with them.

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

from typing import Any

from tvmq.base.schema import checked_choice, checked_fields, checked_int, inside
from tvmq.chips.emulation.accumulator import OVERFLOWS, Accumulator
from tvmq.chips.emulation.arithmetic import FLOATS, Arithmetic
from tvmq.numerics.requantize_rule import RequantizeRule

FIELDS, SUMS = ("accumulator", "rule", "bias_bits", "floats"), ("bits", "overflow")


def arithmetic_dict(chip: Arithmetic) -> dict[str, Any]:
    """Dictionary of the arithmetic that JSON can hold.

    >>> arithmetic_from(arithmetic_dict(Arithmetic(Accumulator(16, "wrap")))).accumulator
    Accumulator(bits=16, overflow='wrap')
    """
    return {
        "accumulator": {"bits": chip.accumulator.bits, "overflow": chip.accumulator.overflow},
        "rule": None if chip.rule is None else chip.rule.to_dict(),
        "bias_bits": chip.bias_bits,
        "floats": chip.floats,
    }


def arithmetic_from(data: Any, path: str = "chip:") -> Arithmetic:
    """Inverse of `arithmetic_dict`; ConfigError with the path of the field for what is not of its form."""
    fields = checked_fields(data, path, FIELDS, FIELDS)
    sums = checked_fields(fields["accumulator"], inside(path, "accumulator"), SUMS, SUMS)
    sums_path, rule = inside(path, "accumulator"), fields["rule"]
    bits = checked_int(sums["bits"], inside(sums_path, "bits"), 2, 32)
    return Arithmetic(
        Accumulator(bits, checked_choice(sums["overflow"], inside(sums_path, "overflow"), OVERFLOWS)),
        None if rule is None else RequantizeRule.from_dict(rule, inside(path, "rule")),
        checked_int(fields["bias_bits"], inside(path, "bias_bits"), 2, 64),
        checked_choice(fields["floats"], inside(path, "floats"), FLOATS),
    )
