"""The backend description and the CPU that a target of `quantize` names.

Tests: tests/tools/cli/test_search.py
"""

from __future__ import annotations

from typing import Any

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.codegen.kernels.isa import instructions
from tvmq.codegen.target.cpu import CpuTarget, resolve_target

SUMMED_BYTES = 4  # products of bytes that a dot product adds to 32 bits at least


def backend_of(target: Any) -> Backend:
    """The description of a target: of a backend by name, as `backend_named` takes it, or of a CPU to build for.

    raises  ConfigError for an unknown name, TargetError for a CPU that LLVM does not know

    >>> backend_of("llvm -mcpu=haswell").name, backend_of("llvm -mcpu=cascadelake").name, backend_of(None).name
    ('cpu_without_vnni', 'cpu_with_dot_product', 'cpu')
    """
    if target is None or isinstance(target, Backend):
        return backend_named(target)
    if isinstance(target, str) and target.split()[:1] != ["llvm"]:
        return backend_named(target)
    ins = instructions(resolve_target(target).isa)
    if ins.lane_form:
        return backend_named("cpu_without_vnni")
    return backend_named("cpu_with_dot_product" if ins.taps >= SUMMED_BYTES and ins.takes_bytes else "cpu")


def cpu_of(target: Any) -> CpuTarget:
    """The CPU that a target of `quantize` names; this one where it names a backend, or nothing."""
    is_backend = target is None or isinstance(target, Backend)
    is_name = isinstance(target, str) and target.split()[:1] != ["llvm"]
    return resolve_target("llvm" if is_backend or is_name else target)
