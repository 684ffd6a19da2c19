"""Split the conversions at the borders off the integer core.

Before                                            After
    main(x):                                          quantize_inputs(x):       return (quantize(x),)
        q = quantize(x)                               quantized_main(q):        return (conv2d(q, ...) ...,)
        a = conv2d(q, int8 weight) ...                dequantize_outputs(a):    return dequantize(a)
        return dequantize(a)                          main(x):                  calls the three

Needs     a realized module; graph/analysis/integer_core.py says what belongs where.
Leaves    floats in the middle of the core where they are; a note in the ledger says which (integrality.py), and
          with partition_conversions="fully_integral" they are an error.
Numerics  nothing changes: every binding stands in one of the functions, and graph/module_functions.py puts them back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import tvm
from tvm import relax
from tvm.tirx.analysis import undefined_vars

from tvmq.errors import IntegralError, ModelError
from tvmq.graph.analysis.integer_core import Regions, regions
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.module_functions import PARTS, inline_functions
from tvmq.graph.names import INPUTS, OUTPUTS, UniqueNames, input_names, output_names, with_names
from tvmq.graph.rewrite import build_function, replace_variables
from tvmq.graph.view import View, flatten_tuples, leaves
from tvmq.passes.integrality import integrality

STAGE = "partition_conversions"
Bindings = list[tuple[relax.Var, relax.Expr]]


def partition_conversions(mod: tvm.IRModule) -> tvm.IRModule:
    """Split the conversions at the borders off the integer core.

    raises  ModelError for a dynamic size that one of the functions could not tell from the shapes that it is given,
            IntegralError for a core that is not integral, if the module was quantized with "fully_integral"
    """
    ledger = require_stage(mod, STAGE, ("realized",))
    core = integrality(mod)
    if ledger.config.get(STAGE) == "fully_integral" and not core.is_integral:
        raise IntegralError(f"{STAGE}: {core}; 'fully_integral' allows no float:\n  " + "\n  ".join(core.reasons()))
    ledger.notes = [note for note in ledger.notes if not note.startswith(STAGE)] + [f"{STAGE}: {core}"]
    return with_ledger(_Splitter(inline_functions(mod)).run(), ledger)


class _Splitter:
    def __init__(self, mod: tvm.IRModule) -> None:
        self.view = View(mod)
        self.regions = regions(self.view)
        self.given = input_names(self.view.func)
        self.entries, self.exits = _entry_names(self.view, self.regions), _exit_names(self.view, self.regions)

    def run(self) -> tvm.IRModule:
        """The module in four functions."""
        body, names = self.view.func.body.body, self.view.params
        results = output_names(self.view.func, len(flatten_tuples([body])))
        quantize = self._function(names, self.regions.prefix, self._tuple(self.regions.entries))
        core = self._function(self.regions.entries, self.regions.core, self._tuple(self.regions.exits))
        dequantize = self._function(self.regions.exits, self.regions.suffix, body)
        entries, exits = list(self.entries.values()), list(self.exits.values())
        functions = dict(zip(PARTS, (
            _with_signature(quantize, list(self.given.values()), entries),
            _with_signature(core, entries, exits),
            _with_signature(dequantize, exits, results),
        ), strict=True))  # fmt: skip
        return self._module(functions)

    def _tuple(self, names: Iterable[str]) -> relax.Expr:
        return relax.Tuple([self.view.var[name] for name in names])

    def _function(self, params: Iterable[str], inside: Sequence[str], result: relax.Expr) -> relax.Function:
        """A function of its own variables that computes some of the bindings."""
        own_params = _params([self.view.var[name] for name in params])
        own: dict[str, relax.Expr] = {param.name: param for param in own_params}
        builder, bindings = relax.BlockBuilder(), []
        for name in inside:
            value = builder.normalize(replace_variables(self.view.value[name], own))
            own[name] = relax.DataflowVar(name, value.ty)
            bindings.append((own[name], value))
        func = build_function(own_params, bindings, replace_variables(result, own), self.view.func)
        func = relax.Function(func.params, func.body, func.ret_ty, func.is_pure)
        _check_sizes(func)
        func = relax.utils.copy_with_new_vars(func)
        return with_names(func, {name: self.view.names.get(name, ()) for name in own})

    def _module(self, functions: Mapping[str, relax.Function]) -> tvm.IRModule:
        """The functions, and a main that calls them."""
        builder = relax.BlockBuilder(tvm.IRModule(self.view.helpers))
        args: Sequence[relax.Expr] = list(self.view.func.params)
        bindings: Bindings = []
        unique = UniqueNames(self.view.params)
        for name, result in zip(PARTS, ("quantized_inputs", "quantized_outputs", "dequantized_outputs"), strict=True):
            function = builder.add_func(functions[name].with_attr("global_symbol", name), name)
            call = builder.normalize(relax.Call(function, list(args)))
            var = relax.DataflowVar(unique(result), call.ty)
            bindings.append((var, call))
            if name != PARTS[-1]:
                args = self._fields(var, functions[name], bindings, unique)
        main = build_function(list(self.view.func.params), bindings, var, self.view.func)
        module = builder.get()
        module["main"] = with_names(main, {name: self.view.names.get(name, ()) for name in self.view.params})
        return module

    def _fields(self, var: relax.Var, func: relax.Function, bindings: Bindings, unique: UniqueNames) -> list[relax.Var]:
        """The parts of a tuple, each bound to a variable."""
        names = self.regions.entries if len(bindings) == 1 else self.regions.exits
        first = len(bindings)
        for index, name in enumerate(names):
            value = relax.BlockBuilder().normalize(relax.TupleGetItem(var, index))
            bindings.append((relax.DataflowVar(unique(name), value.ty), value))
        return [bound for bound, _ in bindings[first:]]


def _with_signature(func: relax.Function, inputs: list[str], outputs: list[str]) -> relax.Function:
    return func.with_attr(INPUTS, json.dumps(inputs)).with_attr(OUTPUTS, json.dumps(outputs))


def _entry_names(view: View, parts: Regions) -> dict[str, str]:
    """{variable that the core reads: name}: that of the one input which it is made of."""
    sources: dict[str, set[str]] = {name: {input_name} for name, input_name in input_names(view.func).items()}
    for name in parts.prefix:
        sources[name] = {source for used in leaves(view.value[name]) for source in sources[used.name]}
    unique = UniqueNames()
    return {name: unique(next(iter(sources[name])) if len(sources[name]) == 1 else name) for name in parts.entries}


def _exit_names(view: View, parts: Regions) -> dict[str, str]:
    """{variable that the core gives: name}: that of the one result which is made of it."""
    body = view.func.body.body
    results: dict[str, list[str]] = {}
    for leaf, name in zip(flatten_tuples([body]), output_names(view.func, len(flatten_tuples([body]))), strict=True):
        for var in leaves(leaf):
            results.setdefault(var.name, []).append(name)
    for name in reversed(parts.suffix):
        for used in leaves(view.value[name]):
            results.setdefault(used.name, []).extend(results.get(name, ()))
    unique = UniqueNames()
    return {name: unique(results[name][0] if len(set(results.get(name, ()))) == 1 else name) for name in parts.exits}


def _params(variables: Sequence[relax.Var]) -> list[relax.Var]:
    """Parameters like these variables; a size that is computed of what no parameter tells gets a name of its own."""
    known = [dim for var in variables for dim in _dims(var) if isinstance(dim, tvm.tirx.Var)]
    unique, fresh = UniqueNames(str(dim.name) for dim in known), dict[str, tvm.tirx.Var]()

    def size(dim: tvm.tirx.PrimExpr) -> tvm.tirx.PrimExpr:
        if all(var in known for var in undefined_vars(dim, [])):
            return dim
        return fresh.setdefault(str(dim), tvm.tirx.Var(unique("size"), "int64"))

    types = [relax.TensorType([size(dim) for dim in _dims(var)], var.ty.dtype) for var in variables]
    return [relax.Var(var.name, ty) for var, ty in zip(variables, types, strict=True)]


def _dims(var: relax.Var) -> list[tvm.tirx.PrimExpr]:
    return list(var.ty.shape)


def _check_sizes(func: relax.Function) -> None:
    """Raise ModelError for a result whose size no parameter tells."""
    known = [dim for param in func.params for dim in _dims(param) if isinstance(dim, tvm.tirx.Var)]
    lost = [var for var in relax.analysis.free_symbolic_vars(func) if var not in known]
    if lost:
        raise ModelError(
            f"partition_conversions, layer '{func.params[0].name}': a shape behind it needs the dynamic size "
            f"'{lost[0].name}', which the shapes at the border do not tell; fix the input shapes with shape=, or use "
            "qconfig(partition_conversions='disabled')"
        )
