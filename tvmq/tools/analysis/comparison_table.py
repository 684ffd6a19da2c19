"""Result of `tvmq.compare`: figures of the layers and outputs, printed as a table.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tvmq.errors import ConfigError
from tvmq.numerics.deviation import Figures
from tvmq.options.rules import short_names
from tvmq.quantization.meaning.agreement import OutputAgreement
from tvmq.tools.analysis.report_table import align, cut, list_first

ERRORS = ("local", "accumulated", "weight")
WIDEST = 44
MOST_UNPAIRED = 3  # that the summary names


@dataclass(frozen=True)
class LayerComparison:
    """Comparison of a layer in both models.

    names        names in the source model
    operator     family or operator
    precision    of the first and the second model, such as ("float", "int8")
    local        error if both get the same inputs
    accumulated  error if both compute from the model's input
    weight       error of the weights; None for layers without
    """

    names: tuple[str, ...]
    operator: str
    precision: tuple[str, str]
    local: Figures
    accumulated: Figures
    weight: Figures | None


@dataclass(frozen=True)
class Comparison:
    """Comparison of two models, printed as a table; `layers` are in order of computation.

    outputs   {output name: accumulated figures}
    samples   number of samples
    unpaired  names of integer layers of the second model without a counterpart in the first, which have no row
    read      {output name: agreement} of outputs that are read by their meaning, such as detections
    """

    layers: tuple[LayerComparison, ...]
    outputs: Mapping[str, Figures]
    samples: int
    unpaired: tuple[tuple[str, ...], ...] = ()
    read: Mapping[str, OutputAgreement] = field(default_factory=dict)

    def layer(self, name: str) -> LayerComparison:
        """Layer with this name in the source model; ConfigError if there is none."""
        for layer in self.layers:
            if name in layer.names:
                return layer
        raise ConfigError(
            f"compare: none of {len(self.layers)} layers is called {name!r}; print(comparison) lists them"
        )

    def worst(self, count: int = 8, by: str = "local") -> list[LayerComparison]:
        """Layers of lowest SQNR, the worst first; `by` is "local", "accumulated" or "weight"."""
        if by not in ERRORS:
            raise ConfigError(f"compare: by must be one of {', '.join(ERRORS)}. Got {by!r} instead")
        known = [layer for layer in self.layers if getattr(layer, by) is not None]
        return sorted(known, key=lambda layer: getattr(layer, by).sqnr)[:count]

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON; an infinite SQNR is None there."""
        outputs = {name: figures.to_dict() for name, figures in self.outputs.items()}
        layers = [asdict(layer) for layer in self.layers]
        unpaired = [list(names) for names in self.unpaired]
        facts = {"samples": self.samples, "layers": layers, "outputs": outputs, "unpaired": unpaired}
        read = {name: one.to_dict() for name, one in self.read.items()}
        return _replace_infinite({**facts, "read": read} if read else facts)

    def table(self, layers: Sequence[LayerComparison] | None = None) -> str:
        """Table of these layers, by default all, and of the outputs."""
        rows = [_row(short_names(layer.names), layer) for layer in (self.layers if layers is None else layers)]
        blank = ["", "", "", ""]
        ends = [[f"output {name}", "", *blank, *_cells(f), *blank] for name, f in self.outputs.items()]
        heads = [
            ["", "", *(title for error in ERRORS for title in (error, "", "", ""))],
            ["layer", "operator", *(["SQNR", "cosine", "MSE", "LSB"] * len(ERRORS))],
        ]
        return _align_columns([*heads, *rows, *ends])

    def __str__(self) -> str:
        return f"{self.table()}\n\n  {self.summary()}"

    def summary(self) -> str:
        """Sentence about the layers with the largest local error."""
        worst = [layer for layer in self.worst(3) if math.isfinite(layer.local.sqnr)]
        listed = ", ".join(f"{short_names(layer.names)} ({layer.local.sqnr:.1f} dB)" for layer in worst)
        text = f"{len(self.layers)} layers, {self.samples} samples; worst on their own: {listed or 'none'}"
        text += "".join(f"; output {name}: {one}" for name, one in self.read.items())
        if not self.unpaired:
            return text
        missing = list_first([short_names(names) for names in self.unpaired], MOST_UNPAIRED)
        return f"{text}; {len(self.unpaired)} layers have no counterpart in the first model and no row: {missing}"


def _row(name: str, layer: LayerComparison) -> list[str]:
    figures = [layer.local, layer.accumulated, layer.weight]
    return [name, layer.operator, *(cell for each in figures for cell in _cells(each))]


def _cells(figures: Figures | None) -> list[str]:
    """SQNR in dB, cosine, mean squared error, largest difference in codes."""
    if figures is None:
        return ["", "", "", ""]
    lsb = "" if figures.lsb is None else f"{figures.lsb:.1f}"
    sqnr = "exact" if figures.sqnr == math.inf else f"{figures.sqnr:.1f}"
    return [sqnr, _cosine_text(figures.cosine), f"{figures.mse:.1e}" if figures.mse else "0", lsb]


def _cosine_text(cosine: float) -> str:
    """Five digits, truncated, so that 1 is exact.

    >>> _cosine_text(0.9999999), _cosine_text(1.0), _cosine_text(-0.25)
    ('0.99999', '1', '-0.25000')
    """
    return "1" if cosine == 1.0 else f"{math.trunc(cosine * 1e5) / 1e5:.5f}"


def _align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Align two columns left, the others right; the first row has titles over four columns each."""
    body = [[cut(row[0], WIDEST), *row[1:]] for row in rows[1:]]
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    return "\n".join([_titles(rows[0], widths), *align(body, range(2, len(widths)))])


def _titles(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Titles, each left-aligned above its four columns."""
    line, at = "", 0
    for cell, width in zip(cells, widths, strict=True):
        line = f"{line.ljust(at)}{cell}" if cell else line
        at += width + 2
    return line


def _replace_infinite(value: Any) -> Any:
    """Replace infinite numbers and NaN by None: JSON has none."""
    if isinstance(value, dict):
        return {key: _replace_infinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_infinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
