"""Rows of the page: figures of each layer from the ledger, the comparison, the profile and the data.

Tests: tests/tools/report/test_report.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.numerics.deviation import Figures
from tvmq.options.rules import short_names
from tvmq.runtime.profile_table import Profile
from tvmq.tools.analysis.comparison_table import ERRORS, Comparison
from tvmq.tools.analysis.explanation import Explanation
from tvmq.tools.analysis.layer_report import LayerReport
from tvmq.tools.drawing.network_cards import INPUT, RESULT, Card, Network, plain_operator
from tvmq.tools.report.histograms import bars, thresholds

Row = dict[str, Any]


def rows_of(
    network: Network, explanation: Explanation, comparison: Comparison | None = None, profile: Profile | None = None,
    statistics: Mapping[str, TensorStatistics] | None = None,
) -> list[Row]:  # fmt: skip
    """Rows for the cards of the network, in order of computation; unknown figures are None.

    If one kernel computes several layers, its time is given for the one that multiplies, else the first one.
    """
    cards = [card for card in network.cards if card.operator != RESULT]
    rows = {card.key: _row(card, explanation) for card in cards}
    # names belong to layers of the ledger before added conversions, inputs last
    owner = {name: card.key for card in cards if card.operator == INPUT for name in card.names}
    owner |= {name: card.key for card in reversed(cards) if card.operator != INPUT for name in card.names}
    owner |= {name: card.key for card in cards if card.key in explanation.ledger.layers for name in card.names}
    if comparison is not None:
        _add_errors(rows, owner, comparison)
    if profile is not None:
        _add_times(rows, owner, profile)
    _add_histograms(rows, owner, explanation, statistics or {})
    return list(rows.values())


def _row(card: Card, explanation: Explanation) -> Row:
    entry = explanation.ledger.layers.get(card.key)
    story = ""
    if entry is not None:
        facts = explanation.macs(), explanation.kernels, explanation.sources, explanation.notes
        story = str(LayerReport(card.key, {card.key: entry}, *facts))
    return {
        "key": card.key, "names": list(card.names), "title": short_names(card.names),
        "operator": plain_operator(card.operator), "precision": card.precision, "result": card.result,
        "why": card.why, "story": story,
        "operators": [[plain_operator(one.operator), one.result] for one in card.operators],
        "macs": (entry or {}).get("macs") or 0, "kernels": list(card.kernels), "computed_with": "",
        **dict.fromkeys((*ERRORS, "seconds", "share", "forecast", "histogram")),
    }  # fmt: skip


def _add_errors(rows: Mapping[str, Row], owner: Mapping[str, str], comparison: Comparison) -> None:
    for layer in comparison.layers:
        key = next((owner[name] for name in layer.names if name in owner), None)
        figures = {error: getattr(layer, error) for error in ERRORS if getattr(layer, error) is not None}
        if key is not None:
            rows[key].update({error: _figures(each) for error, each in figures.items()})


def _figures(figures: Figures) -> dict[str, Any]:
    """Figures for JSON, with None for values that are not finite."""
    known = {name: float(v) if v is not None and math.isfinite(v) else None for name, v in figures.to_dict().items()}
    return {**known, "equal": figures.sqnr == math.inf}


def _add_times(rows: Mapping[str, Row], owner: Mapping[str, str], profile: Profile) -> None:
    for layer in profile.layers:
        keys = list(dict.fromkeys(owner[name] for name in layer.layers if name in owner))
        if not keys:
            continue
        chosen = next((key for key in keys if rows[key]["macs"]), keys[0])
        row = rows[chosen]
        row["seconds"] = (row["seconds"] or 0.0) + layer.seconds
        row["share"] = (row["share"] or 0.0) + profile.share(layer)
        if layer.forecast is not None:
            row["forecast"] = (row["forecast"] or 0.0) + layer.forecast
        for key in keys:
            if key != chosen:
                rows[key]["computed_with"] = rows[key]["computed_with"] or row["title"]


def _add_histograms(
    rows: Mapping[str, Row], owner: Mapping[str, str], explanation: Explanation,
    statistics: Mapping[str, TensorStatistics],
) -> None:  # fmt: skip
    limits = thresholds(explanation.ledger)
    for name, known in statistics.items():
        keys = [name] if name in rows else [f"{INPUT}:{name}", owner.get(name, "")]  # what rounds an input shows it too
        for key in keys:
            if key in rows and known.has_histogram:
                rows[key]["histogram"] = bars(known, limits.get(name))


def worst_row(rows: Sequence[Row], error: str = "local") -> Row | None:
    """Row of lowest SQNR; None if nothing was compared."""
    known = [row for row in rows if row[error] and row[error]["sqnr"] is not None]
    return min(known, key=lambda row: row[error]["sqnr"], default=None)
