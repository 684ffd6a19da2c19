"""MIGRATING.md has a line with a status for every public name and every option, and for nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.project import ROOT
from tvmq.relay import quantize
from tvmq.relay.quantize.qconfig import OPTIONS, qconfig

STATUS = {"same", "better", "differs", "no effect"}
# names that scripts import from modules inside of relay.quantize
INNER = {
    "_annotate": ("attach_simulated_quantize", "QAnnotateExpr"),
    "_calibrate": ("collect_stats", "_find_scale_by_percentile", "_set_params"),
    "_partition": ("QPartitionExpr",),
    "_partition_conversions": (),
    "kl_divergence": ("_find_scale_by_kl",),
}


def lines(heading: str) -> Iterator[list[str]]:
    """The cells of the table below a heading, without its head."""
    text = (ROOT / "MIGRATING.md").read_text(encoding="utf-8")
    section = re.split(r"\n##? ", text.split(f"\n## {heading}\n")[1])[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if cells[0].startswith("`"):
            yield cells


def test_every_option_has_a_line() -> None:
    found = {cells[0].strip("`"): cells for cells in lines("Options")}
    assert set(found) == set(OPTIONS)
    assert {cells[2] for cells in found.values()} <= STATUS
    defaults = {name: cells[1] for name, cells in found.items()}
    assert defaults == {name: re.sub("'", '"', repr(getattr(qconfig(), name))) for name in OPTIONS}


def test_every_name_has_a_line() -> None:
    found = {cells[0].strip("`"): cells for cells in lines("Functions and classes")}
    inner = {name for names in INNER.values() for name in names}
    assert set(found) == set(quantize.__all__) | inner
    assert {cells[1] for cells in found.values()} <= STATUS


@pytest.mark.parametrize("module", INNER)
def test_inner_names_are_there(module: str) -> None:
    for name in INNER[module]:
        assert callable(getattr(getattr(quantize, module), name))


def test_all_that_is_public_is_listed() -> None:
    public = {name for name, value in vars(quantize).items() if not name.startswith("_") and callable(value)}
    assert public <= set(quantize.__all__)
