"""What of a Relax module is no straight line of operators, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Mapping

import tvm
import tvm_ffi
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.graph.view import op_name

EXTERNAL = ("call_pure_packed", "call_dps_packed", "call_inplace_packed", "call_py_func", "invoke_closure")
EFFECTS = ("print", "assert_op")


def select_function(mod: tvm.IRModule, wanted: str | None) -> tuple[str, relax.Function]:
    """The function to import: the wanted one, else "main", else the only Relax function."""
    functions = {var.name_hint: func for var, func in mod.functions_items() if isinstance(func, relax.Function)}
    listed = ", ".join(f"'{name}'" for name in sorted(functions)) or "none"
    name = wanted or ("main" if "main" in functions else next(iter(functions)) if len(functions) == 1 else "")
    if name not in functions:
        way_out = "name one with function=" if functions else "import a model first"
        which = f"there is no function '{wanted}'" if wanted else "there is no 'main' and not one function alone"
        raise ModelError(f"from_relax: {which}; the module has {listed}; {way_out}")
    return name, functions[name]


def check_binding(binding: relax.Binding) -> None:
    """Refuse control flow, calls of other functions, external functions, effects, sizes found at run time."""
    name, value = binding.var.name, binding.value
    if isinstance(binding, relax.MatchCast) and not tvm_ffi.structural_equal(binding.ty, value.ty):
        raise _refusal(name, "a match-cast tells the shape only at run time", "give its operand a fixed shape")
    if isinstance(value, relax.If):
        raise _refusal(name, "control flow is not supported", "keep one branch, or compute both and choose with where")
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
        raise _refusal(name, "it calls an external function", "express it in Relax operators or call_tir")
    if op_name(call) in EFFECTS:
        raise _refusal(name, f"{op_name(call)} has an effect", "leave it out")


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
                f"from_relax: a result is {value.ty}, no tensor; return one tensor or one tuple of tensors"
            )
    return [values.get(value, value) if isinstance(value, relax.Var) else value for value in results]
