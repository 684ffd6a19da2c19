"""Helpers for tests of spellings: formulas in Python that become ONNX nodes, and operators of the prepared model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx

import tvmq
from tests.support.models.networks import Net, feeds_of, run_onnx
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

SHAPE, EPSILON = (2, 6, 4, 5), 1e-3
Operand = "Value | float"


def _binary(operator: str, *, swapped: bool = False) -> Callable[[Value, Operand], Value]:
    def node(self: Value, other: Operand) -> Value:
        return self.lift(other).op(operator, self) if swapped else self.op(operator, other)

    return node


class Value:
    """A tensor of a network under construction: `1 / (1 + x.exp())` is a Div of a constant and an Add.

    Any operator of ONNX of one operand is a method, `x.exp()`, `x.reciprocal()`; others: `x.op("Max", y)`.
    """

    def __init__(self, net: Net, name: str = "x") -> None:
        self.net, self.name = net, name

    def lift(self, other: Operand | np.ndarray) -> Value:
        """A number as a constant."""
        if isinstance(other, Value):
            return other
        array = np.asarray(other)
        return Value(
            self.net, self.net.constant(array if array.dtype.kind in "bi" and array.ndim else np.float32(other))
        )

    def op(self, operator: str, *others: Operand | np.ndarray, **attributes: object) -> Value:
        names = [self.lift(other).name for other in others]
        return Value(self.net, self.net.op(operator, self.name, *names, **attributes))

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in UNARY:
            raise AttributeError(name)
        return lambda **attributes: self.op(UNARY[name], **attributes)

    def mean(self, *axes: int, keepdims: int = 1) -> Value:
        return self.op("ReduceMean", axes=list(axes), keepdims=keepdims)

    def max(self, *axes: int, keepdims: int = 1) -> Value:
        return self.op("ReduceMax", axes=list(axes), keepdims=keepdims)

    def sum(self, *axes: int) -> Value:
        return self.op("ReduceSum", np.int64(axes), keepdims=1)

    __add__, __sub__, __mul__, __truediv__, __pow__ = map(_binary, ("Add", "Sub", "Mul", "Div", "Pow"))
    __radd__, __rsub__, __rmul__, __rtruediv__ = (_binary(n, swapped=True) for n in ("Add", "Sub", "Mul", "Div"))

    def __neg__(self) -> Value:
        return self.op("Neg")


UNARY = {name.lower(): name for name in (
    "Abs", "Clip", "Erf", "Exp", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "Log", "LpNormalization", "Mish", "Not",
    "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "Reciprocal", "Relu", "Sigmoid", "Softplus", "Sqrt",
    "Tanh",
)}  # fmt: skip


def factors(net: Net, *shape: int) -> tuple[Value, Value]:
    """gamma and beta."""
    gamma, beta = (Value(net, net.constant(net.random.uniform(0.5, 2, shape).astype(np.float32))) for _ in range(2))
    return gamma, beta


def written(formula: Callable[[Value], Value], shape: Sequence[int] = SHAPE) -> onnx.ModelProto:
    """The model of a formula of one tensor."""
    net = Net(tuple(shape))
    return net.model(formula(Value(net)).name)


def operators(model: onnx.ModelProto) -> list[str]:
    """Operators of the prepared model, whose results are checked against onnxruntime's."""
    prepared, feed = prepare(*tvmq.from_onnx(model)), feeds_of(model)[0]
    for found, true in zip(Reference(prepared).run(feed), run_onnx(model, feed), strict=True):
        np.testing.assert_allclose(found, true, rtol=3e-5, atol=3e-6)
    return names_of(prepared)


def names_of(prepared: object) -> list[str]:
    """Operators of a module, ours without their prefix."""
    return [op_name(value).removeprefix("tvmq.") for _, value in View(prepared).bindings]
