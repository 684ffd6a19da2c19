"""Sizes that are sums of dynamic dimensions, as `past + sequence`: read from a name, or asked for by a layer.

Exporters of decoders name an axis of a mask "past_sequence_length + sequence_length", or by a name of its own. The
first is read; of the second a layer tells: what a mask is added to has so many columns.

Tests: tests/graph/test_required_sums.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tvm import tirx
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import Dim

SUM = re.compile(r"\w+(?: *\+ *\w+)+")


class OnlySum(Exception):
    """A dimension of an input must be a sum of others: the importer makes it one, and begins anew."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text)
        self.name, self.text = name, text


def summands(text: str) -> list[str]:
    """Names and numbers that a text adds up; none for any other text.

    >>> summands("past + sequence"), summands("sequence"), summands("2*rows + 1")
    (['past', 'sequence'], [], [])
    """
    return re.split(r" *\+ *", text) if SUM.fullmatch(text) else []


def read_sum(text: str, known: Mapping[str, tirx.Var]) -> Dim | None:
    """The sum that a text says; None for other text, and for names that are not known.

    >>> rows = tirx.Var("rows", "int64")
    >>> size_text(read_sum("rows + 1", {"rows": rows})), read_sum("rows + columns", {"rows": rows})
    ('rows + 1', None)
    """
    parts = summands(text)
    if not parts or not all(part.isdecimal() or part in known for part in parts):
        return None
    total: Dim = tirx.IntImm("int64", 0)
    for part in parts:
        total = total + (int(part) if part.isdecimal() else known[part])
    return total if undefined_vars(total) else None


def require_sum(one: Dim, other: Dim) -> None:
    """Ask for a dimension that is a sum where only this makes two sizes equal.

    raises  OnlySum where one size is a dimension and the other a sum of others
    """
    for size, total in ((one, other), (other, one)):
        if not isinstance(size, tirx.Var) or isinstance(total, tirx.Var | int):
            continue
        text = size_text(total)
        if summands(text) and size.name not in summands(text):
            raise OnlySum(str(size.name), text)
