"""From a Relax module with calls of our kernels to code for the Relax virtual machine.

Kernels (functions with attribute `tvmq.kernel`) pass through untouched. All other operators are legalized,
neighbours are fused into one function, and every function gets the generic schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import tvm
from tvm import relax, tirx
from tvm.relax import transform

from tvmq.base.foreign_errors import reason
from tvmq.base.forks import COMPILING, ForkLock
from tvmq.base.memory import ROOM, is_shortage
from tvmq.base.tvm_internals import bytecode_of
from tvmq.codegen.compile.build_options import PLAIN, BuildOptions
from tvmq.codegen.compile.dynamic_main import with_dynamic_functions
from tvmq.codegen.compile.external_code import NOTHING, ExternalCode
from tvmq.codegen.compile.fused_origins import match_operators
from tvmq.codegen.compile.kernel_objects import compile_objects, native_kernels
from tvmq.codegen.compile.kernel_scratch import Scratch, measure_scratch
from tvmq.codegen.compile.legalize import bounds_checks, float_functions, indices, roi_align, truth_values
from tvmq.codegen.compile.legalize.bounds_checks import stay_inside, without_scopes
from tvmq.codegen.compile.legalize.float_functions import clamp, extreme, leaky, pairwise_extreme, prelu
from tvmq.codegen.compile.llvm_workarounds import repair_stores
from tvmq.codegen.compile.native_main import with_direct_functions
from tvmq.codegen.compile.native_samples import SampleAxes, with_sample_loop
from tvmq.codegen.compile.vm_passes import cut_dataflow_blocks, unaligned_inputs, with_ordered_stores
from tvmq.codegen.lower.main_calls import MainCall, main_calls
from tvmq.codegen.schedule.generic import KERNEL, schedule_generic
from tvmq.codegen.target.cpu import CpuTarget, missing_requirements
from tvmq.errors import BuildError, MemoryLimitError, OutputError
from tvmq.numerics.elementary import ELEMENTARY
from tvmq.runtime.artifact.libraries import open_libraries
from tvmq.runtime.artifact.link.elf_object import ObjectFile
from tvmq.runtime.artifact.native_library import load_native

# The virtual machine checks shapes and types of the inputs; checks in every kernel would double the code.
CONFIG = {"tirx.disable_assert": True}
# Passes of the build that walk every function and change no result. The first shrinks buffers between blocks; ours have
# the size that they need, and it took a quarter of the build. The next two are for GPUs. What the others simplify, LLVM
# simplifies too: 87 of 107 kernels of efficientnet_lite0 have the same bytes without them, the rest the same size, and
# they are made in 0.78 of the time (0.67 without s_tir.StmtSimplify, but then float kernels have other loops).
UNUSED = [
    "s_tir.CompactBufferAllocation", "s_tir.InjectPermutedLayout", "s_tir.InjectVirtualThread",
    "s_tir.HoistIfThenElse", "s_tir.RenormalizeSplitPattern", "tirx.RemoveNoOp",
]  # fmt: skip
OPTIONS = {"opt_level": 3, "config": CONFIG, "disabled_pass": UNUSED}
# Of LLVM: 2 gives code as fast as 3 and a fifth shorter (efficientnet_lite0, and 180 functions of loops).
OPT_LEVEL = {"opt-level": 2}


# TVM's operator library keeps the tag that it is working under in a global.
ONE_AT_A_TIME = ForkLock("compiling", COMPILING, reentrant=True)


class VmModule(NamedTuple):
    """Machine code; what its main function calls, in order; and its kernels as a shared library, if they are one.

    unaligned  numbers of the inputs that main takes at any address
    common     (calls, unaligned) of the functions for common sizes, by their names
    """

    code: relax.VMExecutable
    calls: tuple[MainCall, ...]
    native: bytes | None
    unaligned: tuple[int, ...] = ()
    common: Mapping[str, tuple[tuple[MainCall, ...], tuple[int, ...]]] = MappingProxyType({})


def compile_module(
    mod: tvm.IRModule,
    target: CpuTarget,
    common: Sequence[str] = (),
    external: ExternalCode = NOTHING,
    options: BuildOptions = PLAIN,
) -> VmModule:
    """Machine code for all functions of the module.

    mod      any Relax module without free operators of other compilers; unchanged
    target   the code runs on CPUs that have target.needs
    common   names of the functions that are main for common sizes
    external  code of others that its functions call
    options   of the build
    raises   BuildError if TVM cannot compile it
    """
    with ONE_AT_A_TIME:
        return _compile(mod, target, common, external, options)


def _compile(
    mod: tvm.IRModule, target: CpuTarget, common: Sequence[str], external: ExternalCode, options: BuildOptions
) -> VmModule:
    compiler = target.as_tvm(**OPT_LEVEL)
    with _build_errors(), compiler, tvm.transform.PassContext(**OPTIONS):
        plain = legalize(mod)
        groups = group_operators(plain)
        fused = schedule_generic(merge_groups(groups), target.isa.vector_bytes, target.has_fma)
        lowered = lower(fused, direct=not options.is_brief, samples=options.samples)
        code, native = _code(lowered, target, compiler, external, options)
        main, *others = (
            (_calls(plain, groups, fused, name), tuple(unaligned_inputs(fused, name))) for name in ("main", *common)
        )
        return VmModule(code, main[0], native, main[1], dict(zip(common, others, strict=True)))


class PlannedCode(NamedTuple):
    """Functions whose memory is planned, and machine code of those of loops.

    module     calls write to memory that is allocated before them
    objects    object files of the functions of loops
    scratch    {function of loops: bytes that it allocates itself}
    calls      what main calls, in order
    unaligned  numbers of the inputs that main takes at any address
    """

    module: tvm.IRModule
    objects: list[ObjectFile]
    scratch: dict[str, Scratch]
    calls: tuple[MainCall, ...]
    unaligned: tuple[int, ...]


def compile_planned(mod: tvm.IRModule, target: CpuTarget) -> PlannedCode:
    """Machine code and planned memory of a module, to be called without a virtual machine.

    mod, target  as compile_module takes them
    raises       BuildError if TVM cannot compile it
    """
    compiler = target.as_tvm(**OPT_LEVEL)
    with ONE_AT_A_TIME, _build_errors(), compiler, tvm.transform.PassContext(**OPTIONS):
        plain = legalize(mod)
        groups = group_operators(plain)
        fused = schedule_generic(merge_groups(groups), target.isa.vector_bytes, target.has_fma)
        planned = transform.AttachGlobalSymbol()(plan_memory(fused))
        functions = {gvar.name_hint: func for gvar, func in planned.functions_items() if is_loops(func)}
        objects = compile_objects(functions, target, compiler, OPTIONS)
        scratch = measure_scratch(functions, compiler)
        calls = _calls(plain, groups, fused, "main")
        return PlannedCode(planned, objects, scratch, calls, tuple(unaligned_inputs(fused)))


def is_loops(func: Any) -> bool:
    """True for a function of loops."""
    return isinstance(func, tirx.PrimFunc)


@contextmanager
def _build_errors() -> Iterator[None]:
    """Turn what TVM raises into errors of tvmq."""
    try:
        yield
    except (OutputError, BuildError):
        raise
    except Exception as error:
        if type(error) is RuntimeError and not str(error):
            raise KeyboardInterrupt from error  # what TVM makes of an interrupt on its C++ side
        if is_shortage(error):
            raise MemoryLimitError("build: memory ran out while TVM compiled the module; " + ROOM) from error
        why = reason(error) or "it does not say why"
        raise BuildError(f"build: TVM could not compile the module: {why}") from error


def _calls(plain: tvm.IRModule, groups: tvm.IRModule, fused: tvm.IRModule, name: str) -> tuple[MainCall, ...]:
    """Calls of main, or of another function of its kind; none in a module without it."""
    is_there = any(gvar.name_hint == name for gvar in fused.get_global_vars())
    return main_calls(fused, match_operators(plain, groups, name), name) if is_there else ()


def _code(
    lowered: tvm.IRModule, target: CpuTarget, compiler: Any, external: ExternalCode, options: BuildOptions
) -> tuple[relax.VMExecutable, bytes | None]:
    """The executable, and its kernels as a shared library; None if they are a module of LLVM."""
    here = not missing_requirements(target.host)  # libraries for other machines are opened there
    packed = open_libraries(external.libraries, "build") if here else []
    plain = external.objects or not external.modules
    native = None
    if plain:
        native = native_kernels(lowered, target, compiler, OPTIONS, external.objects, options.is_brief)
    if native is not None:
        executable = bytecode_of(lowered)
        executable.mod.import_module(load_native(native))
        for module in external.modules:
            executable.mod.import_module(module)
    else:
        if external.modules:  # TVM links them, with the constants that they ask for
            lowered = lowered.with_attr("external_mods", list(external.modules))
            lowered = lowered.with_attr("const_name_to_constant", dict(external.constants))
        executable = tvm.compile(lowered, compiler, relax_pipeline=None)
        repair_stores(executable, target)
    for module in packed:
        executable.mod.import_module(module)
    return executable, native


def fuse(mod: tvm.IRModule) -> tvm.IRModule:
    """Operators to functions of loops, neighbours fused; to be run inside of a target."""
    return merge_groups(group_operators(legalize(mod)))


def legalize(mod: tvm.IRModule) -> tvm.IRModule:
    """Operators to functions of loops; bindings keep their names."""
    rules: dict[str, Any] = dict.fromkeys(("relax.squeeze", "relax.expand_dims", "relax.flatten"), _view)
    rules |= bounds_checks.RULES | indices.RULES | roi_align.RULES | truth_values.RULES
    rules["relax.max"] = rules["relax.min"] = extreme
    rules["relax.maximum"] = rules["relax.minimum"] = pairwise_extreme
    rules["relax.nn.relu"] = rules["relax.clip"] = clamp
    rules["relax.nn.leakyrelu"], rules["relax.nn.prelu"] = leaky, prelu
    rules |= {f"relax.{name}": float_functions.legalize for name in ELEMENTARY}
    loops = tvm.transform.Sequential(
        [
            transform.DeadCodeElimination(),
            relax.backend.DispatchSortScan(),  # cumsum, cumprod, sort, argsort, topk
            # A reshape is left as it is and becomes a view of the same memory.
            transform.LegalizeOps(rules, ["relax.reshape"]),
            transform.AnnotateTIROpPattern(),
        ]
    )(mod)
    for gvar, func in loops.functions_items():
        if isinstance(func, tirx.PrimFunc) and KERNEL not in (func.attrs or {}):
            loops.update_func(gvar, stay_inside(func))
    return without_scopes(loops)


def group_operators(mod: tvm.IRModule) -> tvm.IRModule:
    """Calls of neighbours that will be fused as calls of one function that calls them; equal functions are one."""
    return transform.FuseOps()(cut_dataflow_blocks(mod))


def merge_groups(mod: tvm.IRModule) -> tvm.IRModule:
    """Each group of `group_operators` as one function of loops."""
    return tvm.transform.Sequential([transform.FuseTIR(), transform.DeadCodeElimination()])(mod)


def plan_memory(mod: tvm.IRModule) -> tvm.IRModule:
    """Calls of functions of loops that write to memory, which is planned."""
    return tvm.transform.Sequential(
        [
            transform.ToNonDataflow(),
            transform.RemovePurityChecking(),
            transform.CallTIRRewrite(),
            transform.StaticPlanBlockMemory(),
        ]
    )(mod)


def lower(mod: tvm.IRModule, *, direct: bool = False, samples: SampleAxes | None = None) -> tvm.IRModule:
    """Memory planned, calls made explicit: all that is left before machine code.

    direct, samples  with the native functions of native_main.py and native_samples.py
    """
    planned = plan_memory(mod)
    if direct:
        native = with_direct_functions(planned)
        planned = with_dynamic_functions(with_sample_loop(native, samples) if samples else native)
    lowered = tvm.transform.Sequential(
        [
            transform.LowerAllocTensor(),
            transform.KillAfterLastUse(),
            transform.LowerRuntimeBuiltin(),
            transform.ComputePrimValue(),
            transform.VMShapeLower(),
            transform.AttachGlobalSymbol(),
        ]
    )(planned)
    return with_ordered_stores(lowered)


def _view(_builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    return relax.op.reshape(call.args[0], call.ty.shape)
