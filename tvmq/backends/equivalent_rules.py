"""Rules of a description that compiled code computes bit for bit, and those that only an emulation does.

Tests: tests/backends/test_json_form.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmq.backends.vocabulary import WEIGHTED
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule

if TYPE_CHECKING:
    from tvmq.backends.description import Backend

MODES = {"float32": "float", "float64": "float", "integer": "fixed_point", "shift": "power_of_two"}
OF_MODES = {
    ("float", "UPWARD"): "float", ("float", "TONEAREST"): "float", ("float", "DOUBLE"): "float",
    ("fixed_point", "UPWARD"): "fixed_point", ("fixed_point", "TONEAREST"): "fixed_point_away",
    ("fixed_point", "DOUBLE"): "fixed_point_double", ("power_of_two", "UPWARD"): "power_of_two",
    ("power_of_two", "TONEAREST"): "power_of_two_away", ("power_of_two", "DOUBLE"): "power_of_two",
}  # fmt: skip


def mode_of_rule(rule: RequantizeRule) -> tuple[str, str]:
    """(mode, rounding) that the integer module has for a rule: the same function, or the nearest that there is.

    Of a rule that no mode is equal to, compiled code gives neighbouring codes; `emulation_alone` says so.

    >>> mode_of_rule(RequantizeRule("shift", roundings=("floor",)))
    ('power_of_two', 'UPWARD')
    """
    if rule.equivalent_mode is not None:
        return rule.equivalent_mode
    mode = MODES[rule.arithmetic]
    if mode == "fixed_point" and rule.roundings == ("upward", "away"):
        return mode, "DOUBLE"
    return mode, "TONEAREST" if mode != "float" and rule.roundings[-1] == "away" else "UPWARD"


def emulation_alone(backend: Backend) -> str | None:
    """Why compiled code does not give what this backend gives, bit for bit; None if it does.

    >>> from tvmq.backends import backend_named
    >>> emulation_alone(backend_named("tflite")) is None
    True
    """
    if (rounds := why_not_compiled(backend)) is not None:
        return rounds
    for place, entry in enumerate(backend.operators):
        if entry.computes in ("float16", "bfloat16"):
            return f"operators[{place}].computes is {entry.computes}, compiled floats are float32"
    if backend.float_type != "float32":
        return f"float_type is {backend.float_type}, compiled floats are float32"
    sums = [(backend.accumulator_bits, backend.overflow), *(backend.accumulators(name) for name in WEIGHTED)]
    narrow = next(((bits, how) for bits, how in sums if how != "proved" and bits < 32), None)
    return f"sums of {narrow[0]} bits {narrow[1]}, compiled sums are proved to fit int32" if narrow else None


def why_not_compiled(backend: Backend) -> str | None:
    """The rule that no compiled requantize is equal to, whatever the sums are; None if there is none: `build` asks.

    >>> from tvmq.backends.description import Backend
    >>> why_not_compiled(Backend("toy", requantize_rule=RequantizeRule("shift", roundings=("floor",))))
    "requantize_rule {'arithmetic': 'shift', 'roundings': ['floor']} is no mode and rounding of tvmq.requantize"
    """
    rules = [("requantize_rule", backend.requantize_rule)]
    rules += [(f"operators[{place}].requantize", entry.requantize) for place, entry in enumerate(backend.operators)]
    for path, rule in rules:
        if rule is not None and rule.equivalent_mode is None:
            return f"{path} {rule.to_dict()} is no mode and rounding of tvmq.requantize"
    return None


def rule_of_modes(backend: Backend) -> RequantizeRule:
    """The rule of a backend's first mode and rounding."""
    return KNOWN_RULES[OF_MODES[backend.requantize[0], backend.roundings[0]]]
