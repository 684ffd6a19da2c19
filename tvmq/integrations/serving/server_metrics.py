"""Counts of a server's requests, in the text format of Prometheus, summed over its worker processes.

Each worker counts in a small file of its own, which all of them can read: whichever is asked for /metrics answers for
all.

Tests: tests/integrations/serving/test_server_metrics.py
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

import numpy as np

# Upper ends of seconds, as Prometheus counts them: each includes those below it
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
OUTCOMES = ("ok", "refused", "failed")  # by status: below 400, 4xx, 5xx
SECONDS, SAMPLES, RUNS, MEMORY = range(len(OUTCOMES), len(OUTCOMES) + 4)
FIRST_BUCKET = len(OUTCOMES) + 4
SIZE = FIRST_BUCKET + len(BUCKETS) + 1
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServerMetrics:
    """Counts of this process, in a file of the folder that all workers share.

    folder  None: a temporary one, which goes with the process that made it
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="tvmq_serve_"))
        owned = str(self.folder) if folder is None else ""
        self._finalizer = weakref.finalize(self, _remove_folder, owned, os.getpid())
        self._pid, self._counts = 0, np.zeros(SIZE)

    @property
    def _own_counts(self) -> np.ndarray:
        """Counts of this process: a file of its own behind a fork, too."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._counts = np.memmap(self.folder / f"{self._pid}.counts", np.float64, "w+", shape=(SIZE,))
        return self._counts

    def count(self, status: int, seconds: float) -> None:
        """Count a request by its HTTP status."""
        own = self._own_counts
        own[0 if status < 400 else 1 if status < 500 else 2] += 1
        own[SECONDS] += seconds
        own[FIRST_BUCKET + int(np.searchsorted(BUCKETS, seconds))] += 1

    def count_samples(self, samples: int, runs: int) -> None:
        """Count samples that were run, and note how many runs there have been in all."""
        own = self._own_counts
        own[SAMPLES] += samples
        own[RUNS] = runs
        own[MEMORY] = _resident_bytes()

    def close(self) -> None:
        """Remove a temporary folder, before the process ends."""
        self._finalizer()

    def text(self) -> str:
        """All counts, as Prometheus reads them."""
        size = len(self._own_counts)
        files = sorted(self.folder.glob("*.counts"))
        rows = [np.fromfile(file, np.float64, size) for file in files]
        total = np.sum([row for row in rows if len(row) == size], axis=0)
        lines = ["# HELP tvmq_requests_total Requests by outcome.", "# TYPE tvmq_requests_total counter"]
        lines += [f'tvmq_requests_total{{outcome="{name}"}} {total[i]:.0f}' for i, name in enumerate(OUTCOMES)]
        for name, place in (("samples", SAMPLES), ("runs", RUNS)):
            lines += [f"# HELP tvmq_{name}_total So many {name} of the model.", f"# TYPE tvmq_{name}_total counter"]
            lines.append(f"tvmq_{name}_total {total[place]:.0f}")
        lines.append("# HELP tvmq_request_seconds Time from a request's head to its answer.")
        lines.append("# TYPE tvmq_request_seconds histogram")
        counts = np.cumsum(total[FIRST_BUCKET:])
        ends = [*(f"{end:g}" for end in BUCKETS), "+Inf"]
        lines += [f'tvmq_request_seconds_bucket{{le="{end}"}} {n:.0f}' for end, n in zip(ends, counts, strict=True)]
        lines += [f"tvmq_request_seconds_sum {total[SECONDS]:.9g}", f"tvmq_request_seconds_count {counts[-1]:.0f}"]
        lines += ["# HELP tvmq_resident_bytes Memory of each worker.", "# TYPE tvmq_resident_bytes gauge"]
        lines += [
            f'tvmq_resident_bytes{{worker="{file.stem}"}} {row[MEMORY]:.0f}'
            for file, row in zip(files, rows, strict=True) if len(row) == size
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def _remove_folder(folder: str, maker: int) -> None:
    """Remove a folder in the process that made it: a fork has a copy of the object, and others count on."""
    if folder and os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)


def _resident_bytes() -> int:
    """Resident memory of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        return 0
