"""Description of a compiled module, saved with it: inputs, outputs, ledger, layer names, functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm
from tvm import relax

from tvmq.errors import ModelError
from tvmq.graph.ledger import entries_of, get_ledger
from tvmq.graph.module_functions import PARTS, function_module, is_partitioned
from tvmq.graph.names import input_names, output_names
from tvmq.graph.state_pairs import state_pairs
from tvmq.graph.view import View, const_value, dtype_of, flatten_tuples, op_name, sizes_of
from tvmq.runtime.artifact.model_description import Description, Entries


def describe_module(mod: tvm.IRModule, view: View) -> Description:
    """The description as far as the module alone tells it: tensors, ledger, names.

    Names are those of the source (an ONNX input "input.1" keeps its point). Tuples are opened.
    """
    names = {name: list(sources) for name, sources in view.names.items()}
    return Description(*describe_tensors(view), entries_of(get_ledger(mod)), names)


def describe_tensors(view: View) -> tuple[list[Entries], list[Entries]]:
    """Inputs and outputs of a function; a tensor is {"name", "shape", "dtype"}, scale and zero point."""
    results, states = _result_tensors(view.func), _state_codes(view)
    inputs = [{**tensor, **_input_codes(view, param)} for tensor, param in _inputs(view)]
    outputs = [{**t, **_output_codes(view, leaf)} for t, leaf in zip(_outputs(view), results, strict=True)]
    for tensor in (*inputs, *outputs):
        tensor.update(states.get(tensor["name"], {}))
    return inputs, outputs


def describe_functions(mod: tvm.IRModule) -> dict[str, dict[str, Any]]:
    """{function: {"inputs", "outputs"}} of a module in four functions; nothing for others.

    The codes that the core takes have the scale by which they are quantized, those that it gives the scale by which
    they are dequantized, or that of the ledger where a table makes floats of them.
    """
    if not is_partitioned(mod):
        return {}
    quantize, core, dequantize = (View(function_module(mod, name)) for name in PARTS)
    scales = get_ledger(mod).codes
    entries = [_codes_given(quantize, leaf) for leaf in _result_tensors(quantize.func)]
    exits = [_codes_taken(dequantize, param, scales) for param in dequantize.params.values()]
    first, last = describe_tensors(quantize), describe_tensors(dequantize)
    middle = [tensor for tensor, _ in _inputs(core)], _outputs(core)
    return {
        PARTS[0]: {"inputs": first[0], "outputs": _with(first[1], entries)},
        PARTS[1]: {"inputs": _with(middle[0], entries), "outputs": _with(middle[1], exits)},
        PARTS[2]: {"inputs": _with(last[0], exits), "outputs": last[1]},
    }


def _inputs(view: View) -> list[tuple[dict[str, Any], relax.Var]]:
    names = input_names(view.func)
    return [(_tensor(param, names[param.name]), param) for param in view.params.values()]


def _outputs(view: View) -> list[dict[str, Any]]:
    results = _result_tensors(view.func)
    names = output_names(view.func, len(results))
    return [_tensor(leaf, name) for leaf, name in zip(results, names, strict=True)]


def _with(tensors: list[dict[str, Any]], codes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**tensor, **facts} for tensor, facts in zip(tensors, codes, strict=True)]


def _codes_given(view: View, leaf: relax.Expr) -> dict[str, Any]:
    """Scale and zero point of a result that is quantized here; nothing for integers and floats that pass."""
    producer = view.producer(leaf)
    return _scale(producer) if op_name(producer) == "tvmq.quantize" else {}


def _codes_taken(view: View, param: relax.Var, scales: Mapping[str, tuple[float, int]]) -> dict[str, Any]:
    """Scale and zero point of the codes that a parameter holds."""
    for reader in view.readers[param.name]:
        if op_name(view.value[reader]) == "tvmq.dequantize":
            return _scale(view.value[reader])
    scale, zero = scales.get(param.name, (None, None))
    return {} if scale is None else {"scale": scale, "zero_point": zero}


def _result_tensors(func: relax.Function) -> list[relax.Expr]:
    """The results of a function; ModelError for one that is no tensor."""
    results = flatten_tuples([func.body.body])
    for result in results:
        if not isinstance(result.ty, relax.TensorType):
            raise ModelError(f"build: a result is {result.ty}, no tensor and no tuple of them; return its parts")
    return results


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


def _state_codes(view: View) -> dict[str, dict[str, Any]]:
    """{input or output: scale and zero point} of the states that are kept in codes."""
    kept = [pair for pair in state_pairs(view.func) if pair.scale is not None]
    facts = [(pair, {"scale": pair.scale, "zero_point": pair.zero_point}) for pair in kept]
    return {name: codes for pair, codes in facts for name in (pair.input, pair.output)}


def _scale(call: relax.Call) -> dict[str, Any]:
    scale, zero = const_value(call.args[1]), const_value(call.args[2])
    return {"scale": scale.tolist(), "zero_point": zero.tolist()}
