"""Compiled float and integer modules that calibration runs on this CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tvm

from tvmq.compile.build import build
from tvmq.compile.native_main import without_direct_functions
from tvmq.graph.symbolic import sizes_in
from tvmq.runtime.executable import Executable

Feed = Mapping[str, np.ndarray]


def evaluator(mod: tvm.IRModule) -> Callable[[Feed], Sequence[np.ndarray]]:
    """Compiles a float module for this CPU; what calibration runs.

    Free dimensions are compiled as the first batch has them, which is fast, and once more for all other sizes.
    """
    executables: dict[tuple[tuple[str, int], ...], Executable] = {}

    def run(feed: Feed) -> Sequence[np.ndarray]:
        sizes = sizes_in(mod, feed)
        key = tuple(sizes.items()) if not executables or tuple(sizes.items()) in executables else ()
        if key not in executables:
            with without_direct_functions():
                executables[key] = build(mod, sizes=dict(key))
        return executables[key].run(feed)

    return run


def observing(mod: tvm.IRModule) -> tuple[Callable[[Feed], Sequence[np.ndarray]], Mapping[str, np.ndarray]]:
    """Compiles a module that writes into its inputs: its run, and their memory."""
    with without_direct_functions():
        executable = build(mod)
    return executable.run, executable["main"].memory
