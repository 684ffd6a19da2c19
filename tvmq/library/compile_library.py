"""A module as a library in memory: its kernels for each CPU, the plans that call them, the linked file.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import tvm

from tvmq.codegen.compile.build import CustomCode, describe_source, lower_for
from tvmq.codegen.compile.build_options import BuildOptions
from tvmq.codegen.compile.vm_pipeline import PlannedCode, compile_planned
from tvmq.codegen.kernels.parts.packing_recipes import PackingRecipes
from tvmq.codegen.performance.tuning_table import tiles_for
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.errors import ConfigError
from tvmq.library.assemble import FUNCTIONS, REGISTER, Assembly, assemble_library, isolate_code, numbered_symbol
from tvmq.library.call_plan import make_plan
from tvmq.library.core_module import extract_core
from tvmq.library.golden_values import GoldenRun
from tvmq.library.interface import Interface, describe_interface, usual_sizes
from tvmq.library.plan_bytes import CodePlan
from tvmq.library.processors import pack_needs
from tvmq.library.runtime_object import ARCHITECTURES, OPERATOR, runtime_object
from tvmq.library.size_table import OutOfRange
from tvmq.runtime.artifact.code_bytes import CONSTANTS, MODULE
from tvmq.runtime.artifact.link.elf_object import merge_objects
from tvmq.runtime.artifact.module_bytes import module_to_bytes


@dataclass(frozen=True)
class CompiledLibrary:
    """A library in memory.

    assembly        the linked file, and what it was linked of
    facts           what NAME.json says of it beside its interface
    constant_bytes  of weights and other constants, each once
    """

    assembly: Assembly
    facts: dict[str, Any]
    constant_bytes: int

    @property
    def interface(self) -> Interface:
        """Inputs, outputs, dimensions, hashes."""
        return self.assembly.interface

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the CPUs that it has code for, best first."""
        return tuple(one["name"] for one in self.facts["targets"])


def compile_library(
    mod: tvm.IRModule,
    name: str,
    machines: Sequence[CpuTarget],
    *,
    core: bool = False,
    selftest: bool = True,
    onnxruntime: bool = False,
) -> CompiledLibrary:
    """Compile a prepared module for CPUs of one architecture; arguments and errors are those of `export_library`."""
    mod, ends = extract_core(mod) if core else (mod, {})
    plain, description = describe_source(mod)
    description = replace(description, **ends)
    codes = [(machine, compile_for(mod, machine, description.batch)) for machine in machines]
    unaligned = set[int].intersection(*(set(planned.unaligned) for _, planned in codes))
    interface = describe_interface(name, _hash_of(plain), plain, description, sorted(unaligned))
    interface, plans = _plan_codes(interface, plain, codes, selftest)
    objects = [
        isolate_code(number, planned.objects, list(planned.scratch)) for number, (_, planned) in enumerate(codes)
    ]
    arch = machines[0].arch
    parts = [runtime_object(arch), *([runtime_object(arch, OPERATOR)] if onnxruntime else [])]
    assembly = assemble_library(interface, plans, objects, merge_objects(parts))
    facts = {
        "machine": ARCHITECTURES[arch],
        "targets": [{"name": machine.name, "needs": sorted(machine.needs)} for machine in machines],
        "functions": [*(f"{name}_{function}" for function in FUNCTIONS), *([REGISTER] if onnxruntime else [])],
        "core": core,
        "batch": description.batch,
        "limits": {one.name: {**description.limits[one.name], "least": one.least} for one in interface.dimensions},
        "indices": list(description.indices),
        **({"state": description.state} if description.state else {}),
    }
    constants = {array.tobytes() for code in plans for array in code.plan.constants}
    return CompiledLibrary(assembly, facts, sum(map(len, constants)))


def compile_for(mod: tvm.IRModule, machine: CpuTarget, batch: str = "") -> PlannedCode:
    """The kernels of a prepared module for one CPU, and the function that calls them.

    batch  the dynamic dimension whose samples are run one after the other; "" for none
    """
    options = BuildOptions(tiles_for(machine))
    lowered = lower_for(mod, machine, batch or None, PackingRecipes(), (), CustomCode((), ()), options)
    return compile_planned(lowered.module, machine)


def _hash_of(plain: tvm.IRModule) -> str:
    blobs = module_to_bytes(plain)
    return hashlib.sha256(blobs[MODULE] + blobs[CONSTANTS]).hexdigest()


def _plan_codes(
    interface: Interface, plain: tvm.IRModule, codes: Sequence[tuple[CpuTarget, PlannedCode]], selftest: bool
) -> tuple[Interface, list[CodePlan]]:
    """The interface with sizes for a self-test, and the plans of all codes with what the definition gives for them.

    raises   ConfigError for a model that takes none of the sizes that are tried
    """
    candidates = usual_sizes(interface)
    for is_tested in (True, False) if selftest else (False,):
        for sizes in candidates:
            interface = replace(interface, usual=sizes)
            golden = _golden_run(interface, plain) if is_tested else None
            if is_tested and golden is None:
                continue
            try:
                return interface, [_plan_code(number, *code, interface, golden) for number, code in enumerate(codes)]
            except OutOfRange:
                continue
    limits = ", ".join(f"'{one.name}' of {one.range_text()}" for one in interface.dimensions)
    raise ConfigError(
        f"export_library: no sizes were found that the model takes, of {limits}; fix them with tvmq.build(..., "
        "sizes={name: number})"
    )


def _golden_run(interface: Interface, plain: tvm.IRModule) -> GoldenRun | None:
    """The definition run at the usual sizes; None if it takes none of the inputs."""
    shapes = interface.shapes_at(interface.usual)
    inputs = [{**tensor, "shape": shape} for tensor, shape in zip(interface.inputs, shapes, strict=False)]
    golden = GoldenRun(plain, inputs, interface.usual)
    return golden if golden.values or golden.outputs else None


def _plan_code(
    number: int, machine: CpuTarget, planned: PlannedCode, interface: Interface, golden: GoldenRun | None
) -> CodePlan:
    symbols = {kernel: numbered_symbol(number, kernel) for kernel in planned.scratch}
    plan = make_plan(planned.module, sizes=interface.sizes.copy(), usual=interface.usual, scratch=planned.scratch)
    values = golden.golden_values(plan, planned.calls) if golden is not None else ()
    return CodePlan(machine.name, pack_needs(machine.needs, machine.arch), plan, symbols, values)
