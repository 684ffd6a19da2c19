"""Memory and first runs of a network whose every run has another random size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tvmq
from harness.command import memory
from harness.free_networks import FreeNetwork
from harness.zoo import Feed

WARM, EARLY = 10, 10  # runs before the clock, one in so many of all sizes before the first look at the memory
Run = tuple[float, float]  # seconds of the first run of a size and of the second


def memory_row(network: FreeNetwork, count: int, threads: int, target: str) -> dict[str, Any]:
    """Resident memory after a tenth of the sizes and after all, and how long first runs take."""
    network = network.calibrated()
    exe = tvmq.build(tvmq.quantize(*tvmq.from_onnx(network.path), network.feeds, guard=None), target=target)
    feeds = (network.feed(sizes) for sizes in network.sizes(count))
    for feed in network.feeds[:WARM]:
        exe.run(feed)
    runs, resident, distinct = [], [], set()
    for number, run in enumerate(time_runs(exe, feeds, distinct), 1):
        runs.append(run)
        if number in (max(count // EARLY, 1), count):
            resident.append(memory("VmRSS"))
    firsts, seconds = np.transpose(runs)
    return {
        "network": network.name, "threads": threads, "runs": count, "distinct": len(distinct),
        "first": 1e3 * float(np.median(firsts)), "second": 1e3 * float(np.median(seconds)),
        "early": resident[0], "late": resident[-1], "growth": resident[-1] - resident[0],
    }  # fmt: skip


def time_runs(exe: Any, feeds: Iterator[Feed], distinct: set[tuple[int, ...]]) -> Iterator[Run]:
    """Seconds of two runs of each size; sizes are noted in `distinct`."""
    for feed in feeds:
        distinct.add(tuple(size for array in feed.values() for size in array.shape))
        stamps = [time.perf_counter()]
        for _ in range(2):
            exe.run(feed)
            stamps.append(time.perf_counter())
        yield stamps[1] - stamps[0], stamps[2] - stamps[1]
