"""`tvmq.build`: a module of any stage to an executable for a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import tvm

from tvmq.codegen.cuda.compile import compile_cuda
from tvmq.codegen.cuda.lowerer import CudaLowerer
from tvmq.codegen.cuda.target import CudaTarget, cuda_target, is_cuda
from tvmq.codegen.description import describe_functions, describe_module
from tvmq.codegen.executable import Executable, Parts
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.lower_functions import Lowered, lower_functions
from tvmq.codegen.main_calls import describe_calls
from tvmq.codegen.target import CpuTarget, resolve_target
from tvmq.codegen.threads import check_counts
from tvmq.codegen.tuning import told
from tvmq.codegen.tuning import tune as measure_tiles
from tvmq.codegen.tuning_table import tiles_for
from tvmq.codegen.vm_pipeline import Compiled, compile_module
from tvmq.errors import ConfigError
from tvmq.graph.functions import inlined, is_partitioned
from tvmq.graph.ledger import get_ledger
from tvmq.graph.limits import size_limits
from tvmq.graph.samples import batch_dimension
from tvmq.graph.symbolic import with_sizes
from tvmq.graph.unpacked import unpacked
from tvmq.graph.view import View
from tvmq.kernels.tuned import using_tiles
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare


def build(
    mod: tvm.IRModule,
    target: Any = "llvm",
    params: Mapping[str, np.ndarray] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    num_threads: int | None = None,
    tune: float | None = None,
) -> Executable:
    """Compile a float, simulated or integer module.

    mod      from `from_onnx` (with its params) or from `quantize`
    target   "llvm" is this CPU with all its features; "llvm -mcpu=...", a dict or a tvm Target for others;
             "cuda" is this machine's GPU, {"kind": "cuda", "arch": "sm_90"} any other
    params   weights that are still parameters of the module
    sizes    {free dimension: number}, for code that takes no other size and is faster; the others stay free: a batch
             costs nothing, what lies inside of a sample (a sequence, the sides of a picture) does
    num_threads  that it may use, whatever other models do; None: see `Executable.num_threads`
    tune     so many seconds go into measuring tiles of the kernels on this machine; what is found is kept in the cache
             folder (TVMQ_CACHE) and used by all later builds. Results have the same bits. On a terminal a line on
             stderr tells how far it is; interrupted, it keeps what it has
    raises   TargetError for an unknown target, ConfigError for sizes of no free dimension, BuildError if TVM fails
    """
    check_counts("build", num_threads=num_threads)
    machine = cuda_target(target) if is_cuda(target) else resolve_target(target)
    if params or get_ledger(mod).stage == "imported":
        mod = prepare(mod, params)
    if sizes:
        mod = _of_sizes(mod, sizes)
    plain = unpacked(inlined(mod))
    limits = {name: asdict(limit) for name, limit in size_limits(plain).items()}
    batch = batch_dimension(plain)
    lowered = _lowered(mod, machine, batch, tune)
    compiled, source = _compiled(lowered.module, machine)
    description = {**describe_module(plain, View(plain)), "batch": batch or "", "limits": limits}
    description["calls"] = describe_calls(compiled.calls, lowered.origins)
    functions = describe_functions(mod)
    if functions:
        description["functions"] = functions
    return Executable(Parts(compiled.code, machine, description, lowered.kernel_names, mod, None, source, num_threads))


def _lowered(mod: tvm.IRModule, machine: CpuTarget | CudaTarget, batch: str | None, tune: float | None) -> Lowered:
    """The module as calls of kernels, with the tiles that were measured for this machine, now or before."""
    if isinstance(machine, CudaTarget):
        if tune is not None:
            raise ConfigError("build: tune= measures kernels of CPUs; leave it out for 'cuda'")
        return lower_functions(mod, lambda part, shared: CudaLowerer(part, machine, shared=shared), batch)
    if tune is not None:
        with told() as advance:
            measure_tiles(mod, machine, tune, advance)
    with using_tiles(tiles_for(machine)):
        return lower_functions(mod, lambda part, shared: Lowerer(part, machine.isa, shared=shared), batch)


def _of_sizes(mod: tvm.IRModule, sizes: Mapping[str, int]) -> tvm.IRModule:
    """The module for these sizes, in as many functions as before."""
    fixed = fold_constants(with_sizes(inlined(mod), sizes))  # a slice of a table that ends at the size, say
    return partition_conversions(fixed) if is_partitioned(mod) else fixed


def _compiled(lowered: tvm.IRModule, machine: CpuTarget | CudaTarget) -> tuple[Compiled, str]:
    """Code, and the source of a GPU's kernels."""
    if isinstance(machine, CudaTarget):
        code, source = compile_cuda(lowered, machine)
        return Compiled(code, ()), source
    return compile_module(lowered, machine), ""
