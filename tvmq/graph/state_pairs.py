"""States of a module: which of its inputs are outputs of the call before, in the attribute "tvmq.state" of main.

    with_state(mod, state, caller)   what an importer was asked for, checked against the module
    state_pairs(mod)                 the pairs; () of a module without states
    state_variables(view)            {pair: its parameter and its result}

A pair is "appended" where the output is a concat of the input and further rows, and "replaced" where both have one
shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import tvm
from tvm import relax

from tvmq.errors import ModelError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.names import attribute_errors, input_names, output_names, read_attribute
from tvmq.graph.sizes import are_equal
from tvmq.graph.view import View, dtype_of, op_name, rank_of, results_of, sizes_of
from tvmq.state.name_pairs import pair_names
from tvmq.state.pair import APPENDED, REPLACED, StatePair

STATE = "tvmq.state"
AUTO = "auto"
State = Mapping[str, str] | str | None


def state_pairs(source: tvm.IRModule | relax.Function) -> tuple[StatePair, ...]:
    """The states of a module's main function, or of a function."""
    func = source["main"] if isinstance(source, tvm.IRModule) else source
    text = read_attribute(func, STATE)
    with attribute_errors(STATE):
        return tuple(StatePair.from_json(entry) for entry in json.loads(text or "[]"))


def with_pairs(mod: tvm.IRModule, pairs: Sequence[StatePair]) -> tvm.IRModule:
    """The module with these states."""
    module = mod.clone()
    module["main"] = mod["main"].with_attr(STATE, json.dumps([pair.to_json() for pair in pairs]))
    return module


def with_state(
    mod: tvm.IRModule, state: State, caller: str, written: Sequence[StatePair] = ()
) -> tvm.IRModule:
    """The module with the states that an importer was asked for.

    state    {input: output}; "auto": those that names tell; None: none
    caller   beginning of the messages
    written  states that the model itself declares
    raises   ModelError for names that the model does not have, and for a pair that is no state
    """
    if state is None or (isinstance(state, Mapping) and not state and not written):
        return mod
    view = View(mod)
    inputs, outputs = _interface(view)
    is_auto = state == AUTO
    if not is_auto and not isinstance(state, Mapping):
        raise ModelError(f"{caller}: state must be {{input: output}}, 'auto' or None. Got {state!r} instead")
    own = {name for pair in written for name in (pair.input, pair.output)}
    names = [[name for name in side if name not in own] for side in (inputs, outputs)]
    wanted = pair_names(*names) if is_auto else dict(state)  # type: ignore[arg-type]
    pairs = list(written)
    for before, after in wanted.items():
        reason = _explain_missing(before, inputs, "input") or _explain_missing(after, outputs, "output")
        pair_or_reason = reason or _pair(view, before, after, inputs[before], outputs[after])
        if isinstance(pair_or_reason, StatePair):
            pairs.append(pair_or_reason)
        elif not is_auto:
            raise ModelError(f"{caller}: state {{'{before}': '{after}'}}: {pair_or_reason}")
    if len({pair.output for pair in pairs}) < len(pairs):
        raise ModelError(f"{caller}: two states have one output: {', '.join(pair.output for pair in pairs)}")
    if not pairs or len(pairs) == len(inputs):  # what has no input of its own computes from a state alone
        if pairs and not is_auto:
            raise ModelError(f"{caller}: all inputs are states ({', '.join(inputs)}); leave one to be given")
        return mod
    return _with_notes(with_pairs(mod, pairs), pairs)


def _with_notes(mod: tvm.IRModule, pairs: Sequence[StatePair]) -> tvm.IRModule:
    ledger = get_ledger(mod)
    ledger.notes += [f"state: {pair}" for pair in pairs]
    return with_ledger(mod, ledger)


def _interface(view: View) -> tuple[dict[str, relax.Var], dict[str, relax.Expr]]:
    """{name: parameter} of the inputs, weights left out, and {name: result}."""
    func = view.func
    attributes = func.attrs or {}
    count = int(attributes["num_input"]) if "num_input" in attributes else len(func.params)
    names, results = input_names(func), results_of(func)
    inputs = {names[param.name]: param for param in list(func.params)[:count]}
    return inputs, dict(zip(output_names(func, len(results)), results, strict=True))


def _explain_missing(name: str, known: Mapping[str, Any], kind: str) -> str:
    if name in known:
        return ""
    close = get_close_matches(str(name), known, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(known)}"
    return f"the model has no {kind} '{name}'{hint}"


def _pair(view: View, before: str, after: str, param: relax.Var, result: relax.Expr) -> StatePair | str:
    """The state, or why these two are none."""
    if not isinstance(result.ty, relax.TensorType) or dtype_of(param) != dtype_of(result):
        return f"the input is {dtype_of(param)}, the output {dtype_of(result)}; a state keeps its type"
    axis = appended_axis(view, param, result)
    if axis is not None:
        return StatePair(before, after, APPENDED, axis)
    if rank_of(param) == rank_of(result) and all(map(are_equal, param.ty.shape, result.ty.shape)):
        return StatePair(before, after, REPLACED)
    shapes = (", ".join(map(str, sizes_of(one))) for one in (param, result))
    return "the input is [{}], the output [{}]; a state keeps its shape, or has rows appended to it".format(*shapes)


def appended_axis(view: View, param: relax.Var, result: relax.Expr) -> int | None:
    """The axis along which a result is its parameter with rows behind it; None for any other result."""
    value = view.producer(result)
    if value is None or op_name(value) != "concat" or not isinstance(value.args[0], relax.Tuple):
        return None
    first = value.args[0].fields[0]
    if not isinstance(first, relax.Var) or first.name != param.name:
        return None
    axis = 0 if value.attrs.axis is None else int(value.attrs.axis)
    axis %= rank_of(param)
    return axis if not isinstance(param.ty.shape[axis], tvm.tirx.IntImm) else None


def state_variables(view: View) -> Iterator[tuple[StatePair, relax.Var, relax.Expr]]:
    """(pair, parameter, result) of each state, of a module that has its weights as constants."""
    inputs, outputs = _interface(view)
    for pair in state_pairs(view.func):
        if pair.input in inputs and pair.output in outputs:
            yield pair, inputs[pair.input], outputs[pair.output]


def appended_dimensions(mod: tvm.IRModule) -> frozenset[str]:
    """Dynamic dimensions that are rows which calls have appended: there are none before the first one.

    Where rows are cut off again, there must be some.
    """
    appended = {pair.input: pair.axis for pair in state_pairs(mod) if pair.kind == APPENDED}
    if not appended:
        return frozenset()
    view = View(mod)
    inputs = {name: view.params[param] for param, name in input_names(view.func).items()}
    sizes = [inputs[name].ty.shape[axis] for name, axis in appended.items() if name in inputs]
    names = {str(size.name)[:] for size in sizes if isinstance(size, tvm.tirx.Var)}
    for _, value in view.bindings:
        if op_name(value) == "strided_slice":
            names -= {word for size in sizes_of(value.args[0]) for word in re.findall(r"\w+", str(size))}
    return frozenset(names)


def state_outputs(mod: tvm.IRModule) -> frozenset[int]:
    """Positions of the outputs that are states."""
    pairs = {pair.output for pair in state_pairs(mod)}
    names = output_names(mod["main"], len(results_of(mod["main"]))) if pairs else []
    return frozenset(index for index, name in enumerate(names) if name in pairs)


def with_codes(pair: StatePair, scale: float, zero_point: int) -> StatePair:
    """The pair, kept in codes of this scale."""
    return replace(pair, scale=scale, zero_point=zero_point)
