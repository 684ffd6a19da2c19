"""Speed of the quantized model beside float, and beside onnxruntime where that is installed; all by turns.

A figure is the least over rounds of a round's median: other programs can only make it larger. Where the rounds of a
contestant differ by more than half, the machine is busy, and no ratio is given.

Tests: tests/tools/cli/test_speed.py
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.tools.cli.console import time_text

ROUNDS, FEWEST_ROUNDS = 9, 3
ROUND_SECONDS = 0.06  # of each contestant in a round
MOST_SECONDS = 20.0  # of all rounds, of models whose single run takes long
UNSTEADY = 1.5  # slowest round over fastest: beyond it nothing is said
FLOAT, INT8 = "float", "int8"
PEER_FLOAT, PEER_INT8, PEER_SAME = "onnxruntime float", "onnxruntime int8", "onnxruntime, the same file,"

Contestants = Mapping[str, Callable[[], object]]


def measure_by_turns(contestants: Contestants, threads: int) -> dict[str, list[float]]:
    """Median seconds of a run, of each contestant in each round; they take turns, so that all meet the same machine."""
    from tvmq.runtime.timing import measure as time_runs  # loads TVM's runtime

    first = {name: time_runs(run, repeat=3, threads=threads).median for name, run in contestants.items()}
    repeat = {name: max(1, min(1000, round(ROUND_SECONDS / seconds))) for name, seconds in first.items()}
    one_round = sum(repeat[name] * seconds for name, seconds in first.items())
    rounds = max(FEWEST_ROUNDS, min(ROUNDS, round(MOST_SECONDS / one_round)))
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            seconds[name].append(time_runs(run, repeat=repeat[name], threads=threads).median)
    return seconds


def describe_rounds(seconds: Mapping[str, list[float]]) -> dict[str, Any]:
    """Figures of rounds: the least of each contestant, the ratio of these, and whether they mean anything.

    returns  {"float_seconds", "int8_seconds", "ratio", "rounds", "spread", "steady", "peers": {name: seconds}}; without
             float, as of a model that is quantized already, "float_seconds" and "ratio" are None

    >>> facts = describe_rounds({"float": [4.0, 4.4], "int8": [2.0, 2.2]})
    >>> facts["ratio"], facts["steady"], describe_rounds({"float": [4.0], "int8": [2.0, 4.0]})["steady"]
    (2.0, True, False)
    """
    least = {name: min(times) for name, times in seconds.items()}
    own_float = least.get(FLOAT)
    spread = max(max(times) / min(times) for times in seconds.values())
    return {
        "float_seconds": own_float, "int8_seconds": least[INT8],
        "ratio": None if own_float is None else own_float / least[INT8],
        "rounds": max(map(len, seconds.values())), "spread": spread, "steady": spread <= UNSTEADY,
        "peers": {name: value for name, value in least.items() if name not in (FLOAT, INT8)},
    }  # fmt: skip


def measure_speed(
    exe: Any, float_exe: Any, feed: Mapping[str, np.ndarray], threads: int, peers: Contestants | None = None
) -> dict[str, Any]:
    """Figures of `describe_rounds`, and the machine that they are of.

    float_exe  None for a model that is quantized already
    peers      further contestants, runs on the same feed
    """
    floats = {} if float_exe is None else {FLOAT: float_exe.prepare_run(feed)}
    contestants = {**floats, INT8: exe.prepare_run(feed), **(peers or {})}
    return {
        **describe_rounds(measure_by_turns(contestants, threads)), "threads": threads,
        "cpu": f"{cpu_name()} ({exe.target.mcpu})", "cores": count_cores(), "load": load_average(),
    }  # fmt: skip


def speed_rows(speed: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Rows of the summary: the ratio of two figures beside them, or that nothing can be measured."""
    if not speed:
        return []
    threads = "1 thread" if speed["threads"] == 1 else f"{speed['threads']} threads"
    machine = f"{threads} of {speed['cores']} cores, {speed['cpu']}"
    if not speed["steady"]:
        what = f"not measurable now, the machine is busy: rounds differ by up to {speed['spread']:.1f}x"
        load = "" if speed["load"] is None else f"load {speed['load']:.1f} on {speed['cores']} cores; "
        return [("speed", what), ("", f"{load}once it is idle: tvmq bench")]
    ratio, rounds = speed["ratio"], f"the least of {speed['rounds']} alternating rounds"
    if ratio is None:
        first = f"{time_text(speed['int8_seconds'])} per run, {rounds}"
    else:
        times = f"float {time_text(speed['float_seconds'])}, int8 {time_text(speed['int8_seconds'])} per run"
        first, machine = f"{_compare_times(ratio)} ({times}, {rounds})", f"{machine}; float: built by tvmq as well"
    peers = [_describe_peer(name, seconds, speed["int8_seconds"]) for name, seconds in speed["peers"].items()]
    return [("speed", first), *(("", peer) for peer in peers), ("", machine)]


def _compare_times(ratio: float) -> str:
    return f"{ratio:.2f}x faster" if ratio >= 1 else f"{1 / ratio:.2f}x SLOWER"


def _describe_peer(name: str, seconds: float, ours: float) -> str:
    """A peer's figure, and how our int8 compares with it; with the same file, which is in 8 bits there too, tvmq.

    >>> _describe_peer("onnxruntime float", 0.003, 0.001), _describe_peer("onnxruntime int8", 0.001, 0.002)
    ('onnxruntime float 3.0 ms: int8 is 3.00x faster', 'onnxruntime int8 1.0 ms: int8 is 2.00x SLOWER')
    """
    us = "tvmq" if name == PEER_SAME else "int8"
    return f"{name} {time_text(seconds)}: {us} is {_compare_times(seconds / ours)}"


def cpu_name(path: Path = Path("/proc/cpuinfo")) -> str:
    """Name of the CPU, as the system gives it."""
    lines = path.read_text().splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """Load average: processes that want to run, this one included; None where the system does not report it."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
