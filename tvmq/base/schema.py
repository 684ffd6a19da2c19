"""Data that people write as JSON: each field is checked, and what is wrong is refused by its path in one sentence.

A path reads as the file does: `mychip.json: operators[3].weights.dtype`.

Tests: tests/backends/test_json_form.py
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from tvmq.errors import ConfigError

LARGEST = sys.float_info.max


def refuse(path: str, what: str) -> NoReturn:
    """Raise a ConfigError that begins with the path."""
    raise ConfigError(f"{path.removesuffix(':')}: {what}")


def inside(path: str, field: str | int) -> str:
    """The path of a field, or of an item of a list.

    >>> inside(inside("mychip.json: operators", 3), "weights")
    'mychip.json: operators[3].weights'
    """
    if isinstance(field, int):
        return f"{path}[{field}]"
    return f"{path} {field}" if path.endswith(":") else f"{path}.{field}"


def advise(word: Any, known: Iterable[str]) -> str:
    """Suggest a known word for an unknown one: a clause to end an error message with, "" where none is near.

    >>> advise("wieghts", ["weights", "bias"]), advise("x", ["weights"])
    ("; did you mean 'weights'?", '')
    """
    matches = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def checked_fields(data: Any, path: str, known: Sequence[str], required: Iterable[str] = ()) -> Mapping[str, Any]:
    """A JSON object whose fields are all known; ConfigError for another value, an unknown or a missing field."""
    if not isinstance(data, Mapping):
        refuse(path, f"must be an object with fields of {', '.join(known)}. Got {_shorten_value(data)} instead")
    for field in data:
        if field not in known:
            refuse(inside(path, str(field)), f"unknown field; known: {', '.join(known)}{advise(field, known)}")
    for field in required:
        if field not in data:
            refuse(inside(path, field), "is missing")
    return data


def checked_choice(value: Any, path: str, allowed: Sequence[str]) -> str:
    """Check that a value is one of these words."""
    if not isinstance(value, str) or value not in allowed:
        refuse(path, f"{_shorten_value(value)} is none of them; allowed: {', '.join(allowed)}{advise(value, allowed)}")
    return value


def checked_choices(value: Any, path: str, allowed: Sequence[str], *, most: int | None = None) -> tuple[str, ...]:
    """A list of these words, at least one, at most `most`."""
    items = checked_list(value, path)
    words = tuple(checked_choice(item, inside(path, place), allowed) for place, item in enumerate(items))
    if not words or (most is not None and len(words) > most):
        count = "at least one" if most is None else f"1 to {most}"
        refuse(path, f"must be a list of {count} of {', '.join(allowed)}. Got {len(words)} instead")
    return words


def checked_list(value: Any, path: str) -> Sequence[Any]:
    """A list; a tuple is one, too."""
    if not isinstance(value, (list, tuple)):
        refuse(path, f"must be a list. Got {_shorten_value(value)} instead")
    return value


def checked_int(value: Any, path: str, low: int, high: int) -> int:
    """A whole number in low..high."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        refuse(path, f"must be a whole number in {low}..{high}. Got {_shorten_value(value)} instead")
    return value


def checked_number(value: Any, path: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        refuse(path, f"must be a finite number. Got {_shorten_value(value)} instead")
    return value


def checked_switch(value: Any, path: str) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        refuse(path, f"must be true or false. Got {_shorten_value(value)} instead")
    return value


def checked_text(value: Any, path: str) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        refuse(path, f"must be a text. Got {_shorten_value(value)} instead")
    return value


def _shorten_value(value: Any) -> str:
    """A value as a message shows it, cut."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
