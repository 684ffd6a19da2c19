"""Result of `tvmq.inspect`: a table of layers, totals, and a sentence that says whether int8 will help.

Tests: tests/tools/analysis/test_forecast.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tvmq.codegen.cost import START, Machine
from tvmq.codegen.performance.estimate import Estimate
from tvmq.options.rules import short_names
from tvmq.tools.analysis.report_table import align

WIDEST = 44
HELPS = 1.1  # below that int8 is not worth its name
LARGE_SHARE = 0.35  # of the time in int8: what is named as the cause


@dataclass
class Row:
    """Forecast of a layer.

    key, layers    variable, and names in the source model
    op, precision  family and "int8" or "float"
    why            reason of the decision
    kernel         template that computes it in int8
    """

    key: str
    layers: tuple[str, ...]
    op: str
    precision: str
    why: str
    kernel: str = ""
    macs: int = 0
    float_seconds: float = 0.0
    int8_seconds: float = 0.0
    conversion_seconds: float = 0.0
    _bounds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, key: str, entry: Mapping[str, Any]) -> Row:
        """Empty row for an entry of the ledger."""
        names = tuple(entry.get("layers") or (key,))
        return cls(
            key, names, str(entry["op"]), str(entry["precision"]), str(entry["why"]), macs=entry.get("macs") or 0
        )

    def add_float(self, estimate: Estimate) -> None:
        """Add a call of the float model."""
        self.float_seconds += estimate.time.total

    def add_int8(self, estimate: Estimate, *, converts: bool) -> None:
        """Add a call of the quantized model."""
        self.int8_seconds += estimate.time.total
        if converts:
            self.conversion_seconds += estimate.time.total
        elif not self.kernel:
            self.kernel = estimate.call.kernel or "generic schedule"
        bound = estimate.time.bottleneck
        self._bounds[bound] = self._bounds.get(bound, 0.0) + estimate.time.total

    @property
    def bottleneck(self) -> str:
        """Largest part of the time in int8: "compute", "memory" or "call"; "" if it takes none."""
        return max(self._bounds, key=lambda name: self._bounds[name], default="")

    @property
    def speed_up(self) -> float | None:
        """Time in float divided by time in int8; None if one of them is zero."""
        return self.float_seconds / self.int8_seconds if self.int8_seconds and self.float_seconds else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; times in seconds."""
        return {
            "layers": list(self.layers), "op": self.op, "precision": self.precision, "why": self.why,
            "kernel": self.kernel, "macs": self.macs, "bound": self.bottleneck, "float_seconds": self.float_seconds,
            "int8_seconds": self.int8_seconds, "conversion_seconds": self.conversion_seconds,
            "speed_up": self.speed_up,
        }  # fmt: skip


@dataclass(frozen=True)
class Forecast:
    """Forecast of the time in float and in int8, printed as a table.

    rows                         one per layer
    float_seconds, int8_seconds  time of a run
    machine                      machine of the estimate
    isa                          instruction set of the kernels
    threads                      threads of a run
    float_calls, int8_calls      number of functions that a run calls
    weights                      CPUs that the weights are for, see describe_weights; "" where none are in 8 bits
    """

    rows: tuple[Row, ...]
    float_seconds: float
    int8_seconds: float
    machine: Machine
    isa: str
    threads: int
    float_calls: int
    int8_calls: int
    weights: str = ""

    @property
    def speed_up(self) -> float:
        """Time of a run in float divided by that in int8."""
        return self.float_seconds / self.int8_seconds

    @property
    def conversion_seconds(self) -> float:
        """Seconds of a run in int8 for conversions between codes and floats, and of layouts."""
        return sum(row.conversion_seconds for row in self.rows)

    @property
    def island_seconds(self) -> float:
        """Seconds of a run in int8 for operators that stay float, without conversions."""
        return sum(row.int8_seconds - row.conversion_seconds for row in self.rows if row.precision == "float")

    @property
    def call_seconds(self) -> float:
        """Seconds of a run in int8 for calls, before kernels begin to work."""
        return self.machine.run + START * self.int8_calls

    @property
    def verdict(self) -> str:
        """A sentence or two: whether int8 will help, and if not, why."""
        text = f"int8 should take {_time(self.int8_seconds)} a run where float takes {_time(self.float_seconds)}"
        ratio = self.speed_up
        if not any(row.precision == "int8" and row.macs for row in self.rows):
            why = next((row.why for row in self.rows if row.precision == "float" and row.why), "the model has none")
            return f"int8 will not help: no layer that multiplies matrices becomes int8 ({why})."
        causes = self._causes()
        if ratio >= HELPS:
            more = f" Of what is left, {causes[0]}." if causes else ""
            return f"{text}: {ratio:.1f} times as fast.{more}"
        cause = causes[0] if causes else "its layers are about as fast in float on this CPU"
        word = "slower" if ratio < 1 / HELPS else "no faster"
        return f"int8 will not help: {text}, {word} ({ratio:.2f} times): {cause}."

    def _causes(self) -> list[str]:
        """Causes of large shares of the time in int8, the largest first."""
        islands = [row for row in self.rows if row.precision == "float" and row.int8_seconds]
        worst = max(islands, key=lambda row: row.int8_seconds, default=None)
        island = f"operators that stay float, '{worst.layers[0]}' ({worst.op}) first" if worst else ""
        moving = [row for row in self.rows if row.precision == "int8" and row.bottleneck == "memory"]
        causes = {
            island: self.island_seconds,
            "conversions between codes and floats": self.conversion_seconds,
            f"calling {self.int8_calls} functions: the network is so small": self.call_seconds,
            "reading and writing memory": sum(row.int8_seconds - row.conversion_seconds for row in moving),
        }
        shares = sorted(((time / self.int8_seconds, text) for text, time in causes.items()), reverse=True)
        return [f"{share:.0%} go into {text}" for share, text in shares if share > LARGE_SHARE and text]

    def table(self) -> str:
        """Table with a line for each layer."""
        heads = ["layer", "operator", "int8", "kernel", "bound", "float us", "int8 us", "converts us", "faster"]
        cells = [heads, *(_cells(row) for row in self.rows)]
        return "\n".join(align(cells, range(5, len(heads)), WIDEST))

    def summary(self) -> str:
        """Totals, their basis, and the verdict."""
        machine = self.machine
        basis = "from kernels measured on this machine" if machine.factors else "fitted to a Zen 4 server"
        lines = [
            f"float {_time(self.float_seconds)} in {self.float_calls} calls, int8 {_time(self.int8_seconds)} in "
            f"{self.int8_calls}: islands {_time(self.island_seconds)}, conversions {_time(self.conversion_seconds)}, "
            f"calls {_time(self.call_seconds)}",
            f"for {machine.name} ({self.isa}) at {machine.clock / 1e9:.1f} GHz, {self.threads} thread"
            f"{'s' if self.threads > 1 else ''}: an estimate, {basis} (docs/speed.md)",
            *([f"weights: {self.weights}"] if self.weights else []),
            self.verdict,
        ]
        return "\n".join(f"  {line}" for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; times in seconds."""
        return {
            "target": self.machine.name, "instruction_set": self.isa, "clock": self.machine.clock,
            "threads": self.threads, "float_seconds": self.float_seconds, "int8_seconds": self.int8_seconds,
            "speed_up": self.speed_up, "island_seconds": self.island_seconds,
            "conversion_seconds": self.conversion_seconds, "call_seconds": self.call_seconds,
            "weights": self.weights, "verdict": self.verdict, "layers": [row.to_dict() for row in self.rows],
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.summary()}"


def _cells(row: Row) -> list[str]:
    faster = row.speed_up
    times = (row.float_seconds, row.int8_seconds, row.conversion_seconds)
    return [
        short_names(row.layers), row.op, "yes" if row.precision == "int8" else f"no: {row.why}", row.kernel,
        row.bottleneck,
        *(f"{time * 1e6:.1f}" if time else "" for time in times),
        "" if faster is None else f"{faster:.1f}x",
    ]  # fmt: skip


def _time(seconds: float) -> str:
    """Human-readable duration.

    >>> _time(0.0000421), _time(0.0123)
    ('42 us', '12.3 ms')
    """
    return f"{seconds * 1e6:.0f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
