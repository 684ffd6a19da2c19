"""benchmarks/depth.py: its chains of operators, and the rows of its table."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def depth(script: Any) -> Any:
    return script("depth")


@pytest.mark.parametrize("kind", ["add", "relu", "sine", "functions", "slices", "residual"])
def test_chains_have_the_operators_of_their_rounds(depth: Any, kind: str) -> None:
    model = depth.chain(kind, 7)
    made = {name for node in model.graph.node for name in node.output} | {"x", *depth.CONSTANTS}
    assert all(name in made for node in model.graph.node for name in node.input)
    rounds = [operator for operator, _, _ in depth.KINDS[kind]] * 7
    assert [node.op_type for node in model.graph.node] == rounds[:7]


@pytest.mark.slow
def test_each_step_is_told(depth: Any) -> None:
    seconds: dict[str, float] = {}
    depth.walk("residual", 4, seconds.__setitem__)
    assert tuple(seconds) == depth.STEPS and min(seconds.values()) > 0


def test_rows_say_how_far_they_came(depth: Any, script: Any) -> None:
    row = {"kind": "add", "count": 20000, "seconds": {"import": 2.04, "float build": 30.0}, "failed": 0, "limit": 180}
    cells_of = script("harness.report").cells_of
    assert cells_of(depth.COLUMNS, row) == ["add", "20,000", "2.0", "30.0", "> 180", "-"]
    assert cells_of(depth.COLUMNS, {**row, "failed": -11})[-2:] == ["failed", "-"]


@pytest.mark.slow
def test_a_process_ends_at_its_limit(depth: Any) -> None:
    row = depth.measure("gru", 2000, 3)
    assert not row["failed"] and len(row["seconds"]) < len(depth.STEPS)
    assert depth.measure("gru", 2, 100)["seconds"].keys() == set(depth.STEPS)
