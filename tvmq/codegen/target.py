"""Which CPU to compile for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import tvm

from tvmq.kernels.isa import LEVELS, features, isa_named
from tvmq.kernels.types import Isa


@dataclass(frozen=True)
class CpuTarget:
    """A CPU to compile for.

    kind       "llvm"
    mcpu       LLVM's name of the CPU
    features   LLVM's names of what it has
    isa        instruction set level of our kernels
    tvm        what tvm.target.Target takes
    """

    kind: str
    mcpu: str
    features: frozenset[str]
    isa: Isa
    tvm: dict[str, Any] = field(hash=False)

    def as_tvm(self) -> Any:
        """The same for TVM."""
        return tvm.target.Target(self.tvm)


def resolve_target(target: Any = "llvm") -> CpuTarget:
    """The CPU that a target describes; "llvm" is this one."""
    from tvm.target import codegen

    options = {"kind": "llvm", "mcpu": str(codegen.llvm_get_system_cpu())}
    if isinstance(target, dict):
        options.update(target)
    has = frozenset(str(name) for name in codegen.llvm_get_cpu_features(tvm.target.Target(options)))
    name = next(name for name in LEVELS if set(features(name)) <= has)
    return CpuTarget("llvm", options["mcpu"], has, isa_named(name), options)
