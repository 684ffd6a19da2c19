"""`tvmq.build`: a module of any stage to an executable for a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tvm

from tvmq.codegen.description import describe_module
from tvmq.codegen.executable import Executable, Parts
from tvmq.codegen.float_weights import float_weights
from tvmq.codegen.lower import Lowerer
from tvmq.codegen.target import resolve_target
from tvmq.codegen.vm_pipeline import compile_module
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View
from tvmq.passes.prepare import prepare


def build(mod: tvm.IRModule, target: Any = "llvm", params: Mapping[str, np.ndarray] | None = None) -> Executable:
    """Compile a float, simulated or integer module.

    mod      from `from_onnx` (with its params) or from `quantize`
    target   "llvm" is this CPU with all its features; "llvm -mcpu=...", a dict or a tvm Target for others
    params   weights that are still parameters of the module
    raises   TargetError for an unknown target, ModelError for dimensions that are not static, BuildError if TVM fails
    """
    cpu = resolve_target(target)
    if params or get_ledger(mod).stage == "imported":
        mod = prepare(mod, params)
    lowerer = Lowerer(float_weights(mod), cpu.isa)
    lowered = lowerer.run()
    code = compile_module(lowered, cpu)
    return Executable(Parts(code, cpu, describe_module(mod, View(mod)), lowerer.kernel_names, mod))
