"""Relay's types of values: plain numbers and texts on the outside, Relax's types underneath.

Tests: tests/relay/test_expr.py
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any as Anything

import tvm
from tvm import relax, tirx

from tvmq.errors import ModelError

_COUNTER = itertools.count()


class Any:
    """A dimension that is known at run time only; each one is a dynamic size of its own.

    >>> TensorType((Any(), 3)).shape
    (?, 3)
    """

    def __init__(self) -> None:
        self.var = tirx.Var(f"any_{next(_COUNTER)}", "int64")

    def __repr__(self) -> str:
        return "?"


@dataclass(frozen=True)
class TensorType:
    """Shape and element type of a tensor.

    >>> TensorType([1, 3]).concrete_shape, TensorType(()).dtype
    ((1, 3), 'float32')
    """

    shape: tuple[Anything, ...]
    dtype: str = "float32"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(_dim(d) for d in self.shape))
        object.__setattr__(self, "dtype", str(self.dtype)[:])

    @property
    def concrete_shape(self) -> tuple[int, ...]:
        """The shape as numbers; raises ModelError where a dimension is free."""
        if not all(isinstance(d, int) for d in self.shape):
            raise ModelError(f"relay: shape {self.shape} has dynamic dimensions; give the inputs fixed shapes")
        return self.shape

    @property
    def relax(self) -> relax.TensorType:
        """This type in Relax."""
        return relax.TensorType([d.var if isinstance(d, Any) else d for d in self.shape], self.dtype)

    def __str__(self) -> str:
        return f"Tensor[({', '.join(map(str, self.shape))}), {self.dtype}]"


@dataclass(frozen=True)
class TupleType:
    """Types of a tuple's fields, in order."""

    fields: tuple[Anything, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(self.fields))

    @property
    def relax(self) -> Anything:
        """This type in Relax."""
        return tvm.ir.TupleType([field.relax for field in self.fields])

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.fields))})"


@dataclass(frozen=True)
class FuncType:
    """Types of a function's parameters and of its result."""

    arg_types: tuple[Anything, ...]
    ret_type: Anything

    def __str__(self) -> str:
        return f"fn ({', '.join(map(str, self.arg_types))}) -> {self.ret_type}"


Type = TensorType | TupleType | FuncType


def scalar_type(dtype: str) -> TensorType:
    """Type of a tensor of rank 0.

    >>> str(scalar_type("int32"))
    'Tensor[(), int32]'
    """
    return TensorType((), dtype)


def from_relax(ty: Anything) -> TensorType | TupleType:
    """A type of Relax as Relay's; raises ModelError where its rank is unknown.

    >>> str(from_relax(relax.TensorType((2, 3), "int8")))
    'Tensor[(2, 3), int8]'
    """
    if isinstance(ty, tvm.ir.TupleType):
        return TupleType(tuple(from_relax(field) for field in ty.fields))
    if not isinstance(ty, relax.TensorType) or ty.shape is None:
        raise ModelError(f"relay: {ty} is neither a tensor of known rank nor a tuple of them; reshape it first")
    return TensorType(tuple(ty.shape), str(ty.dtype))


def as_type(annotation: Anything) -> TensorType | TupleType:
    """Type of an annotation: Relay's, Relax's, or a text, which is a scalar's element type."""
    if isinstance(annotation, str):
        return scalar_type(annotation)
    return annotation if isinstance(annotation, TensorType | TupleType) else from_relax(annotation)


def numbers(values: Anything) -> tuple[int, ...]:
    """Whole numbers of Python from anything that is one or holds some (TVM's IntImm included).

    >>> numbers(3), numbers([1, 2])
    ((3,), (1, 2))
    """
    if isinstance(values, int) or hasattr(values, "value"):
        return (int(values),)
    return tuple(int(value) for value in values)


def _dim(value: Anything) -> Anything:
    """A dimension: a number where it is one, else Any or an expression of TVM."""
    if isinstance(value, Any):
        return value
    try:
        return int(value)
    except TypeError:  # an expression of dynamic sizes
        return value
