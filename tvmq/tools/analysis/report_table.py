"""Tables of reports: cells cut and aligned, and lists of which only the first entries are printed.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def cut(text: str, width: int) -> str:
    """The text, with dots at its end if it is longer than the width.

    >>> cut("a long name", 8), cut("short", 8)
    ('a lon...', 'short')
    """
    return text if len(text) <= width else f"{text[: width - 3]}..."


def align(rows: Sequence[Sequence[str]], right: Collection[int], widest: int = 1000) -> list[str]:
    """Lines of a table without rules: the columns `right` are right-aligned, none is wider than `widest`.

    >>> align([["name", "us"], ["a", "1.5"], ["longer", "10.0"]], right=[1], widest=5)
    ['name     us', 'a       1.5', 'lo...  10.0']
    """
    widths = [min(max(map(len, column)), widest) for column in zip(*rows, strict=True)]
    sides = [str.rjust if number in right else str.ljust for number in range(len(widths))]
    lines = [[side(cut(c, w), w) for side, c, w in zip(sides, row, widths, strict=True)] for row in rows]
    return ["  ".join(cells).rstrip() for cells in lines]


def list_first(texts: Sequence[str], most: int) -> str:
    """The first texts between commas, and how many more there are.

    >>> list_first(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "")
