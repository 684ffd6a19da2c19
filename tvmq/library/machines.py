"""Machines that a library is made for: CPUs of Linux, all of one architecture.

Tests: tests/library/test_machines.py
"""

from __future__ import annotations

import sys
from typing import Any

from tvmq.codegen.compile.build import machines_of
from tvmq.codegen.target.cpu import CpuTarget, rank_of, without_tiles
from tvmq.codegen.target.host import MACHINES, host_triple
from tvmq.errors import TargetError
from tvmq.library.runtime_object import ARCHITECTURES

LINUX_ENDS = ("linux", "gnu", "musl")  # of triples whose systems libraries are tested on


def check_machines(target: Any) -> list[CpuTarget]:
    """The CPUs that a target names, each once, in the order in which NAME_init tries them; their code has no matrix
    tiles, for which a program would have to ask Linux.

    target   as `build` takes it
    raises   TargetError for other systems, and for CPUs of several architectures

    >>> [machine.name for machine in check_machines(["x86-64-v2", "x86-64-v4"])]
    ['x86-64-v4', 'x86-64-v2']
    """
    machines = []
    for machine in machines_of(list(target) if isinstance(target, tuple) else target):
        if not isinstance(machine, CpuTarget) or not _is_linux(machine):
            triple = machine.tvm.get("mtriple")
            name = f"{machine.name} ({triple})" if triple else machine.name
            raise TargetError(
                f"export_library: {name} is no CPU of Linux on x86-64 or aarch64; name one, as "
                "target='x86-64-v3' or 'arm-dotprod', or write C for another system's compiler by `tvmq export-c`"
            )
        machines.append(without_tiles(machine))
    others = [machine.name for machine in machines if machine.arch != machines[0].arch]
    if others:
        raise TargetError(
            f"export_library: {machines[0].name} is a CPU of {machines[0].arch}, {', '.join(others)} are not; export a "
            "library for each architecture"
        )
    return sorted(machines, key=rank_of)


def _is_linux(machine: CpuTarget) -> bool:
    """Whether code for a machine runs on Linux with glibc or musl; without a triple it is for this machine.

    >>> from tvmq.codegen.target.cpu import resolve_target
    >>> [_is_linux(resolve_target(f"llvm -mtriple={triple}")) for triple in ("x86_64-linux-musl", "i686-linux-gnu")]
    [True, False]
    """
    first, *rest = str(machine.tvm.get("mtriple") or f"{host_triple()}-{sys.platform}").split("-")
    return MACHINES.get(first) in ARCHITECTURES and "linux" in rest and rest[-1] in LINUX_ENDS
