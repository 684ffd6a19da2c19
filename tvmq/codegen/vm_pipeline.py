"""From a Relax module with calls of our kernels to code for the Relax virtual machine, and to bytes and back.

Kernels (functions with attribute `tvmq.kernel`) pass through untouched. All other operators are legalized,
neighbours are fused into one function, and every function gets the generic schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tvm
import tvm_ffi
from tvm import relax
from tvm.relax import transform

from tvmq.codegen.generic import KERNEL, schedule_generic
from tvmq.codegen.quiet import without_noise
from tvmq.codegen.target import CpuTarget
from tvmq.errors import ArtifactError, BuildError

OPAQUE = 8  # operator pattern of TVM: never fused
BYTECODE, BITCODE = "vm.bin", "kernels.bc"
# The virtual machine checks shapes and types of the inputs; checks in every kernel would double the code.
CONFIG = {"tirx.disable_assert": True}
LOAD_BYTECODE = "ffi.Module.load_from_file.relax.VMExecutable"


def mark_kernel(func: Any, name: str) -> Any:
    """The PrimFunc with the attributes that keep fusion and schedules away from it."""
    return func.with_attr(KERNEL, name).with_attr("op_pattern", OPAQUE)


def compile_module(mod: tvm.IRModule, target: CpuTarget) -> relax.VMExecutable:
    """Machine code for all functions of the module.

    mod      any Relax module without free operators of other compilers; unchanged
    target   the code runs on CPUs that have target.needs
    raises   BuildError if TVM cannot compile it
    """
    try:
        with target.as_tvm(), tvm.transform.PassContext(opt_level=3, config=CONFIG):
            lowered = lower(schedule_generic(fuse(mod), target.isa.vector_bytes))
            return tvm.compile(lowered, target.as_tvm(), relax_pipeline=None)
    except Exception as error:
        raise BuildError(f"build: TVM could not compile the module: {_last_line(error)}") from error


def fuse(mod: tvm.IRModule) -> tvm.IRModule:
    """Operators to functions of loops, neighbours fused; to be run inside of a target."""
    views = dict.fromkeys(("relax.squeeze", "relax.expand_dims", "relax.flatten"), _view)
    return tvm.transform.Sequential(
        [
            transform.DeadCodeElimination(),
            # A reshape is left as it is and becomes a view of the same memory.
            transform.LegalizeOps(views, ["relax.reshape"]),
            transform.AnnotateTIROpPattern(),
            transform.FuseOps(),
            transform.FuseTIR(),
            transform.DeadCodeElimination(),
        ]
    )(mod)


def lower(mod: tvm.IRModule) -> tvm.IRModule:
    """Memory planned, calls made explicit: all that is left before machine code."""
    return tvm.transform.Sequential(
        [
            transform.ToNonDataflow(),
            transform.RemovePurityChecking(),
            transform.CallTIRRewrite(),
            transform.StaticPlanBlockMemory(),
            transform.LowerAllocTensor(),
            transform.KillAfterLastUse(),
            transform.LowerRuntimeBuiltin(),
            transform.ComputePrimValue(),
            transform.VMShapeLower(),
            transform.AttachGlobalSymbol(),
        ]
    )(mod)


def _view(_builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    return relax.op.reshape(call.args[0], call.ty.shape)


def to_bytes(executable: relax.VMExecutable) -> dict[str, bytes]:
    """The executable as named blobs: bytecode with constants, and the kernels as LLVM bitcode."""
    with TemporaryDirectory(prefix="tvmq-") as folder:
        bytecode, bitcode = Path(folder, BYTECODE), Path(folder, BITCODE)
        with without_noise():
            executable.mod.write_to_file(str(bytecode), "")
        blobs = {BYTECODE: bytecode.read_bytes()}
        for library in executable.mod.imports:
            library.write_to_file(str(bitcode), "bc")
            blobs[BITCODE] = bitcode.read_bytes()
        return blobs


def from_bytes(blobs: Mapping[str, bytes]) -> relax.VMExecutable:
    """What `to_bytes` gave, as an executable; needs no C compiler.

    raises   ArtifactError if a blob is missing or TVM cannot read it
    """
    if BYTECODE not in blobs:
        raise ArtifactError(f"load: '{BYTECODE}' is missing among {sorted(blobs)}; save the model again")
    with TemporaryDirectory(prefix="tvmq-") as folder:
        try:
            return relax.VMExecutable(_load(Path(folder), blobs))
        except Exception as error:
            reason = _last_line(error)
            raise ArtifactError(f"load: TVM cannot read the code: {reason}; save the model again") from error


def _load(folder: Path, blobs: Mapping[str, bytes]) -> Any:
    bytecode, bitcode = folder / BYTECODE, folder / "kernels.ll"  # TVM knows bitcode by this ending
    bytecode.write_bytes(blobs[BYTECODE])
    with without_noise():
        module = tvm_ffi.get_global_func(LOAD_BYTECODE)(str(bytecode))
    if BITCODE in blobs:
        bitcode.write_bytes(blobs[BITCODE])
        module.import_module(tvm.runtime.load_module(str(bitcode)))
    return module


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
