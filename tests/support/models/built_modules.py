"""Modules of one function, made of Relax calls.

build_module({"x": (1, "n", 4)}, lambda builder, x: relax.op.nn.relu(x))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax


def variables(inputs: Mapping[str, Any]) -> list[relax.Var]:
    """Parameters by name: a shape of floats, in which a word is a dynamic size, (shape, dtype), or an array like it."""
    sizes: dict[str, tvm.tirx.Var] = {}

    def parameter(name: str, kind: Any) -> relax.Var:
        is_typed = not isinstance(kind, np.ndarray) and len(kind) == 2 and isinstance(kind[0], tuple)
        if isinstance(kind, np.ndarray):
            kind, is_typed = (kind.shape, str(kind.dtype)), True
        shape, dtype = kind if is_typed else (kind, "float32")
        words = (size for size in shape if isinstance(size, str))
        sizes.update({word: tvm.tirx.Var(word, "int64") for word in words if word not in sizes})
        return relax.Var(name, relax.TensorType([sizes.get(size, size) for size in shape], dtype))

    return [parameter(name, kind) for name, kind in inputs.items()]


def build_module(
    inputs: Mapping[str, Any] | Sequence[relax.Var], body: Callable[..., Any], name: str = "main"
) -> tvm.IRModule:
    """Module whose function of these inputs gives body(builder, *parameters): a result, or a list of results."""
    params = variables(inputs) if isinstance(inputs, Mapping) else list(inputs)
    builder = relax.BlockBuilder()
    with builder.function(name, params):
        with builder.dataflow():
            results = body(builder, *params)
            several = isinstance(results, list)
            outputs = [builder.emit_output(builder.normalize(one)) for one in (results if several else [results])]
        builder.emit_func_output(outputs if several else outputs[0])
    return builder.get()
