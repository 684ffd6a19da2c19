"""Code for several CPUs in one executable or file: which of it runs here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tvmq.target.cpu import CpuTarget, resolve_target
from tvmq.target.host import missing_features


def lacking(target: CpuTarget) -> tuple[str, ...]:
    """What this CPU lacks to run code for a target: its architecture, or features of it."""
    if target.arch != resolve_target().arch:
        return (f"the architecture {target.arch}",)
    return missing_features(target.needs)


def best(targets: Sequence[CpuTarget]) -> int | None:
    """Number of the best target that this CPU can run, of the best level, then of most features; or None."""
    from tvmq.kernels.isa import LEVELS  # a file for one CPU needs none

    order = list(LEVELS)
    runnable = [i for i, target in enumerate(targets) if not lacking(target)]
    return min(runnable, key=lambda i: (order.index(targets[i].isa.name), -len(targets[i].needs)), default=None)


def refusal_of_all(targets: Sequence[CpuTarget]) -> str:
    """Why none of several codes runs here, and what to do; empty if one does, or there are no several."""
    if not targets or best(targets) is not None:
        return ""
    return (
        f"run: the model was built for {reasons(targets)}; save it and load it there, or build it for 'llvm', this CPU"
    )


def reasons(targets: Iterable[CpuTarget]) -> str:
    """Each target and what this CPU lacks for it."""
    return ", ".join(f"{target.name} (this CPU lacks {', '.join(lacking(target))})" for target in targets)


def with_codes(codes: tuple[Any, ...]) -> Any:
    """Parts of an executable (runtime/executable.py) of the best of several codes, or of the first; it knows all."""
    targets = tuple(parts.target for parts in codes)
    return replace(codes[best(targets) or 0], targets=targets, codes=codes)
