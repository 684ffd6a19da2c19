"""A read-only view of a straight-line Relax function: bindings in order, producers, readers, constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tvm
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import ModelError
from tvmq.graph.names import get_names
from tvmq.graph.size_text import size_text


def main_function(mod: tvm.IRModule) -> relax.Function:
    """The function "main"; refused unless its body is one straight line of bindings."""
    func = mod["main"]
    if not isinstance(func, relax.Function):
        raise ModelError("module: 'main' is no Relax function; import the model with tvmq.from_onnx")
    for block in func.body.blocks:
        for binding in block.bindings:
            if isinstance(binding.value, relax.If) or not isinstance(binding, relax.VarBinding):
                raise ModelError(f"main, '{binding.var.name}': control flow and match-casts are not supported")
    return func


def op_name(expr: relax.Expr) -> str:
    """Name of the operator that a call applies, without "relax."; "" for anything else.

    call_tir and the like have names too; calls of functions have none.

    >>> op_name(relax.op.nn.relu(relax.const(1.0))), op_name(relax.const(1.0))
    ('nn.relu', '')
    """
    if not isinstance(expr, relax.Call) or not isinstance(expr.op, tvm.ir.Op):
        return ""
    return expr.op.name.removeprefix("relax.")


def shape_of(expr: relax.Expr) -> tuple[int, ...]:
    """Static shape of a tensor.

    raises  ModelError with the variable's name if a dimension is dynamic

    >>> shape_of(relax.Var("x", relax.TensorType((2, 3), "float32")))
    (2, 3)
    """
    dims = expr.ty.shape
    try:
        return tuple(int(d) for d in dims)
    except TypeError as error:
        name = getattr(expr, "name", "value")
        raise ModelError(f"'{name}': shape {dims} is not static; fix it with from_onnx(..., shape=...)") from error


def rank_of(expr: relax.Expr) -> int:
    """Number of dimensions of a tensor, dynamic ones included."""
    return len(list(expr.ty.shape))


def sizes_of(expr: relax.Expr) -> tuple[int | str, ...]:
    """Dimensions of a tensor: numbers, and the text of dynamic ones ("batch", "2*rows"), equal where these are.

    >>> batch = tvm.tirx.Var("batch", "int64")
    >>> sizes_of(relax.Var("x", relax.TensorType((batch, 3), "float32")))
    ('batch', 3)
    """
    return tuple(int(d) if isinstance(d, tvm.tirx.IntImm) else size_text(d) for d in expr.ty.shape)


def dtype_of(expr: relax.Expr) -> str:
    """Element type of a tensor as text.

    >>> dtype_of(relax.Var("x", relax.TensorType((2, 3), "uint8")))
    'uint8'
    """
    return str(expr.ty.dtype)


def is_const(expr: relax.Expr) -> bool:
    """True for a constant tensor.

    >>> is_const(relax.const(1.0)), is_const(relax.Var("x", relax.TensorType((), "float32")))
    (True, False)
    """
    return isinstance(expr, GenericConst)


def const_value(expr: relax.Expr) -> np.ndarray:
    """The array of a constant, which `is_const` tells from other expressions.

    >>> const_value(relax.const([1, 2], "int8"))
    array([1, 2], dtype=int8)
    """
    return expr.value.numpy()


def number_of(expr: relax.Expr) -> float | None:
    """The value of a constant of one element; None for anything else."""
    if not is_const(expr):
        return None
    array = const_value(expr)
    return float(array.reshape(())) if array.size == 1 else None


def make_const(array: np.ndarray) -> relax.Expr:
    """A constant of the array's own element type; relax.const alone would narrow 64-bit numbers to 32 bits.

    >>> dtype_of(make_const(np.array([1, 2])))
    'int64'
    """
    return relax.const(array, str(array.dtype))


def _is_same(a: tvm.ir.BaseFunc, b: tvm.ir.BaseFunc) -> bool:
    return bool(a.same_as(b))


# Views of the modules that are in use, each with the functions that it was made of: an entry goes with its module,
# which neither of both holds.
_views: WeakKeyDictionary[tvm.IRModule, tuple[list[tvm.ir.BaseFunc], View]] = WeakKeyDictionary()


def _restore_view(fields: dict[str, Any]) -> View:
    view = object.__new__(View)
    vars(view).update(fields)
    return view


class View:
    """Producers and readers of a module's main function, keyed by variable name (names are unique in a function).

    mod  the module; one in four functions (graph/module_functions.py) is seen as if main did it all

    A module is read once: `View(mod)` gives the same object as long as the module has the same functions, which
    themselves cannot change.

    bindings  (variable, expression) of all bindings, in order
    var       {name: variable}, parameters included
    value     {name: expression that computes it}
    params    {name: parameter}
    raises    ModelError for a "main" that is no Relax function, or has control flow

    >>> x, builder = relax.Var("x", relax.TensorType((2,), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     _ = builder.emit_func_output(builder.emit(relax.op.nn.relu(x), "y"))
    >>> view = View(builder.get())
    >>> [(var.name, op_name(value)) for var, value in view.bindings]
    [('y', 'nn.relu')]
    """

    def __new__(cls, mod: tvm.IRModule) -> View:
        """The known view of the module, or a new one."""
        functions = [func for _, func in mod.functions_items()]
        known = _views.get(mod)
        if known is not None and len(known[0]) == len(functions) and all(map(_is_same, known[0], functions)):
            return known[1]
        view = super().__new__(cls)
        view._read(mod)
        _views[mod] = functions, view
        return view

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickled views hold their own functions, whatever becomes of the module that was read."""
        return _restore_view, (vars(self),)

    def _read(self, mod: tvm.IRModule) -> None:
        from tvmq.graph.module_functions import inline_functions  # rewriting needs a View

        mod = inline_functions(mod)
        self.func = main_function(mod)
        self.helpers = {var: func for var, func in mod.functions_items() if var.name_hint != "main"}
        self.names = get_names(self.func)
        self.bindings: list[tuple[relax.Var, relax.Expr]] = [
            (binding.var, binding.value) for block in self.func.body.blocks for binding in block.bindings
        ]
        self.params: dict[str, relax.Var] = {p.name: p for p in self.func.params}
        self.value: dict[str, relax.Expr] = {var.name: value for var, value in self.bindings}
        self.var: dict[str, relax.Var] = {**self.params, **{var.name: var for var, _ in self.bindings}}
        if len(self.var) != len(self.params) + len(self.bindings):
            raise ModelError("main: two variables share one name; pass the module through tvmq's prepare first")
        self.readers: dict[str, list[str]] = {name: [] for name in self.var}
        for var, value in self.bindings:
            for used in used_vars(value):
                self.readers[used].append(var.name)
        self.outputs: list[str] = [v.name for v in leaves(self.func.body.body)]
        self._outputs = frozenset(self.outputs)
        self._known: dict[object, dict[str, Any]] = {}

    def producer(self, expr: relax.Expr) -> relax.Expr | None:
        """Value that a variable is bound to; None for parameters and anything that is no variable."""
        return self.value.get(expr.name) if isinstance(expr, relax.Var) else None

    def only_reader(self, name: str) -> str | None:
        """The one binding that reads a variable, None where there are none, several, or it is a result."""
        readers = self.readers[name]
        return readers[0] if len(readers) == 1 and not self.is_output(name) else None

    def is_output(self, name: str) -> bool:
        """True if the function returns the variable, alone or inside a returned tuple."""
        return name in self._outputs

    @cached_property
    def place(self) -> dict[str, int]:
        """{variable: number of its binding}."""
        return {var.name: number for number, (var, _) in enumerate(self.bindings)}

    def memo(self, what: object) -> dict[str, Any]:
        """Memo {variable: answer} of a question about this view, so that each is answered once (graph/walk.py)."""
        return self._known.setdefault(what, {})

    def sources(self, name: str) -> tuple[str, ...]:
        """Source names of a variable; its own name where nothing better is known."""
        return self.names.get(name) or (name,)


def leaves(expr: relax.Expr) -> Iterator[relax.Var]:
    """All variables inside an expression of tuples, calls and projections, in order, repeats included.

    A dynamic dimension in an attribute tuple (the end of a slice) is a variable of TVM too, and is left out.

    >>> x = relax.Var("x", relax.TensorType((2,), "float32"))
    >>> [var.name for var in leaves(relax.op.add(x, x))]
    ['x', 'x']
    """
    variables: list[relax.Var] = []
    _add_leaves(expr, variables)
    return iter(variables)


def flatten_tuples(args: Iterable[relax.Expr]) -> list[relax.Expr]:
    """Arguments of a call with the items of tuples, and of tuples in them, in their places."""
    return [item for arg in args for item in (flatten_tuples(arg.fields) if isinstance(arg, relax.Tuple) else [arg])]


def results_of(func: relax.Function) -> list[relax.Expr]:
    """The results of a function in order, variables and constants."""
    waiting, results = [func.body.body], list[relax.Expr]()
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, relax.Tuple):
            waiting.extend(reversed(list(expr.fields)))
        else:
            results.append(expr)
    return results


def _add_leaves(expr: relax.Expr, variables: list[relax.Var]) -> None:
    kind = _kind(expr)
    if kind is relax.Var:
        if not isinstance(expr.ty, tvm.ir.PrimType):
            variables.append(expr)
    elif kind is relax.TupleGetItem:
        _add_leaves(expr.tuple_value, variables)
    elif kind is not None:
        items = expr.fields if kind is relax.Tuple else expr.args
        for item in items[:]:  # TVM's own iteration takes four times as long as that of the list
            _add_leaves(item, variables)


_HOLDERS: tuple[type, ...] = (relax.Var, relax.Tuple, relax.TupleGetItem, relax.Call)
_kinds: dict[type, type | None] = {}


def _kind(expr: relax.Expr) -> type | None:
    """Class of an expression among those that hold variables: to ask TVM's classes about each takes long."""
    own = type(expr)
    if own not in _kinds:
        _kinds[own] = next((one for one in _HOLDERS if issubclass(own, one)), None)
    return _kinds[own]


def used_vars(expr: relax.Expr) -> list[str]:
    """Names of the variables that an expression reads, each once, in order.

    >>> x = relax.Var("x", relax.TensorType((2,), "float32"))
    >>> used_vars(relax.op.add(x, x))
    ['x']
    """
    return list(dict.fromkeys(var.name for var in leaves(expr)))
