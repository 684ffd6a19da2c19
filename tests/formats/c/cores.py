"""Modules in four functions around one core that a test writes, with exact results to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tvm
from tvm import relax

import tvmq.graph.operators  # noqa: F401 -- our operators are known from here on
from tests.support.models.built_modules import build_module

Build = Callable[..., relax.Expr]


def core_of(inputs: Mapping[str, np.ndarray], build: Callable[..., Sequence[relax.Expr]]) -> tvm.IRModule:
    """A module whose quantized_main takes arrays like these and gives what `build` makes of them."""
    module = build_module(inputs, lambda *given: list(build(*given)), "quantized_main")
    core, types = module["quantized_main"], [param.ty for param in module["quantized_main"].params]
    module["quantize_inputs"] = _identity("quantize_inputs", types)
    module["dequantize_outputs"] = _identity("dequantize_outputs", list(core.ret_ty.fields))
    module["main"] = _identity("main", types)
    return module


def _identity(name: str, types: Sequence[relax.Type]) -> relax.Function:
    params = [relax.Var(f"p{number}", type_) for number, type_ in enumerate(types)]
    return build_module(params, lambda _, *given: list(given), name)[name]
