"""The page: facts in an HTML template with style, script and drawings inside, so that nothing is fetched.

Tests: tests/tools/report/test_report.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvmq.base.text import script_json
from tvmq.errors import ConfigError
from tvmq.tools.drawing.draw import MOST_CARDS, Drawing, render
from tvmq.tools.drawing.fold_blocks import fold
from tvmq.tools.drawing.network_cards import Network
from tvmq.tools.report.layer_chart import draw_layer_chart
from tvmq.tools.report.rows import Row
from tvmq.version import __version__

HERE = Path(__file__).parent
BLOCKS = 100


@dataclass(frozen=True)
class Report:
    """Content of the page.

    title    name of the model
    network  network to draw
    rows     figures of its layers, see rows.py
    tiles    (name, value, detail) for the head
    missing  a sentence for each missing figure, with the option that adds it
    guard    actions of the guard, one per line
    notes    notes of the ledger
    times    a sentence on the profile
    front    Pareto front of a search, see front.py; None without one
    """

    title: str
    network: Network
    rows: Sequence[Row]
    tiles: Sequence[tuple[str, str, str]] = ()
    missing: Sequence[str] = ()
    guard: Sequence[str] = ()
    notes: Sequence[str] = ()
    times: str = ""
    front: Mapping[str, Any] | None = None

    def html(self) -> str:
        """The page as text.

        raises   ConfigError where jinja2 is not installed
        """
        drawings = self.drawings()
        template = _environment().get_template("page.html")
        blocks = [card for card in drawings[0].network.cards if card.inside]
        data = {
            "layers": {row["key"]: row for row in self.rows},
            "blocks": {card.key: [one.key for one in card.inside] for card in blocks},
        }
        return str(template.render(
            report=self, drawings=drawings, data=script_json(data), version=__version__,
            style=_text("page.css"), script=_text("page.js"), chart=draw_layer_chart(self.rows),
        ))  # fmt: skip

    def drawings(self) -> list[Drawing]:
        """Drawings of the network: for a large one first in blocks, then with all layers."""
        layers = render(self.network, "layers")
        if len(self.network.cards) <= MOST_CARDS:
            return [layers]
        return [render(fold(self.network, BLOCKS), "blocks"), layers]


def check_jinja2() -> None:
    """Check before the work that jinja2 is installed. raises ConfigError"""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise ConfigError(
            'report: jinja2, which writes the page, is not installed; pip install "tvmq[report]"'
        ) from None


def _environment() -> Any:
    check_jinja2()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(decibels=decibels, microseconds=microseconds, count=count_text)
    return environment


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def decibels(figures: Mapping[str, Any] | None) -> str:
    """SQNR of a row as text.

    >>> decibels({"sqnr": 31.24}), decibels({"sqnr": None, "equal": True}), decibels(None)
    ('31.2', 'equal', '')
    """
    if figures is None or figures["sqnr"] is None:
        return "equal" if figures and figures["equal"] else ""
    return f"{figures['sqnr']:.1f}"


def microseconds(seconds: float | None) -> str:
    """Time of a layer as text.

    >>> microseconds(0.0000123), microseconds(None)
    ('12.3', '')
    """
    return "" if seconds is None else f"{seconds * 1e6:.1f}"


def count_text(number: int) -> str:
    """Human-readable number of multiply-accumulates.

    >>> count_text(2359296), count_text(0)
    ('2.36 M', '')
    """
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= factor:
            return f"{number / factor:.3g} {unit}"
    return str(number) if number else ""
