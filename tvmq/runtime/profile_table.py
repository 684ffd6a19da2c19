"""Result of `exe.profile`: the time of each layer, and how it prints.

Tests: tests/codegen/performance/test_profile.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

WIDEST = 44  # letters of a name
INTEGERS = ("int8", "int16")
HEADS = ("layer", "kernel", "time", "forecast", "share", "MMAC", "GMAC/s", "of peak")


@dataclass(frozen=True)
class LayerTime:
    """A layer, or layers that are computed together.

    layers    names in the source; empty for what belongs to none
    kernels   functions that compute them
    seconds   median of a run
    macs      multiply-accumulates; 0 for what is no product
    dtype     of its operands: "int8", "int16" or "float32"
    peak      multiply-accumulates in a second that the CPU reaches at most for that type; None where it is not known
    forecast  seconds that the cost model (tvmq/codegen/cost.py) expects; None where it knows no such calls
    sums      its sums of 32 bits reach memory before they become codes
    """

    layers: tuple[str, ...]
    kernels: tuple[str, ...]
    seconds: float
    macs: int
    dtype: str
    peak: float | None
    forecast: float | None = None
    sums: bool = False

    @property
    def rate(self) -> float | None:
        """Multiply-accumulates in a second; None for what is no product."""
        return self.macs / self.seconds if self.macs and self.seconds else None

    @property
    def of_peak(self) -> float | None:
        """That rate as a share of the peak."""
        return self.rate / self.peak if self.rate and self.peak else None


@dataclass(frozen=True)
class Profile:
    """Where the time of a run goes; prints as a table, in the order of computation.

    layers    the rows
    run       median seconds of whole runs, between which the rows were measured
    overhead  seconds that looking at the clock costs a call; already taken off
    calls     functions that a run calls
    threads   that they may use
    repeat    runs, and as many measurements of each call
    """

    layers: tuple[LayerTime, ...]
    run: float
    overhead: float
    calls: int
    threads: int
    repeat: int

    @property
    def sum(self) -> float:
        """Seconds of all rows; a whole run also copies inputs and results, and makes the calls."""
        return float(sum(layer.seconds for layer in self.layers))

    def share(self, layer: LayerTime) -> float:
        """Share of the layer in the sum."""
        return layer.seconds / self.sum if self.sum else 0.0

    def slowest(self, count: int = 8) -> list[LayerTime]:
        """The rows that take longest."""
        return sorted(self.layers, key=lambda layer: -layer.seconds)[:count]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: seconds, and the rows with their share, rate and share of the peak."""
        figures = {name: getattr(self, name) for name in ("run", "sum", "overhead", "calls", "threads", "repeat")}
        figures |= dict(zip(("products", "sums_in_memory"), self.products, strict=True))
        return {**figures, "layers": [self._row(layer) for layer in self.layers]}

    def _row(self, layer: LayerTime) -> dict[str, Any]:
        return {**asdict(layer), "share": self.share(layer), "rate": layer.rate, "of_peak": layer.of_peak}

    def _cells(self, layer: LayerTime) -> list[str]:
        names, kernels = ", ".join(layer.layers) or "-", " ".join(layer.kernels)
        forecast = "" if layer.forecast is None else _microseconds(layer.forecast)
        cells = [_shorten(names), _shorten(kernels), _microseconds(layer.seconds), forecast, f"{self.share(layer):.1%}"]
        rate, of_peak = layer.rate, layer.of_peak
        return [
            *cells,
            f"{layer.macs / 1e6:.2f}" if layer.macs else "",
            "" if rate is None else f"{rate / 1e9:.1f}",
            "" if of_peak is None else f"{of_peak:.0%}",
        ]

    @property
    def products(self) -> tuple[int, int]:
        """Products of codes, and those of them whose sums of 32 bits reach memory."""
        codes = [layer for layer in self.layers if layer.macs and layer.dtype in INTEGERS]
        return len(codes), sum(layer.sums for layer in codes)

    def summary(self) -> str:
        """The sum beside the whole run and the forecast, and how many sums of products reach memory."""
        macs = sum(layer.macs for layer in self.layers)
        rate = f", {macs / self.run / 1e9:.1f} GMAC/s" if macs else ""
        forecasts = [layer.forecast for layer in self.layers if layer.forecast is not None]
        forecast = f" (forecast {_microseconds(sum(forecasts))})" if forecasts else ""
        count, sums = self.products
        codes = f"\nproducts of codes whose 32-bit sums reach memory: {sums} of {count}" if count else ""
        return (
            f"sum {_microseconds(self.sum)}{forecast} of {self.calls} calls; whole run {_microseconds(self.run)}{rate} "
            f"({self.threads} thread{'s' * (self.threads > 1)}, {self.repeat} runs, "
            f"{self.overhead * 1e6:.2f} us a call taken off){codes}"
        )

    def __str__(self) -> str:
        rows = [list(HEADS), *(self._cells(layer) for layer in self.layers)]
        return f"{_align_columns(rows)}\n\n{self.summary()}"


def _microseconds(seconds: float) -> str:
    """A duration in one unit, so that a column compares.

    >>> _microseconds(0.0123456)
    '12345.6 us'
    """
    return f"{seconds * 1e6:.1f} us"


def _align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Two columns to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    cells[:2] = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    return "  ".join(cells).rstrip()


def _shorten(name: str) -> str:
    return name if len(name) <= WIDEST else f"{name[: WIDEST - 3]}..."
