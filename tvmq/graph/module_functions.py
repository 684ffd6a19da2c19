"""Functions of a partitioned module: four of them, and inlining them back into one.

    quantize_inputs(inputs)       -> the codes that the core takes
    quantized_main(codes)         -> the codes that the core gives
    dequantize_outputs(codes)     -> the results
    main(inputs)                  calls the three, in this order

`passes/partition_conversions.py` makes them. Whoever walks a module with one `main` reads it through
`inline_functions`, which puts the three bodies back where main calls them; other modules it gives back as they are.

Modules of a class of their own, such as relay.IRModule, as plain ones: `mod["main"]` is a function of Relax.

Weights that a module keeps two to a byte, as int8 constants: for whoever asks what a weight is.

Tests: tests/passes/test_partition_conversions.py
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.tirx.analysis import undefined_vars

from tvmq import numerics
from tvmq.errors import ConfigError
from tvmq.graph.names import get_names, with_names
from tvmq.graph.rewrite import Rewriter, build_function, replace_variables, rewrite
from tvmq.graph.view import View, const_value, is_const, make_const, op_name

PARTS = ("quantize_inputs", "quantized_main", "dequantize_outputs")


def part_functions(mod: tvm.IRModule) -> dict[str, relax.Function]:
    """{name: function} of the three in the order of calls; nothing for a module in one function."""
    functions = {var.name_hint: func for var, func in mod.functions_items() if var.name_hint in PARTS}
    return {name: functions[name] for name in PARTS} if len(functions) == len(PARTS) else {}


def is_partitioned(mod: tvm.IRModule) -> bool:
    """True for a module in four functions."""
    return bool(part_functions(mod))


def inline_functions(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with one function main, which computes the same; variables keep their names."""
    parts = part_functions(mod)
    if not parts:
        return mod
    main, names = mod["main"], get_names(mod["main"])
    known: dict[str, relax.Expr] = {}
    bindings: list[tuple[relax.Var, relax.Expr]] = []
    for var, value in _bindings(main):
        value = _project_tuple(replace_variables(value, known))
        func = parts.get(called_function(value))
        if func is not None:
            names.update(get_names(func))
            value = _inline(func, value.args, bindings)
        if isinstance(value, relax.Call):
            bindings.append((var, value))
        else:
            known[var.name] = value
    result = build_function(list(main.params), bindings, replace_variables(main.body.body, known), main)
    kept = {var: func for var, func in mod.functions_items() if var.name_hint not in (*PARTS, "main")}
    module = tvm.IRModule(kept, attrs=mod.attrs)
    module["main"] = with_names(result, names)
    return module


def function_module(mod: tvm.IRModule, name: str) -> tvm.IRModule:
    """A module whose main is one of the functions; "main" gives what `inline_functions` gives.

    raises  ConfigError for a function that the module does not have
    """
    parts = part_functions(mod)
    if name == "main":
        return inline_functions(mod)
    if name not in parts:
        has = (
            f"main, {', '.join(parts)}" if parts else "main alone; qconfig(partition_conversions='enabled') makes them"
        )
        raise ConfigError(f"module: there is no function '{name}', it has {has}")
    kept = {var: func for var, func in mod.functions_items() if var.name_hint not in (*PARTS, "main")}
    module = tvm.IRModule(kept, attrs=mod.attrs)
    module["main"] = parts[name].with_attr("global_symbol", "main")
    return module


def called_function(value: relax.Expr) -> str:
    """Name of the function that an expression calls; "" for anything else."""
    is_call = isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.GlobalVar)
    return value.op.name_hint if is_call else ""


def _inline(func: relax.Function, args: list[relax.Expr], bindings: list[tuple[relax.Var, relax.Expr]]) -> relax.Expr:
    """Inline a call: its result; the bindings of the function are appended."""
    func = _bind_sizes(func, args)
    table = {param.name: arg for param, arg in zip(func.params, args, strict=False)}
    bindings += [(var, replace_variables(value, table)) for var, value in _bindings(func)]
    return replace_variables(func.body.body, table)


def _bindings(func: relax.Function) -> list[tuple[relax.Var, relax.Expr]]:
    return [(binding.var, binding.value) for block in func.body.blocks for binding in block.bindings]


def _bind_sizes(func: relax.Function, args: list[relax.Expr]) -> relax.Function:
    """The function for the sizes of these arguments, which may be dynamic ones of the caller."""
    pairs = (pair for p, a in zip(func.params, args, strict=True) for pair in zip(p.ty.shape, a.ty.shape, strict=True))
    sizes = {own: size for own, size in pairs if isinstance(own, tvm.tirx.Var)}
    if not sizes:
        return func
    # TVM puts in only what a parameter of the function tells, so one more parameter tells the caller's sizes.
    variables = {str(var.name): var for size in sizes.values() for var in undefined_vars(size, [])}
    more = relax.Var("sizes", relax.TensorType(list(variables.values()), "int8"))
    wider = relax.Function([*func.params, more], func.body, func.ret_ty, func.is_pure)
    return wider.bind_symbolic_vars(sizes)


def _project_tuple(value: relax.Expr) -> relax.Expr:
    """A field of a tuple that is written out."""
    if isinstance(value, relax.TupleGetItem) and isinstance(value.tuple_value, relax.Tuple):
        return value.tuple_value.fields[value.index]
    return value


def plain_module(mod: Any) -> Any:
    """Convert to a tvm.IRModule of the same functions; one of that very type, and what is no module, stays as it is.

    >>> mod = tvm.IRModule()
    >>> plain_module(mod) is mod, plain_module("model.onnx")
    (True, 'model.onnx')
    """
    if type(mod) is tvm.IRModule or not isinstance(mod, tvm.IRModule):
        return mod
    return tvm.IRModule(dict(mod.functions_items()), attrs=mod.attrs)


def unpack_weights(mod: tvm.IRModule, *, tables: bool = True) -> tvm.IRModule:
    """The module with every tvmq.unpack of a constant as the int8 constant; the module itself if it has none.

    tables   also those of which rows are taken; False for code that unpacks the rows alone
    """
    view = View(mod)
    wanted = {var.name for var, value in view.bindings if is_packed(value) and (tables or not _is_table(view, var))}
    if not wanted:
        return mod

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return _constant(value) if var.name in wanted else None

    return rewrite(mod, visit)


def is_packed(value: relax.Expr | None) -> bool:
    """True for a tvmq.unpack of a constant."""
    return value is not None and op_name(value) == "tvmq.unpack" and is_const(value.args[0])


def _is_table(view: View, var: relax.Var) -> bool:
    return all(op_name(view.value[reader]) == "take" for reader in view.readers[var.name])


def _constant(value: relax.Expr) -> relax.Expr:
    return make_const(numerics.unpack_int4(const_value(value.args[0]), [int(d) for d in value.attrs.shape]))
