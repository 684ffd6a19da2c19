"""What a compiled module tells about itself: inputs, outputs, ledger, layer names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import tvm
from tvm import relax

from tvmq.errors import ModelError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names, output_names
from tvmq.graph.view import View, const_value, dtype_of, op_name, sizes_of


def describe_module(mod: tvm.IRModule, view: View) -> dict[str, Any]:
    """{"inputs", "outputs", "ledger", "names"}; a tensor is {"name", "shape", "dtype"}, scale and zero point.

    Names are those of the source (an ONNX input "input.1" keeps its point). Tuples are opened.
    """
    given = input_names(view.func)
    params = view.params.values()
    results = list(_leaves(view.func.body.body))
    named = zip(results, output_names(view.func, len(results)), strict=True)
    return {
        "inputs": [{**_tensor(param, given[param.name]), **_input_codes(view, param)} for param in params],
        "outputs": [{**_tensor(leaf, name), **_output_codes(view, leaf)} for leaf, name in named],
        "ledger": asdict(get_ledger(mod)),
        "names": {name: list(sources) for name, sources in view.names.items()},
    }


def _leaves(expr: relax.Expr) -> Iterator[relax.Expr]:
    if isinstance(expr, relax.Tuple):
        for item in expr.fields:
            yield from _leaves(item)
    elif not isinstance(expr.ty, relax.TensorType):
        raise ModelError(f"build: a result is {expr.ty}, no tensor and no tuple of them; return its parts")
    else:
        yield expr


def _tensor(expr: relax.Expr, name: str) -> dict[str, Any]:
    return {"name": name, "shape": list(sizes_of(expr)), "dtype": dtype_of(expr)}


def _input_codes(view: View, param: relax.Var) -> dict[str, Any]:
    """Scale and zero point of the codes that an input becomes; nothing if it stays float."""
    for reader in view.readers[param.name]:
        call = view.value[reader]
        if op_name(call) == "tvmq.quantize":
            return _scale(call)
    return {}


def _output_codes(view: View, leaf: relax.Expr) -> dict[str, Any]:
    """Scale and zero point of the codes that an output was; nothing for floats and accumulators."""
    producer = view.producer(leaf)
    if producer is None or op_name(producer) != "tvmq.dequantize" or dtype_of(producer.args[0]) == "int32":
        return {}
    return _scale(producer)


def _scale(call: relax.Call) -> dict[str, Any]:
    scale, zero = const_value(call.args[1]), const_value(call.args[2])
    return {"scale": scale.tolist(), "zero_point": zero.tolist()}
