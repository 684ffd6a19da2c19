"""`tvmq.build`: a module of any stage to an executable for a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.cuda.compile import compile_cuda
from tvmq.codegen.cuda.lowerer import CudaLowerer
from tvmq.codegen.cuda.target import CudaTarget, cuda_target, is_cuda
from tvmq.codegen.description import describe_module
from tvmq.codegen.executable import Executable, Parts
from tvmq.codegen.float_weights import float_weights
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.target import CpuTarget, resolve_target
from tvmq.codegen.vm_pipeline import compile_module
from tvmq.graph.ledger import get_ledger
from tvmq.graph.limits import size_limits
from tvmq.graph.samples import batch_dimension
from tvmq.graph.symbolic import with_sizes
from tvmq.graph.unpacked import unpacked
from tvmq.graph.view import View
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare


def build(
    mod: tvm.IRModule,
    target: Any = "llvm",
    params: Mapping[str, np.ndarray] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
) -> Executable:
    """Compile a float, simulated or integer module.

    mod      from `from_onnx` (with its params) or from `quantize`
    target   "llvm" is this CPU with all its features; "llvm -mcpu=...", a dict or a tvm Target for others;
             "cuda" is this machine's GPU, {"kind": "cuda", "arch": "sm_90"} any other
    params   weights that are still parameters of the module
    sizes    {free dimension: number}, for code that takes no other size and is faster; the others stay free: a batch
             costs nothing, what lies inside of a sample (a sequence, the sides of a picture) does
    raises   TargetError for an unknown target, ConfigError for sizes of no free dimension, BuildError if TVM fails
    """
    machine = cuda_target(target) if is_cuda(target) else resolve_target(target)
    if params or get_ledger(mod).stage == "imported":
        mod = prepare(mod, params)
    if sizes:
        mod = fold_constants(with_sizes(mod, sizes))  # a slice of a table that ends at the size, say
    plain = unpacked(mod)
    limits = {name: asdict(limit) for name, limit in size_limits(plain).items()}
    batch = batch_dimension(plain)
    lowerer = _lowerer(float_weights(with_sizes(plain, {batch: 1}) if batch else plain), machine)
    code, source = _compiled(lowerer.run(), machine)
    description = {**describe_module(plain, View(plain)), "batch": batch or "", "limits": limits}
    return Executable(Parts(code, machine, description, lowerer.kernel_names, mod, source=source))


def _lowerer(mod: tvm.IRModule, machine: CpuTarget | CudaTarget) -> Lowerer:
    return CudaLowerer(mod, machine) if isinstance(machine, CudaTarget) else Lowerer(mod, machine.isa)


def _compiled(lowered: tvm.IRModule, machine: CpuTarget | CudaTarget) -> tuple[relax.VMExecutable, str]:
    """Code, and the source of a GPU's kernels."""
    if isinstance(machine, CudaTarget):
        return compile_cuda(lowered, machine)
    return compile_module(lowered, machine), ""
