"""Counts of an emulated chip, layer by layer, and how they print.

Tests: tests/chips/emulation/test_emulator.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tvmq.options.rules import short_names


@dataclass
class LayerCounts:
    """Counts of one layer, over all runs.

    names      of the source
    operator   family, or Relax operator
    reach      largest magnitude that its sums can have by its weights and codes; None: not known, or no sums
    proved     True if no sum can leave the accumulator
    sums       how many sums were made
    overflows  of them, how many wrapped or saturated
    codes      how many codes were made of sums
    saturated  of them, how many are an end of their type because the real value lies beyond
    """

    names: tuple[str, ...]
    operator: str = ""
    reach: int | None = None
    proved: bool = True
    sums: int = 0
    overflows: int = 0
    codes: int = 0
    saturated: int = 0

    @property
    def has_counts(self) -> bool:
        """True for layers that add or requantize."""
        return bool(self.sums or self.codes)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary that JSON can hold."""
        return asdict(self)


@dataclass
class Counts:
    """The layers in the order of the module, by the names of their source."""

    layers: dict[tuple[str, ...], LayerCounts] = field(default_factory=dict)

    def counts_of(self, names: tuple[str, ...]) -> LayerCounts:
        """The counts of a layer."""
        return self.layers.setdefault(names, LayerCounts(names))

    def clear(self) -> None:
        """Forget what happened; what is known of bounds stays."""
        for layer in self.layers.values():
            layer.sums = layer.overflows = layer.codes = layer.saturated = 0


def counts_table(layers: Sequence[LayerCounts], accumulator: str) -> str:
    """Table with a line for each layer that adds or requantizes, and a sentence of proofs.

    accumulator  in words, for the sentence
    """
    head = ["layer", "operator", "largest sum", "proved", "sums", "overflows", "codes", "saturated"]
    rows = [head]
    for layer in layers:
        if layer.has_counts:
            reach = "" if not layer.sums else "unknown" if layer.reach is None else f"{layer.reach}"
            proved = "" if not layer.sums else "yes" if layer.proved else "no"
            counts = [f"{n}" for n in (layer.sums, layer.overflows, layer.codes, layer.saturated)]
            rows.append([short_names(layer.names), layer.operator, reach, proved, *counts])
    return f"{align_columns(rows)}\n\n  {proof(layers, accumulator)}"


def proof(layers: Sequence[LayerCounts], accumulator: str) -> str:
    """Which sums can leave the accumulators, in one sentence.

    >>> proof([LayerCounts(("head",), reach=40000, proved=False, sums=3)], "16 bits that wrap")
    'accumulators of 16 bits that wrap: the sums of 1 of 1 layers can leave them: head (40000)'
    """
    summing = [layer for layer in layers if layer.sums]
    loose = [layer for layer in summing if not layer.proved]
    if not loose:
        return f"accumulators of {accumulator}: proved, no sum of {len(summing)} layers can leave them"
    named = ", ".join(
        f"{short_names(layer.names)} ({'unknown' if layer.reach is None else layer.reach})" for layer in loose
    )
    return f"accumulators of {accumulator}: the sums of {len(loose)} of {len(summing)} layers can leave them: {named}"


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Cells in columns: the first two to the left, numbers to the right.

    >>> print(align_columns([["layer", "op", "sums"], ["/head", "dense", "5"]]))
    layer  op     sums
    /head  dense     5
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
