"""Modules in four functions around one core that a test writes, with exact results to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.operators.loops import register  # noqa: F401 -- our operators are known from here on

Build = Callable[..., relax.Expr]


def core_of(inputs: Mapping[str, np.ndarray], build: Callable[..., Sequence[relax.Expr]]) -> tvm.IRModule:
    """A module whose quantized_main takes arrays like these and gives what `build` makes of them."""
    params = [relax.Var(name, relax.TensorType(array.shape, str(array.dtype))) for name, array in inputs.items()]
    builder = relax.BlockBuilder()
    with builder.function("quantized_main", params):
        with builder.dataflow():
            results = [builder.emit_output(builder.normalize(expr)) for expr in build(builder, *params)]
        builder.emit_func_output(relax.Tuple(results))
    core = builder.get()["quantized_main"]
    module = tvm.IRModule({"quantized_main": core})
    module["quantize_inputs"] = _identity("quantize_inputs", [p.ty for p in params])
    module["dequantize_outputs"] = _identity("dequantize_outputs", list(core.ret_ty.fields))
    module["main"] = _identity("main", [p.ty for p in params])
    return module


def _identity(name: str, types: Sequence[relax.Type]) -> relax.Function:
    params = [relax.Var(f"p{number}", type_) for number, type_ in enumerate(types)]
    builder = relax.BlockBuilder()
    with builder.function(name, params):
        with builder.dataflow():
            results = [builder.emit_output(param) for param in params]
        builder.emit_func_output(relax.Tuple(results))
    return builder.get()[name]
