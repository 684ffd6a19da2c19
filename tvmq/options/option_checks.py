"""Fields of options: a default, a check, the words for what it allows, and a help text.

Tests: tests/options/test_config.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

from tvmq.base.by_name import is_object_name

Check = Callable[[Any], bool]


def integer(low: int, high: int) -> tuple[Check, str]:
    """Check for a whole number in low..high.

    >>> check, allowed = integer(2, 16)
    >>> check(16), check(17), check(True), allowed
    (True, False, False, 'a whole number in 2..16')
    """
    return (
        lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
        f"a whole number in {low}..{high}",
    )


def one_of(*choices: str) -> tuple[Check, str]:
    """Check for one of these words."""
    return lambda value: isinstance(value, str) and value in choices, f"one of {', '.join(choices)}"


def is_number(value: Any) -> bool:
    """True for a finite int or float.

    >>> is_number(0.5), is_number(True), is_number(math.inf)
    (True, False, False)
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number(low: float, high: float) -> tuple[Check, str]:
    """Check for a finite number with low < value <= high."""
    text = f"a number in ({low:g}, {high:g}]" if math.isfinite(high) else f"a finite number above {low:g}"
    return (lambda value: is_number(value) and low < value <= high, text)


def tuple_of(kind: type, what: str, *, none: bool) -> tuple[Check, str]:
    """Check for a tuple of objects of a type, or None where that is allowed; what: these in words."""

    def check(value: Any) -> bool:
        if value is None:
            return none
        items = value if isinstance(value, tuple) else (None,)
        return all(isinstance(item, kind) and not isinstance(item, bool) for item in items)

    return check, f"a list of {what}" + (", or None" if none else "")


def names_of(what: str) -> tuple[Check, str]:
    """Check for a tuple of "module:object"."""
    return (
        lambda value: isinstance(value, tuple) and all(is_object_name(item) for item in value),
        f'a list of "module:object", each naming {what}',
    )


SWITCH = (lambda value: isinstance(value, bool), "True or False")


def option(default: Any, check: tuple[Check, str], text: str, *, choices: tuple[str, ...] = ()) -> Any:
    """A field with its check, the words for what is allowed, and its help text."""
    test, allowed = check
    return field(default=default, metadata={"check": test, "allowed": allowed, "help": text, "choices": choices})


def choice(default: str, choices: tuple[str, ...], text: str) -> Any:
    """An option that is one of some words."""
    return option(default, one_of(*choices), text, choices=choices)
