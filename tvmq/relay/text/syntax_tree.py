"""The syntax tree of Relay's text: what is written, before names and types are looked at.

>>> Project(Variable("x", 3), 0)
Project(value=Variable(name='x', line=3), index=0)

Tests: tests/relay
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TensorNote:
    """`Tensor[(1, 3), float32]`; a size is a number, None for `?`."""

    shape: tuple[int | None, ...]
    dtype: str


@dataclass(frozen=True)
class TupleNote:
    """`(Tensor[(4), float32], int32)`."""

    fields: tuple[Any, ...]


@dataclass(frozen=True)
class FunctionNote:
    """`fn (float32) -> float32`."""

    params: tuple[Any, ...]
    result: Any


@dataclass(frozen=True)
class Number:
    """`1.5f`, `12`, `12i64`, `True`: a scalar constant."""

    value: int | float | bool
    dtype: str
    line: int = 0


@dataclass(frozen=True)
class Variable:
    """`%x`, `%3`, `%layer1.0.weight`; the name without its sign. Digits alone name a binding of the graph."""

    name: str
    line: int = 0


@dataclass(frozen=True)
class Global:
    """`@main`."""

    name: str
    line: int = 0


@dataclass(frozen=True)
class Name:
    """`nn.conv2d`: an operator."""

    name: str
    line: int = 0


@dataclass(frozen=True)
class Meta:
    """`meta[relay.Constant][0]`."""

    key: str
    index: int
    line: int = 0


@dataclass(frozen=True)
class TupleOf:
    """`(%a, %b)`, `(%a,)`, `()`."""

    fields: tuple[Any, ...]


@dataclass(frozen=True)
class Project:
    """`%x.0`: an item of a tuple."""

    value: Any
    index: int


@dataclass(frozen=True)
class Operation:
    """`a + b`: an operator between two values."""

    sign: str
    left: Any
    right: Any
    line: int = 0


@dataclass(frozen=True)
class Apply:
    """`nn.conv2d(%x, %w, padding=[1, 1, 1, 1])`."""

    callee: Any
    args: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True)
class Bind:
    """`%3 = ...;`, `let %x = ...;` (`type_note` if it is written), `free_var %x: ...;` (no value)."""

    name: str
    value: Any
    type_note: Any = None
    line: int = 0


@dataclass(frozen=True)
class Body:
    """Bindings, in order, and the value behind them."""

    binds: tuple[Bind, ...]
    result: Any


@dataclass(frozen=True)
class Param:
    """`%x: Tensor[(1, 3), float32]`; no type: None."""

    name: str
    type_note: Any = None


@dataclass(frozen=True)
class Fn:
    """`fn (%x) { ... }`, or what stands behind `def @main`."""

    params: tuple[Param, ...]
    attributes: dict[str, Any]
    result_note: Any
    body: Any
    line: int = 0


@dataclass(frozen=True)
class IfElse:
    """`if (c) { a } else { b }`."""

    condition: Any
    then: Any
    otherwise: Any
    line: int = 0


@dataclass(frozen=True)
class Text:
    """A whole text: {name: function} in order; `metadata` is the JSON behind `#[metadata]`, if any."""

    functions: dict[str, Fn]
    metadata: str | None = None
