"""`tvmq.measure_machine`: factors of this CPU, kept in the cache folder, and their use by a forecast."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tvmq
from tvmq.codegen.cost import RUN, Machine, Work, seconds
from tvmq.codegen.performance import machine
from tvmq.codegen.target.cpu import resolve_target

SPEED = {"factors": {"conv2d": 0.5}, "run": 3e-6}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of its own."""
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(machine, "_measured", None)
    return tmp_path / "cache"


def test_factors_change_the_time_of_their_kind(folder: Path) -> None:
    plain = Machine("znver5", 4e9)
    fast = machine.with_speed(plain, SPEED)
    for kind, least, most in (("conv2d", 0.4, 0.6), ("table", 0.99, 1.01)):
        work = Work(kind, 4e5, 1000)
        assert least < seconds(work, fast).total / seconds(work, plain).total < most
    assert fast.run == 3e-6 and plain.run == RUN


def test_what_was_measured_is_kept(folder: Path) -> None:
    assert machine.known_speed() is None
    machine.keep_speed(SPEED)
    assert machine.known_speed() == SPEED == tvmq.measure_machine()
    assert machine.machine_of(resolve_target()).factors == (("conv2d", 0.5),)
    assert machine.machine_of(resolve_target(), 3e9).factors == ()  # a clock that was named: the model alone


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"factors": {}}', '{"factors": {"conv2d": "x"}, "run": 1.0}', '{"factors": {}, "run": -1.0}']
)
def test_a_damaged_file_counts_as_none(folder: Path, text: str) -> None:
    folder.mkdir(mode=0o700)
    (folder / f"machine-{resolve_target().mcpu}.json").write_text(text)
    assert machine.known_speed() is None


@pytest.mark.slow
def test_this_machine(folder: Path) -> None:
    speed = tvmq.measure_machine(again=True)
    assert {"conv2d", "conv2d_float", "depthwise"} <= speed["factors"].keys() and 0 < speed["run"] < 1e-3
    assert all(0.25 <= factor <= 4 for factor in speed["factors"].values())
    (path,) = folder.glob("machine-*.json")
    assert json.loads(path.read_text()) == speed
