"""Assemble a report from a model and those of comparison, profile and statistics that are available.

Tests: tests/tools/report/test_report.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.runtime.executable import Executable
from tvmq.runtime.profile_table import Profile
from tvmq.tools.analysis.comparison_table import Comparison
from tvmq.tools.analysis.explanation import Explanation, explain
from tvmq.tools.drawing.draw import network_of_model
from tvmq.tools.report.page import Report
from tvmq.tools.report.rows import Row, rows_of, worst_row

GUARD = "guard: "
Tile = tuple[str, str, str]


def assemble(
    exe: Executable, title: str, *, comparison: Comparison | None = None, profile: Profile | None = None,
    statistics: Mapping[str, TensorStatistics] | None = None, front: Mapping[str, Any] | None = None,
    tiles: Sequence[Tile] = (), missing: Sequence[str] = (),
) -> Report:  # fmt: skip
    """The report of a quantized model.

    comparison  comparison with the float model
    profile     profile of a run
    statistics  {tensor: statistics of the calibration data}, of the float model
    tiles       figures for the head, before those added here
    raises      StageError for a model that was never quantized
    """
    explanation, network = explain(exe), network_of_model(exe)
    rows = rows_of(network, explanation, comparison, profile, statistics)
    ledger = explanation.ledger
    raised = [f"{row['title']}: {row['why'].removeprefix(GUARD)}" for row in rows if row["why"].startswith(GUARD)]
    return Report(
        title, network, rows, [*tiles, *_tiles(explanation, rows, profile)], missing,
        [*(note.removeprefix(GUARD) for note in ledger.notes if note.startswith(GUARD)), *raised],
        [note for note in ledger.notes if not note.startswith(GUARD)],
        f"Times: {profile.summary()}.".replace("\n", "; ") if profile is not None else "", front,
    )  # fmt: skip


def _tiles(explanation: Explanation, rows: Sequence[Row], profile: Profile | None) -> list[Tile]:
    layers = explanation.ledger.layers.values()
    floats = sum(entry["precision"] == "float" for entry in layers)
    tiles = [
        ("in integers", f"{len(layers) - floats} of {len(layers)}", f"{explanation.int8_share():.1%} of the products")
    ]
    low = worst_row(rows)
    if low is not None:
        tiles.append(("lowest local", f"{low['local']['sqnr']:.1f} dB", low["title"]))
    if profile is not None:
        threads = f"{profile.threads} thread{'s' * (profile.threads > 1)}"
        tiles.append(("a run", f"{profile.run * 1e6:.1f} us", threads))
    return tiles
