"""benchmarks/latency.py --peers: the lines between driver and peer, the table, peers that are missing or refuse."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FAKE = """
import os
import numpy as np
def version(): return "fake 1.0"
def prepare(job):
    print("noise of a library")
    if job.threads == 3:
        raise ValueError("no three threads\\nand more")
    if job.threads == 4:
        raise SystemExit(5)
    def none():
        raise OSError("no int4" + job.level)
    return {
        "fake int8": lambda: lambda: 2 * job.feed["x"],
        "fake f32": lambda: lambda: job.feed["x"] + len(job.feeds) + float(os.environ.get("FAKE", 0)),
        "fake int4": none,
        "fake codes": lambda: lambda: int("x"),
    }
"""


def peers_of_tests(module: Any) -> dict[str, Any]:
    """Two peers: one that runs and can be limited, one without an environment."""
    fake = module.Peer((), "fake_peer", {"avx2": {"FAKE": "0.5"}}, {"FAKE": "0.25"})
    return {"fake": fake, "absent": module.Peer((), "none")}


@pytest.fixture
def environments(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the environment of one peer, which runs this interpreter."""
    module = script("harness.peer_environments")
    monkeypatch.setattr(module, "PEERS", peers_of_tests(module))
    monkeypatch.setattr(script("harness.further_peers"), "PEERS", module.PEERS)
    (tmp_path / "fake_peer.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    python = tmp_path / "fake" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return tmp_path


def start(script: Any, environments: Path, threads: int, names: str = "fake", level: str = "") -> Any:
    """The processes of one model with two samples."""
    feeds = [{"x": np.arange(3, dtype=np.float32)}, {"x": np.ones(3, np.float32)}]
    start_peers = script("harness.further_peers").start_peers
    processes = start_peers(names.split(","), environments, environments / "model.onnx", feeds, threads, level)
    return script("harness.further_peers").FurtherPeers(processes, 2.125 * feeds[0]["x"])


def test_a_peer_is_timed_and_listed(script: Any, environments: Path) -> None:
    """The adapter prepares, answers with the seconds given, and has its time, ratio and error in the table."""
    peers = start(script, environments, threads=1)
    timers = peers.timers()
    assert list(timers) == ["fake int8", "fake f32"]
    assert len(timers["fake int8"](3)) == 3 and (timers["fake f32"](2) > 0).all()
    records = peers.figures({"tvmq int8": 1.0, "fake int8": 4.0, "fake f32": 0.5})
    peers.close()
    assert all(process.process.returncode == 0 for process in peers.processes.values())
    figures = {"name": "net", "peers": records, "tvmq int8": 1.5, "fake int8": 4.5, "fake f32": 0.75}
    further = script("harness.further_peers")
    assert further.peer_rows(figures)[:2] == [
        ["net", "tvmq int8", "1.500", "1.000", "1.00", "-", ""],
        ["net", "fake int8", "4.500", "4.000", "0.25", "24.6", "fake 1.0"],
    ]
    absent = [row[1:2] + row[-1:] for row in further.peer_rows(figures)[3:]]
    assert absent[0] == ["fake int4", "OSError: no int4"]
    assert absent[1][0] == "fake codes" and absent[1][1].startswith("ValueError: invalid literal")
    assert further.missed_peers(figures, 1.03) == ["net: fake f32 takes 0.50 of our int8"]
    assert further.missed_peers(figures, 2.1) == []


@pytest.mark.parametrize(
    ("threads", "reason"),
    [(3, "ValueError: no three threads"), (4, "its process ended with 5")],
    ids=["raises", "ends"],
)
def test_a_peer_that_refuses_is_a_row(script: Any, environments: Path, threads: int, reason: str) -> None:
    """The table shows its reason; nothing of it is timed."""
    peers = start(script, environments, threads)
    records = peers.figures({"tvmq int8": 1.0})
    peers.close()
    assert peers.timers() == {}
    rows = script("harness.further_peers").peer_rows({"name": "net", "peers": records, "tvmq int8": 1.0})
    assert rows[1] == ["net", "fake", "-", "-", "-", "-", reason]


@pytest.mark.parametrize(("level", "added"), [("", 0.25), ("avx2", 0.5)], ids=["best", "limited"])
def test_a_peer_has_its_settings(script: Any, environments: Path, level: str, added: float) -> None:
    """The environment has the peer's best settings, and over them those of the level, which the adapter gets too."""
    process = start(script, environments, 1, level=level).processes["fake"]
    process.close()
    np.testing.assert_array_equal(process.contestants["fake f32"], np.arange(3, dtype=np.float32) + 2 + added)
    assert process.absent["fake int4"] == f"OSError: no int4{level}"


def test_a_peer_that_cannot_be_limited_is_a_row(
    script: Any, environments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer is not started; one without an output of a network has no signal to error."""
    further = script("harness.further_peers")
    monkeypatch.setattr(further, "PEERS", peers_of_tests(script("harness.peer_environments")))
    monkeypatch.setattr(script("harness.onnxruntime_peer"), "session", lambda path, threads: lambda feed: [np.ones(3)])
    monkeypatch.setattr(further, "chosen", lambda names: ["absent"])
    network = argparse.Namespace(path=environments, feeds=[], feed=dict)
    options = argparse.Namespace(
        peers="absent", threads=1, level="avx2", environments=environments, clock="perf_counter"
    )
    peers = further.FurtherPeers.start(network, options)
    figures = {"name": "net", "peers": peers.figures({"tvmq int8": 1.0}), "tvmq int8": 1.0, "sum": 2.0}
    assert further.peer_rows(figures)[1] == ["net", "absent", "-", "-", "-", "-", "cannot be limited to avx2"]
    figures["peers"].append({"peer": "sum", "least": 2.0, "decibels": float("nan"), "remark": ""})
    assert further.peer_rows(figures)[2][:6] == ["net", "sum", "2.000", "2.000", "0.50", "-"]
    assert further.missed_peers(figures | {"sum": 0.1}, 1.0) == []


def test_missing_environments_get_one_sentence(
    script: Any, environments: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence names the environment, its folder, and the command that makes it."""
    assert start(script, environments, 1, "absent").processes == {}
    message = capsys.readouterr().err
    assert message == (
        f"peers: absent has no environment at {environments / 'absent'}; "
        f"make it with python benchmarks/peer_environments.py absent --environments {environments}\n"
    )


def test_names_of_peers(script: Any, environments: Path) -> None:
    """all, a list, none; a name that is none is refused."""
    chosen = script("harness.peer_environments").chosen
    assert (chosen("all"), chosen("fake"), chosen("")) == (["fake", "absent"], ["fake"], [])
    with pytest.raises(SystemExit, match="peers: no peer 'openblas'; peers are fake, absent, or all of them: all"):
        chosen("fake,openblas")


def test_an_environment_appears_when_it_is_whole(
    script: Any, environments: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An existing environment is left alone; where pip fails there is none, and the exit says so."""
    module = script("harness.peer_environments")
    monkeypatch.setattr(sys, "argv", ["x", "fake", "absent", "--environments", str(environments), "--python", "false"])
    with pytest.raises(SystemExit, match="peers: no environment for absent"):
        module.main()
    out = capsys.readouterr()
    assert out.out == f"fake: {environments / 'fake' / 'bin' / 'python'}\n"
    assert out.err.startswith("absent: false -m venv") and not (environments / "absent").exists()


def test_further_peers_take_one_sample(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are refused before anything is measured."""
    monkeypatch.setattr(sys, "argv", ["latency.py", "--peers", "mnn", "--batch", "8"])
    with pytest.raises(SystemExit, match="latency: --peers takes no --batch: their models are made for one sample"):
        script("latency").main()
    assert script("harness.further_peers").FurtherPeers.start(None, argparse.Namespace(peers="")).processes == {}


def test_clocks(script: Any, environments: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock counts what a process computes, not its sleep; it says nothing of several threads."""
    timed = script("harness.timing").timer_of
    assert (timed(lambda: time.sleep(0.01), time.process_time)(2) < 0.005).all()
    assert (timed(lambda: time.sleep(0.01))(2) >= 0.01).all()
    monkeypatch.setattr(sys, "argv", ["latency.py", "--clock", "process_time", "--threads", "2"])
    with pytest.raises(SystemExit, match="latency: --clock process_time adds up the threads; it takes --threads 1"):
        script("latency").main()
