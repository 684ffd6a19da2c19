"""From a Relax module to CUDA C++, the code of the host that launches it, and bytecode of the Relax virtual machine."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, tirx

from tvmq.compile.cuda.source import our_sources
from tvmq.compile.llvm_workarounds import repair_stores
from tvmq.compile.vm_pipeline import CONFIG, ONE_AT_A_TIME, OPT_LEVEL, fuse, lower
from tvmq.errors import BuildError
from tvmq.reasons import reason
from tvmq.schedule.cuda.generic import schedule_cuda
from tvmq.schedule.cuda.intrinsics import exact_floats
from tvmq.target import nvcc as _nvcc  # noqa: F401  TVM asks it where it would compile a source
from tvmq.target.cuda import CudaTarget


def compile_cuda(mod: tvm.IRModule, target: CudaTarget) -> tuple[relax.VMExecutable, str]:
    """Code for all functions of the module, and its kernels in CUDA C++; neither a GPU nor CUDA is needed.

    mod      any Relax module without free operators of other compilers; unchanged
    returns  the source is empty for a model without kernels
    raises   BuildError if TVM cannot compile it
    """
    with ONE_AT_A_TIME:
        try:
            return _compiled(schedule_module(mod, target), target)
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


def _compiled(lowered: tvm.IRModule, target: CudaTarget) -> tuple[relax.VMExecutable, str]:
    compiler = compiler_of(target)
    with compiler, tvm.transform.PassContext(opt_level=3, config=CONFIG), our_sources() as sources:
        code = tvm.compile(lowered, compiler, relax_pipeline=None)
    repair_stores(code, target.host)
    return code, "".join(sources)


def compiler_of(target: CudaTarget) -> Any:
    """The target as TVM compiles for it."""
    return tvm.target.Target({**target.tvm, "host": {**OPT_LEVEL, **target.host.compiler}})
