"""From a Relax module to CUDA C++, the code of the host that launches it, and bytecode of the Relax virtual machine."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax, tirx

from tvmq.codegen.cuda.intrinsics import exact_floats
from tvmq.codegen.cuda.schedule import schedule_cuda
from tvmq.codegen.cuda.source import our_sources
from tvmq.codegen.cuda.target import CudaTarget
from tvmq.codegen.lone_stores import repair
from tvmq.codegen.vm_pipeline import CONFIG, ONE_AT_A_TIME, OPT_LEVEL, fuse, lower
from tvmq.errors import BuildError
from tvmq.reasons import reason


def compile_cuda(mod: tvm.IRModule, target: CudaTarget) -> tuple[relax.VMExecutable, str]:
    """Code for all functions of the module, and its kernels in CUDA C++; neither a GPU nor CUDA is needed.

    mod      any Relax module without free operators of other compilers; unchanged
    returns  the source is empty for a model without kernels
    raises   BuildError if TVM cannot compile it
    """
    with ONE_AT_A_TIME:
        try:
            return _compiled(scheduled(mod, target), target)
        except Exception as error:
            raise BuildError(
                f"build: TVM could not compile the module for {target.name}: {reason(error) or 'it does not say why'}"
            ) from error


def scheduled(mod: tvm.IRModule, target: CudaTarget) -> tvm.IRModule:
    """The module as loops bound to threads, with memory planned and calls made explicit."""
    with compiler_of(target), tvm.transform.PassContext(opt_level=3, config=CONFIG):
        return lower(bound(mod, target))


def bound(mod: tvm.IRModule, target: CudaTarget) -> tvm.IRModule:
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
    repair(code, target.host)
    return code, "".join(sources)


def compiler_of(target: CudaTarget) -> Any:
    """The target as TVM compiles for it."""
    return tvm.target.Target({**target.tvm, "host": {**OPT_LEVEL, **target.host.compiler}})
