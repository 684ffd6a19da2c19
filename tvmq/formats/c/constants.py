"""Constants of the C file: equal arrays are written once.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

import re

import numpy as np

from tvmq.formats.c.tensor import C_TYPES, NAMES, CTensor, Storage

PER_LINE = 20
WORD = re.compile(r"[a-z_]+_\d+")
# C has no negative literals: these two are the negation of a number that does not fit its type.
LOWEST = {"s32": ("-2147483648", "(-2147483647 - 1)"), "s64": ("-9223372036854775808", "(-9223372036854775807 - 1)")}


class CConstants:
    """The arrays, in the order of first use, and the text that defines them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Storage] = {}
        self._texts: dict[str, str] = {}

    def tensor(self, values: np.ndarray, hint: str) -> CTensor:
        """A constant as an array; `hint` becomes a part of its name."""
        values = np.ascontiguousarray(values)
        name = NAMES[values.dtype.name]
        key = (name, values.tobytes())
        if key not in self._known:
            self._known[key] = Storage(values.nbytes, place=f"{hint}_{len(self._known)}")
            self._texts[self._known[key].place] = self._definition(values, name, self._known[key].place)
        return CTensor(tuple(values.shape), name, self._known[key])

    def structure(self, kind: str, hint: str, fields: dict[str, str]) -> str:
        """A constant of a structure; its name."""
        text = ", ".join(f".{name} = {value}" for name, value in fields.items())
        key = (kind, text.encode())
        if key not in self._known:
            place = f"{hint}_{len(self._known)}"
            self._known[key] = Storage(0, place=place)
            self._texts[place] = f"static const {kind} {place} = {{{text}}};"
        return self._known[key].place

    def used_in(self, text: str) -> tuple[str, int]:
        """Definitions of the constants that a text names, of those that these name, and their bytes."""
        used = set(WORD.findall(text))
        for place in reversed(self._texts):  # a structure stands behind the arrays in it
            used.update(WORD.findall(self._texts[place].partition("=")[2]) if place in used else ())
        sizes = [storage.size for storage in self._known.values() if storage.place in used]
        return "\n".join(text for place, text in self._texts.items() if place in used), sum(sizes)

    @staticmethod
    def _definition(values: np.ndarray, name: str, place: str) -> str:
        lowest = LOWEST.get(name, ("", ""))
        numbers = [lowest[1] if n == lowest[0] else n for n in map(str, values.astype(object).ravel())]
        numbers = [{"True": "1", "False": "0"}.get(n, n) for n in numbers] or ["0"]
        lines = [", ".join(numbers[i : i + PER_LINE]) for i in range(0, len(numbers), PER_LINE)]
        return (
            f"static const {C_TYPES[name]} {place}[{max(values.size, 1)}] = {{\n    " + ",\n    ".join(lines) + "\n};"
        )


def braces(values: tuple[int, ...]) -> str:
    """The initializer of an array inside of a structure.

    >>> braces((1, 2, 3))
    '{1, 2, 3}'
    """
    return "{" + ", ".join(map(str, values)) + "}"
