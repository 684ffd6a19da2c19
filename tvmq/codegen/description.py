"""What a compiled module tells about itself: inputs, outputs, ledger, layer names."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import tvm
from tvm import relax

from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import read_attribute
from tvmq.graph.view import View, dtype_of, op_name, shape_of


def describe_module(mod: tvm.IRModule, view: View) -> dict[str, Any]:
    """{"inputs", "outputs", "ledger", "names"}; a tensor is {"name", "shape", "dtype"} and scale and zero point of its codes."""
    result = view.func.body.body
    leaves = list(result.fields) if isinstance(result, relax.Tuple) else [result]
    given = json.loads(read_attribute(view.func, "tvmq.outputs") or "[]")
    names = given if len(given) == len(leaves) else [f"output_{i}" for i in range(len(leaves))]
    return {
        "inputs": [_input(view, param) for param in view.params.values()],
        "outputs": [_output(view, leaf, name) for leaf, name in zip(leaves, names, strict=True)],
        "ledger": asdict(get_ledger(mod)),
        "names": {name: list(sources) for name, sources in view.names.items()},
    }


def _input(view: View, param: relax.Var) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": param.name, "shape": list(shape_of(param)), "dtype": dtype_of(param)}
    for reader in view.readers[param.name]:
        call = view.value[reader]
        if op_name(call) == "tvmq.quantize":
            return {**facts, **_scale(call)}
    return facts


def _output(view: View, leaf: relax.Expr, name: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": name, "shape": list(shape_of(leaf)), "dtype": dtype_of(leaf)}
    producer = view.producer(leaf)
    if producer is not None and op_name(producer) == "tvmq.dequantize" and dtype_of(producer.args[0]) != "int32":
        return {**facts, **_scale(producer)}
    return facts


def _scale(call: relax.Call) -> dict[str, Any]:
    scale, zero = call.args[1].value.numpy(), call.args[2].value.numpy()
    return {"scale": scale.tolist(), "zero_point": zero.tolist()}
