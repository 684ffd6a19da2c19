"""Shared parts of all benchmarks: tasks and models, contestants, fresh processes, timing, tables, bounds, results.

Benchmarks are scripts of the folder above, `python benchmarks/accuracy.py`, with tvmq installed. One thread unless
`set_threads` says otherwise, before TVM is imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

for _variable in ("TVM_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
if str(ROOT) not in sys.path:  # random graphs and devices of tests/support, before folders `tests` of other packages
    sys.path[1:1] = [str(ROOT)]


def set_threads(count: int) -> None:
    """Set the threads of compiled code; call before TVM is imported."""
    os.environ["TVM_NUM_THREADS"] = str(count)
