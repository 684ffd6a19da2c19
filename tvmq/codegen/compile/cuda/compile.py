"""From a Relax module to CUDA C++, the code of the host that launches it, and bytecode of the Relax virtual machine.

The kernels of a module one by one: name, arguments, threads. For tests and tools that look at them or run them.

The code of the host calls each kernel by its name as a packed function: addresses and numbers first, in the order of
`Kernel.arguments`, then one number for each of `Kernel.threads` and, where it is asked for, the bytes of shared memory.
A module of TVM that offers functions of these names, imported into the host's library, takes the place of the GPU.

Tests: tests/codegen/compile/cuda/test_build.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, tirx

from tvmq.base.foreign_errors import reason
from tvmq.codegen.compile.cuda.source import our_sources
from tvmq.codegen.compile.llvm_workarounds import repair_stores
from tvmq.codegen.compile.vm_pipeline import CONFIG, ONE_AT_A_TIME, OPT_LEVEL, fuse, lower
from tvmq.codegen.schedule.cuda.generic import schedule_cuda
from tvmq.codegen.schedule.cuda.intrinsics import exact_floats
from tvmq.codegen.target import nvcc as _nvcc  # noqa: F401  TVM asks it where it would compile a source
from tvmq.codegen.target.cuda import CudaTarget
from tvmq.errors import BuildError


def compile_cuda(mod: tvm.IRModule, target: CudaTarget) -> tuple[relax.VMExecutable, str]:
    """Code for all functions of the module, and its kernels in CUDA C++; neither a GPU nor CUDA is needed.

    mod      any Relax module without free operators of other compilers; unchanged
    returns  the source is empty for a model without kernels
    raises   BuildError if TVM cannot compile it
    """
    with ONE_AT_A_TIME:
        try:
            return _compile_both(schedule_module(mod, target), target)
        except Exception as error:
            raise BuildError(
                f"build: TVM could not compile the module for {target.name}: {reason(error) or 'it does not say why'}"
            ) from error


def schedule_module(mod: tvm.IRModule, target: CudaTarget) -> tvm.IRModule:
    """The module as loops bound to threads, with memory planned and calls made explicit."""
    with compiler_of(target), tvm.transform.PassContext(opt_level=3, config=CONFIG):
        return lower(bind_threads(mod, target))


def bind_threads(mod: tvm.IRModule, target: CudaTarget) -> tvm.IRModule:
    """The module as loops bound to threads, called by `call_tir`."""
    with compiler_of(target), tvm.transform.PassContext(opt_level=3, config=CONFIG):
        fused = fuse(mod)
        for gvar, func in fused.functions_items():
            if isinstance(func, tirx.PrimFunc):
                fused.update_func(gvar, exact_floats(func))
        return schedule_cuda(fused)


def _compile_both(lowered: tvm.IRModule, target: CudaTarget) -> tuple[relax.VMExecutable, str]:
    compiler = compiler_of(target)
    with compiler, tvm.transform.PassContext(opt_level=3, config=CONFIG), our_sources() as sources:
        code = tvm.compile(lowered, compiler, relax_pipeline=None)
    repair_stores(code, target.host)
    return code, "".join(sources)


def compiler_of(target: CudaTarget) -> Any:
    """The target as TVM compiles for it."""
    return tvm.target.Target({**target.tvm, "host": {**OPT_LEVEL, **target.host.compiler}})


LAUNCH = "tirx.kernel_launch_params"


@dataclass(frozen=True)
class GpuKernel:
    """A `__global__` function.

    name        in the source
    arguments   (name, type), in order; type is "handle" for an address, else that of a number
    threads     {"blockIdx.x": extent, ...} in the order of the launch; None where only a run tells
    caller      function of the module that launches it
    """

    name: str
    arguments: tuple[tuple[str, str], ...]
    threads: dict[str, int | None]
    caller: str


@dataclass(frozen=True, eq=False)
class GpuProgram:
    """Kernels, source, loops and code of a module for a GPU.

    kernels   in the order of the source
    source    CUDA C++ of all of them
    lowered   the Relax module whose main function calls the callers; its PrimFuncs are bound to threads
    code      the compiled module: its first import is the host's library, which imports the kernels' module
    """

    kernels: tuple[GpuKernel, ...]
    source: str
    lowered: tvm.IRModule
    code: Any


def program(mod: tvm.IRModule, target: CudaTarget) -> GpuProgram:
    """The kernels, source and code of a module lowered by CudaLowerer; `compile_cuda` says what is refused."""
    code, source = compile_cuda(mod, target)
    with ONE_AT_A_TIME:
        lowered = schedule_module(mod, target)
        kernels = _kernels(lowered, target)
    return GpuProgram(tuple(sorted(kernels, key=lambda k: source.find(f" {k.name}("))), source, lowered, code)


def _kernels(lowered: tvm.IRModule, target: CudaTarget) -> list[GpuKernel]:
    functions = {gvar: f for gvar, f in lowered.functions_items() if isinstance(f, tirx.PrimFunc)}
    compiler = compiler_of(target)
    with compiler, tvm.transform.PassContext(opt_level=3, config=CONFIG):
        pipeline, _, _ = tvm.tirx.get_default_tir_pipeline(compiler)
        split = pipeline(tirx.transform.BindTarget(compiler)(tvm.IRModule(functions)))
    device = {gvar.name_hint: f for gvar, f in split.functions_items() if f.attrs is not None and LAUNCH in f.attrs}
    callers = {name: _caller(name, functions) for name in device}
    return [_kernel(name, func, callers[name]) for name, func in device.items()]


def _caller(kernel: str, functions: dict[Any, Any]) -> str:
    """The function whose name the kernel's begins with: TVM adds "_kernel" and a number."""
    names = [gvar.name_hint for gvar in functions]
    return max((name for name in names if kernel.startswith(f"{name}_kernel")), key=len, default="")


def _kernel(name: str, func: Any, caller: str) -> GpuKernel:
    extents: dict[str, int | None] = {}

    def visit(node: Any) -> None:
        if str(node.attr_key) == "thread_extent":
            extents[str(node.node.thread_tag)] = int(node.value) if isinstance(node.value, tirx.IntImm) else None

    tvm_ffi.structural_walk(func.body, [(tirx.AttrStmt, visit)])
    tags = [str(tag) for tag in func.attrs[LAUNCH]]
    return GpuKernel(
        str(func.attrs.get("global_symbol", name)),
        tuple((str(param.name), _type(param)) for param in func.params),
        {tag: extents.get(tag) for tag in tags},
        caller,
    )


def _type(param: Any) -> str:
    text = str(param.ty)
    return text if text in ("int32", "int64", "uint32", "uint64", "float32", "bool") else "handle"
