"""How much faster int8 is than our own float build, measured by turns on this CPU."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 9
ROUND_SECONDS = 0.06  # of each model in a round


def beside(exe: Any, float_exe: Any, feed: Mapping[str, np.ndarray], threads: int) -> dict[str, Any]:
    """Median seconds of a run of both; rounds take turns, so that a busy machine slows both alike.

    returns  {"float_seconds", "int8_seconds", "ratio", "ratio_low", "ratio_high": over rounds, ...}
    """
    exes = {"float": float_exe, "int8": exe}
    first = {name: one.benchmark(feed, repeat=3, threads=threads).median for name, one in exes.items()}
    repeat = {name: max(1, min(1000, round(ROUND_SECONDS / seconds))) for name, seconds in first.items()}
    rounds = [
        {name: one.benchmark(feed, repeat=repeat[name], threads=threads).median for name, one in exes.items()}
        for _ in range(ROUNDS)
    ]
    ratios = sorted(one["float"] / one["int8"] for one in rounds)
    return {
        **{f"{name}_seconds": statistics.median(one[name] for one in rounds) for name in exes},
        "ratio": statistics.median(ratios),
        "ratio_low": ratios[1],
        "ratio_high": ratios[-2],
        "threads": threads,
        "cpu": f"{cpu_name()} ({exe.target.mcpu})",
        "cores": cores(),
        "load": load(),
    }


def cpu_name(path: Path = Path("/proc/cpuinfo")) -> str:
    """As the system calls it."""
    lines = path.read_text().splitlines() if path.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> float | None:
    """Processes that want to run, this one included; None where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
