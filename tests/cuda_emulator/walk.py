"""The main function of a lowered module, walked in Python: every call of a function of loops goes to the emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tests.cuda_emulator.sizes import learn, number, shape_of
from tvmq.graph.view import const_value, is_const, op_name

Call = Callable[[str, list[Any], list[tuple[tuple[int, ...], str]]], list[np.ndarray]]


class Walk:
    """State of a run: values of variables and dynamic sizes.

    call      runs a function of loops: (name, inputs, [(shape, dtype) of each output]) -> outputs
    watch     called with (variable, array) after each binding
    """

    def __init__(self, func: relax.Function, call: Call, watch: Callable[[str, Any], None] | None = None) -> None:
        self._func, self._call, self._watch = func, call, watch
        self._values: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The function's results, one array each; `inputs` in the order of its parameters."""
        for param, array in zip(self._func.params, inputs, strict=True):
            self._bind(param, np.asarray(array, order="C"))
        result = self._block(self._func.body)
        return list(result) if isinstance(result, list | tuple) else [result]

    def _block(self, body: Any) -> Any:
        for block in body.blocks:
            for binding in block.bindings:
                self._bind(binding.var, self._value(binding.value, binding.var))
        return self._value(body.body, None)

    def _bind(self, var: relax.Var, value: Any) -> None:
        self._values[var.name] = value
        if isinstance(var.ty, relax.TensorType) and var.ty.shape is not None:
            learn(var.ty.shape, value.shape, self._sizes)
        if self._watch:
            self._watch(var.name, value)

    def _value(self, expr: Any, var: Any) -> Any:
        if isinstance(expr, relax.Call):
            return self._called(expr, var)
        if isinstance(expr, relax.Var):
            return self._values[expr.name]
        if is_const(expr):
            return np.asarray(const_value(expr), order="C")
        if isinstance(expr, relax.Tuple):
            return [self._value(item, None) for item in expr.fields]
        if isinstance(expr, relax.TupleGetItem):
            return self._value(expr.tuple_value, None)[expr.index]
        if isinstance(expr, relax.ShapeExpr):
            return [number(dim, self._sizes) for dim in expr.values]
        if isinstance(expr, relax.If):
            return self._block(expr.true_branch if self._value(expr.cond, None) else expr.false_branch)
        return number(expr.value if hasattr(expr, "value") else expr, self._sizes)

    def _called(self, call: relax.Call, var: Any) -> Any:
        name = op_name(call)
        if name == "call_tir":
            return self._call_tir(call)
        rule = VIEWS.get(name)
        if rule is None:
            raise NotImplementedError(f"the walk knows no '{name}' ({var})")
        return rule(self, call, [self._value(arg, None) for arg in call.args])

    def _call_tir(self, call: relax.Call) -> Any:
        arguments = [self._value(item, None) for item in call.args[1].fields]
        scalars = [number(v, self._sizes) for v in getattr(call.args[2], "values", ())] if len(call.args) > 2 else []
        out = call.ty_args[0]
        types = list(out.fields) if isinstance(out, tvm.ir.TupleType) else [out]
        outputs = [(shape_of(ty, self._sizes), str(ty.dtype)) for ty in types]
        made = self._call(call.args[0].name_hint, [*arguments, *scalars], outputs)
        return made if isinstance(out, tvm.ir.TupleType) else made[0]


def _reshape(walk: Walk, call: relax.Call, values: list[Any]) -> np.ndarray:
    return values[0].reshape(shape_of(call.ty, walk._sizes))


def _filled(value: int) -> Callable[[Walk, relax.Call, list[Any]], np.ndarray]:
    return lambda walk, call, _values: np.full(shape_of(call.ty, walk._sizes), value, str(call.ty.dtype))


VIEWS: Mapping[str, Callable[[Walk, relax.Call, list[Any]], Any]] = {
    "reshape": _reshape,
    "zeros": _filled(0),
    "ones": _filled(1),
    "shape_of": lambda _walk, _call, values: list(values[0].shape),
    "tensor_to_shape": lambda _walk, _call, values: [int(v) for v in values[0]],
    "shape_to_tensor": lambda _walk, _call, values: np.asarray(values[0], np.int64),
}
