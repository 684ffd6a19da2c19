"""benchmarks/latency.py --peers: the lines between driver and peer, the table, peers that are missing or refuse."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.test_benchmarks import script as script  # the fixture

FAKE = """
import numpy as np
def version(): return "fake 1.0"
def prepare(job):
    print("noise of a library")
    if job.threads == 3:
        raise ValueError("no three threads\\nand more")
    if job.threads == 4:
        raise SystemExit(5)
    return {"fake int8": lambda: 2 * job.feed["x"], "fake f32": lambda: job.feed["x"] + len(job.feeds)}
"""


@pytest.fixture
def environments(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the environment of one peer, which runs this interpreter."""
    module = script("peer_environments")
    monkeypatch.setattr(module, "PEERS", {"fake": module.Peer((), "fake_peer"), "absent": module.Peer((), "none")})
    (tmp_path / "fake_peer.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    python = tmp_path / "fake" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return tmp_path


def start(script: Any, environments: Path, threads: int, names: str = "fake") -> Any:
    """The processes of one model with two samples."""
    feeds = [{"x": np.arange(3, dtype=np.float32)}, {"x": np.ones(3, np.float32)}]
    start_peers = script("peer_process").start_peers
    processes = start_peers(names.split(","), environments, environments / "model.onnx", feeds, threads)
    return script("further_peers").FurtherPeers(processes, 2.125 * feeds[0]["x"])


def test_a_peer_is_timed_and_listed(script: Any, environments: Path) -> None:
    """Prepares, answers with as many seconds as asked, and stands in the table with time, ratio and error."""
    peers = start(script, environments, threads=1)
    timers = peers.timers()
    assert list(timers) == ["fake int8", "fake f32"]
    assert len(timers["fake int8"](3)) == 3 and (timers["fake f32"](2) > 0).all()
    records = peers.figures({"tvmq int8": 1.0, "fake int8": 4.0, "fake f32": 0.5})
    peers.close()
    assert all(process.process.returncode == 0 for process in peers.processes.values())
    figures = {"name": "net", "peers": records, "tvmq int8": 1.5, "fake int8": 4.5, "fake f32": 0.75}
    further = script("further_peers")
    assert further.peer_rows(figures)[:2] == [
        ["net", "tvmq int8", "1.500", "1.000", "1.00", "-", ""],
        ["net", "fake int8", "4.500", "4.000", "0.25", "24.6", "fake 1.0"],
    ]
    assert further.missed_peers(figures, 1.03) == ["net: fake f32 takes 0.50 of our int8"]
    assert further.missed_peers(figures, 2.1) == []


@pytest.mark.parametrize(
    ("threads", "reason"),
    [(3, "ValueError: no three threads"), (4, "its process ended with 5")],
    ids=["raises", "ends"],
)
def test_a_peer_that_refuses_is_a_row(script: Any, environments: Path, threads: int, reason: str) -> None:
    """Its reason stands in the table; nothing of it is timed."""
    peers = start(script, environments, threads)
    records = peers.figures({"tvmq int8": 1.0})
    peers.close()
    assert peers.timers() == {}
    rows = script("further_peers").peer_rows({"name": "net", "peers": records, "tvmq int8": 1.0})
    assert rows[1] == ["net", "fake", "-", "-", "-", "-", reason]


def test_missing_environments_get_one_sentence(
    script: Any, environments: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which one, where, and the command that makes it."""
    assert start(script, environments, 1, "absent").processes == {}
    message = capsys.readouterr().err
    assert message == (
        f"peers: absent has no environment at {environments / 'absent'}; "
        f"make it with python benchmarks/peer_environments.py absent --environments {environments}\n"
    )


def test_names_of_peers(script: Any, environments: Path) -> None:
    """all, a list, none; a name that is none is refused."""
    chosen = script("peer_environments").chosen
    assert (chosen("all"), chosen("fake"), chosen("")) == (["fake", "absent"], ["fake"], [])
    with pytest.raises(SystemExit, match="peers: no peer 'openblas'; peers are fake, absent, or all of them: all"):
        chosen("fake,openblas")


def test_an_environment_appears_when_it_is_whole(
    script: Any, environments: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is there is left alone; where pip fails there is none, and the exit says so."""
    module = script("peer_environments")
    monkeypatch.setattr(sys, "argv", ["x", "fake", "absent", "--environments", str(environments), "--python", "false"])
    with pytest.raises(SystemExit, match="peers: no environment for absent"):
        module.main()
    out = capsys.readouterr()
    assert out.out == f"fake: {environments / 'fake' / 'bin' / 'python'}\n"
    assert out.err.startswith("absent: false -m venv") and not (environments / "absent").exists()


def test_further_peers_take_one_sample(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches and lesser CPUs are refused before anything is measured."""
    monkeypatch.setattr(sys, "argv", ["latency.py", "--peers", "mnn", "--batch", "8"])
    with pytest.raises(SystemExit, match="latency: --peers takes neither --batch nor --level"):
        script("latency").main()
    assert script("further_peers").FurtherPeers.start(None, argparse.Namespace(peers="")).processes == {}
