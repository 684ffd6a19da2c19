"""Plain Relax modules in the form of the other importers: `from_relax`.

Modules of relax.frontend.nn, of other importers, written by hand or with a BlockBuilder: several blocks, bindings
outside of dataflow, nested calls, weights as parameters or constants become one named, straight-line function.

Modules with control flow, side effects or calls of other functions are refused, naming the variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tvm
import tvm_ffi
from tvm import relax
from tvm.ir import GenericConst

from tvmq.base.foreign_errors import explain_exceptions
from tvmq.base.memory import check_max_bytes
from tvmq.base.text import printable_name
from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.formats.importing.assemble import (
    ConvertedModel,
    ConvertedNode,
    assemble,
    constants,
    substitute,
    variable_name,
    variables,
)
from tvmq.graph.module_functions import plain_module
from tvmq.graph.names import ATTRIBUTE, UniqueNames, read_attribute
from tvmq.graph.view import dtype_of, op_name, sizes_of

EXTERNAL = ("call_pure_packed", "call_dps_packed", "call_inplace_packed", "call_py_func", "invoke_closure")
EFFECTS = ("print", "assert_op")


def select_function(mod: tvm.IRModule, wanted: str | None) -> tuple[str, relax.Function]:
    """The function to import: the wanted one, else "main", else the only Relax function."""
    functions = {var.name_hint: func for var, func in mod.functions_items() if isinstance(func, relax.Function)}
    listed = ", ".join(f"'{name}'" for name in sorted(functions)) or "none"
    name = wanted or ("main" if "main" in functions else next(iter(functions)) if len(functions) == 1 else "")
    if name not in functions:
        way_out = "choose one with function=" if functions else "import a model first"
        which = f"there is no function '{wanted}'" if wanted else "there is no 'main' to choose by default"
        raise ModelError(f"from_relax: {which}; the module has {listed}; {way_out}")
    return name, functions[name]


def check_binding(binding: relax.Binding) -> None:
    """Refuse control flow, calls of other functions, external functions, effects, sizes found at run time."""
    name, value = binding.var.name, binding.value
    if isinstance(binding, relax.MatchCast) and not tvm_ffi.structural_equal(binding.ty, value.ty):
        raise _refusal(name, "a match-cast gives its shape only at run time", "give its operand a fixed shape")
    if isinstance(value, relax.If):
        raise _refusal(name, "control flow is not supported", "keep one branch, or compute both and select with where")
    if isinstance(value, relax.Call):
        _check_call(name, value)
    elif not isinstance(value, relax.Var | GenericConst | relax.Tuple | relax.TupleGetItem | relax.ShapeExpr):
        raise _refusal(name, f"{type(value).__name__} is not supported", "bind tensors, tuples and shapes only")


def _check_call(name: str, call: relax.Call) -> None:
    if isinstance(call.op, tvm.ir.GlobalVar):
        raise _refusal(
            name,
            f"it calls the function '{call.op.name_hint}'",
            "inline it, for example with relax.transform.InlinePrivateFunctions",
        )
    if not isinstance(call.op, tvm.ir.Op) or op_name(call) in EXTERNAL:
        raise _refusal(name, "it calls an external function", "write it with Relax operators or call_tir")
    if op_name(call) in EFFECTS:
        raise _refusal(name, f"{op_name(call)} has a side effect", "remove it")


def _refusal(name: str, what: str, way_out: str) -> UnsupportedOpError:
    return UnsupportedOpError(f"from_relax, '{name}': {what}; {way_out}")


def results_of(func: relax.Function, values: Mapping[relax.Var, relax.Expr]) -> list[relax.Expr]:
    """The tensors that a function returns, in order; a tuple of tuples is refused."""
    bound = {binding.var: binding.value for block in func.body.blocks for binding in block.bindings}
    result = func.body.body
    while isinstance(result, relax.Var) and isinstance(bound.get(result), relax.Var | relax.Tuple):
        result = bound[result]
    results = list(result.fields) if isinstance(result, relax.Tuple) else [result]
    for value in results:
        if not isinstance(value.ty, relax.TensorType):
            raise UnsupportedOpError(
                f"from_relax: a result is {value.ty}, not a tensor; return one tensor or one tuple of tensors"
            )
    return [values.get(value, value) if isinstance(value, relax.Var) else value for value in results]


# What BlockBuilder, TVMScript and TVM's importers call a variable that nobody named
AUTOMATIC = re.compile(r"(lv|gv|gv_|_|alloc|R_\w+)\d*")


@explain_exceptions("from_relax")
def from_relax(
    mod: tvm.IRModule, params: Any = None, *, function: str | None = None, max_bytes: int | None = None
) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """A Relax module in the form that `from_onnx` gives; one that has it already is returned as it is.

    mod        a module with one Relax function; functions that call_tir names come along
    params     weights: {parameter: array}, or the list of (name, parameter) that relax's nn.Module.export_tvm gives.
               Without an attribute "num_input", all parameters that are not in it are inputs
    function   which function, where there are several; by default "main", else the only one
    max_bytes  refuse a module in which one tensor takes more bytes than this, see `from_onnx`; None: the memory of this
               machine
    returns    module and weights, see `from_onnx`. Layers are called by their variables; one without a name (lv,
               lv1, gv, ...) is <operator>_<count>, counting the operator from 0: conv2d_0, relu_0, conv2d_1
               What reads a weight called <module>.<name> is called <module>
    raises     ModelError          there is no such function, a weight is missing or unknown
               UnsupportedOpError  control flow, calls of other Relax functions, external functions, effects: by name
               MemoryLimitError    a tensor is larger than max_bytes

    >>> from tvm import relax
    >>> builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType((1, 4), "float32"))
    >>> with builder.function("main", [x]):
    ...     _ = builder.emit_func_output(builder.emit(relax.op.nn.relu(builder.emit(relax.op.exp(x)))))
    >>> mod, _ = from_relax(builder.get())
    >>> [binding.var.name for binding in mod["main"].body.blocks[0].bindings]
    ['exp_0', 'relu_0']
    """
    if not isinstance(mod, tvm.IRModule):
        raise ModelError(
            f"from_relax: a module must be a tvm.IRModule. Got {type(mod).__name__} instead; "
            "importers return a module and its weights: mod, params = from_onnx(...)"
        )
    bound = check_max_bytes(max_bytes, "from_relax")
    mod = plain_module(mod)
    if is_ours(mod):
        return mod, dict(params or {})
    mod = relax.transform.Normalize()(mod)
    name, func = select_function(mod, function)
    weight_values = _weights_by_parameter(func, params)
    inputs = _inputs(func, weight_values)
    values: dict[relax.Var, relax.Expr] = {
        param: var for (_, var), param in zip(inputs, _input_parameters(func, weight_values), strict=True)
    }
    weights: dict[GenericConst, str] = {}
    for param in func.params:
        if param.name in weight_values:
            values[param] = _weight(param, weight_values[param.name])
            weights[values[param]] = param.name
    steps = list(_steps(func, values, weights))
    outputs = results_of(func, values)
    stage = f"from_relax, function '{printable_name(name)}'"
    return assemble(ConvertedModel(mod, inputs, steps, _name_results(outputs), weights, stage=stage), bound)


def is_ours(mod: tvm.IRModule) -> bool:
    """True for a module made by an importer or a pass of ours."""
    mains = [func for var, func in mod.functions_items() if var.name_hint == "main"]
    return bool(mains) and isinstance(mains[0], relax.Function) and read_attribute(mains[0], ATTRIBUTE) is not None


def _weights_by_parameter(func: relax.Function, params: Any) -> dict[str, Any]:
    """Values of weights by parameter."""
    attrs = func.attrs or {}
    names = [param.name for param in func.params]
    if params is None and "params" in attrs:  # TVM's torch importer leaves the weights there
        return dict(zip(names[int(attrs["num_input"]) :], attrs["params"], strict=True))
    weights = dict(params or {})
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise ModelError(
            f"from_relax: params name '{unknown[0]}', which is not a parameter of the function; it has {names}"
        )
    count = int(attrs["num_input"]) if "num_input" in attrs else len(names)
    missing = [name for name in names[count:] if name not in weights]
    if missing:
        raise ModelError(
            f"from_relax: {len(missing)} weights have no values, the first is '{missing[0]}'; pass params={{name: "
            "array}}, with nn.Module.export_tvm its second result after loading the values"
        )
    return weights


def _input_parameters(func: relax.Function, weights: Mapping[str, Any]) -> list[relax.Var]:
    return [param for param in func.params if param.name not in weights]


def _inputs(func: relax.Function, weights: Mapping[str, Any]) -> list[tuple[str, relax.Var]]:
    """(name, variable) of each input; a name that cannot be read back is changed for the variable."""
    unique = UniqueNames()
    inputs = []
    for param in _input_parameters(func, weights):
        if not isinstance(param.ty, relax.TensorType) or param.ty.shape is None:
            raise UnsupportedOpError(
                f"from_relax: input '{param.name}' is {param.ty}, not a tensor of known rank; make it one or a constant"
            )
        inputs.append((param.name, relax.Var(unique(variable_name(param.name)), param.ty)))
    return inputs


def _weight(param: relax.Var, value: Any) -> GenericConst:
    """A weight as a constant of its parameter's type."""
    value = getattr(value, "data", None) if type(value).__name__ == "Parameter" else value
    if value is None:
        raise ModelError(f"from_relax: weight '{param.name}' has no value; load the weights before the export")
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    shape = tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else str(d) for d in param.ty.shape)
    if array.shape != shape:
        raise ModelError(
            f"from_relax: weight '{param.name}' has shape {array.shape}, but the function takes {shape}; "
            "pass the params that belong to it"
        )
    return relax.const(array, str(param.ty.dtype))


def _steps(
    func: relax.Function, values: dict[relax.Var, relax.Expr], weights: Mapping[GenericConst, str]
) -> Iterator[ConvertedNode]:
    """Yield a step for each binding, over `values` for the parameters."""
    counts: dict[str, int] = {}
    owners: dict[Any, str] = {const: name.rpartition(".")[0] for const, name in weights.items() if "." in name}
    for binding in (binding for block in func.body.blocks for binding in block.bindings):
        check_binding(binding)
        value, name = substitute(binding.value, values), binding.var.name
        operator = op_name(value).rpartition(".")[2]
        count = counts[operator] = counts.get(operator, -1) + 1
        if AUTOMATIC.fullmatch(name):
            name = f"{operator or 'item'}_{count}"
        layer = _owner(binding.var, value, owners) or name
        yield ConvertedNode(name, layer, operator, _bindings(binding.var, value), binding.var)


def _bindings(var: relax.Var, value: relax.Expr) -> list[relax.Binding]:
    """Bindings of a value; indices of a take in mode "wrap" become remainders, which are never out of range."""
    if op_name(value) != "take" or str(value.attrs.mode) != "wrap" or not isinstance(value.args[1], relax.Var):
        return [relax.VarBinding(var, value)]
    data, indices = value.args
    axis, sizes = value.attrs.axis, sizes_of(data)
    size = sizes[int(axis)] if axis is not None else sizes[0] if len(sizes) == 1 else ""
    if not isinstance(size, int) or not 0 < size <= np.iinfo(dtype_of(indices)).max:
        return [relax.VarBinding(var, value)]
    rest = relax.op.floor_mod(indices, relax.const(size, dtype_of(indices)))
    places = relax.DataflowVar(f"{var.name}_places", indices.ty)
    call = relax.Call(value.op, [data, places], value.attrs, value.ty_args)
    return [relax.VarBinding(places, rest), relax.VarBinding(var, call)]


def _owner(var: relax.Var, value: relax.Expr, owners: dict[Any, str]) -> str:
    """The module that owns a weight which the value reads, "" without one; functions of weights count as weights."""
    read = [*variables(value), *constants(value)]
    modules = [owners[item] for item in read if item in owners]
    if modules and len(modules) == len(read):
        owners[var] = modules[0]
    return modules[0] if modules else ""


def _name_results(outputs: list[relax.Expr]) -> list[tuple[str, relax.Expr]]:
    """Results by the names of their variables, or as output, output_0, ..."""
    named = []
    for index, value in enumerate(outputs):
        name = value.name if isinstance(value, relax.Var) else ""
        plain = "output" if len(outputs) == 1 else f"output_{index}"
        named.append((plain if not name or AUTOMATIC.fullmatch(name) else name, value))
    return named
