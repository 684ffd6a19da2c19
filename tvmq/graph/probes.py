"""Modules with intermediate outputs: the results of layers as results, or each layer cut apart from the others.

    with_outputs(mod)          x -> all layers        from the model's input: errors accumulate
    keep_variables(mod)  x -> some layers       the same without what they do not need
    cut(mod)             x, all layers -> all layers  each layer computes from values that are given to it

Everything goes in and comes out as float32: codes are dequantized at the end and made from floats at the beginning.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.analysis.layer_tensors import ROUNDING, Encoding, LayerTensor
from tvmq.graph.names import OUTPUTS, UniqueNames
from tvmq.graph.rewrite import build_function, replace_variables
from tvmq.graph.view import View, dtype_of, op_name, used_vars

Bindings = list[tuple[relax.Var, relax.Expr]]


def with_outputs(mod: tvm.IRModule, wanted: Sequence[tuple[str, Encoding | None]]) -> tvm.IRModule:
    """The module whose results are the named variables as float32, then its own results.

    wanted   (variable, the step of its codes; None for floats)
    """
    view = View(mod)
    bindings = list(view.bindings)
    results = _results(view, wanted, bindings)
    return _module(mod, list(view.func.params), bindings, [*results, *(view.var[name] for name in view.outputs)])


def keep_variables(mod: tvm.IRModule, wanted: Sequence[tuple[str, Encoding | None]]) -> tvm.IRModule:
    """The module whose only results are the named variables as float32; what they do not need is gone."""
    view = View(mod)
    bindings = list(view.bindings)
    results = _results(view, wanted, bindings)
    whole = _module(mod, list(view.func.params), bindings, results)
    return relax.transform.DeadCodeElimination()(whole)


def cut(
    mod: tvm.IRModule, layers: Sequence[tuple[LayerTensor, LayerTensor]], integer: set[str]
) -> tuple[tvm.IRModule, dict[str, str]]:
    """The module in which every layer reads parameters in place of the results of other layers.

    layers    (layer of this module, the same layer of the module whose values will be given)
    integer   names of the source that compute in integers there: they read rounded values
    returns   the module, and {parameter: variable of the other module whose value it wants}
    """
    view = View(mod)
    unique = UniqueNames(view.var)
    params: list[relax.Var] = list(view.func.params)
    variables: dict[str, str] = {}
    known: dict[tuple[str, str], relax.Expr] = {}
    here = {own.value: (own, other) for own, other in layers}
    bindings: Bindings = []

    def substitute(name: str, reader: str) -> relax.Expr:
        own, other = here[name]
        reads_codes = op_name(view.value[reader]) in ROUNDING or not integer.isdisjoint(view.sources(reader))
        wanted = other.rounded if reads_codes else other.unrounded
        if (name, wanted) not in known:
            param = relax.Var(unique(f"{name}_given"), relax.TensorType(view.var[name].ty.shape, "float32"))
            params.append(param)
            variables[param.name] = wanted
            known[name, wanted] = _as_codes(view, own, param, unique, bindings)
        return known[name, wanted]

    for var, value in view.bindings:
        table = {name: substitute(name, var.name) for name in used_vars(value) if name in here}
        bindings.append((var, replace_variables(value, table)))
    results = _results(view, [(own.value, own.codes.get(own.value)) for own, _ in layers], bindings)
    return _module(mod, params, bindings, results), variables


def _as_codes(view: View, own: LayerTensor, param: relax.Var, unique: UniqueNames, bindings: Bindings) -> relax.Expr:
    """A given float tensor in the form that the module has there."""
    step = own.codes.get(own.value)
    if step is None:
        return param
    dtype = dtype_of(view.var[own.value])
    limits = np.iinfo(dtype)
    call = ops.quantize(
        param,
        relax.const(step.scale),
        relax.const(step.zero_point),
        axis=step.axis,
        dtype=dtype,
        qmin=int(limits.min),
        qmax=int(limits.max),
    )
    return _bind_call(call, unique(f"{own.value}_given_q"), bindings)


def _results(view: View, wanted: Sequence[tuple[str, Encoding | None]], bindings: Bindings) -> list[relax.Expr]:
    """The variables as floats."""
    unique = UniqueNames([*view.var, *(var.name for var, _ in bindings)])
    results = []
    for name, step in wanted:
        value: relax.Expr = view.var[name]
        if step is not None:
            call = ops.dequantize(value, relax.const(step.scale), relax.const(step.zero_point), axis=step.axis)
            value = _bind_call(call, unique(f"{name}_real"), bindings)
        results.append(value)
    return results


def _bind_call(call: relax.Expr, name: str, bindings: Bindings) -> relax.Var:
    value = relax.BlockBuilder().normalize(call)
    var = relax.DataflowVar(name, value.ty)
    bindings.append((var, value))
    return var


def _module(
    mod: tvm.IRModule, params: list[relax.Var], bindings: Bindings, results: Sequence[relax.Expr]
) -> tvm.IRModule:
    module = mod.clone()
    func = build_function(params, bindings, relax.Tuple(list(results)), mod["main"])
    module["main"] = func.with_attr(OUTPUTS, json.dumps([]))
    return module
