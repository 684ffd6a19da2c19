"""Relay's operators by name: attributes with the values they have where a text leaves them out, and their Relax form.

Each file of this folder registers one family:

    @register("nn.leaky_relu", alpha=0.25)
    def _leaky_relu(emit, args, attrs):
        return emit(relax.op.nn.leakyrelu(args[0], attrs.alpha))

Tests: tests/relay/quantize/test_classic_cases.py
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.extension import simulate_by

FAMILIES = (
    "annotation", "conv", "create", "elementwise", "image", "norm", "pool", "qnn", "reduce", "shape_change",
)  # fmt: skip
REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "REQUIRED"})()

# (emit, operands in Relax, attributes) -> result in Relax
Lowering = Callable[[Any, list[Any], Any], Any]
# (types of the operands, None where there is none yet; attributes) -> {operand: its type}
Completion = Callable[[list[Any], Any], dict[int, Any]]


class Attrs(Mapping[str, Any]):
    """The attributes of a call, read as attrs.name or attrs["name"]; they cannot be changed.

    >>> attrs = Attrs({"axis": 1})
    >>> attrs.axis, attrs["axis"], list(attrs)
    (1, 1, ['axis'])
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", MappingProxyType(dict(values)))

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __getattr__(self, key: str) -> Any:
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError(f"attributes {list(self._values)} have no '{key}'") from None

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"attribute '{key}' of a call cannot be changed; make the call anew")

    def __reduce__(self) -> tuple[Any, ...]:
        return Attrs, (dict(self._values),)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple((key, str(value)) for key, value in self._values.items()))

    def __repr__(self) -> str:
        return f"Attrs({dict(self._values)})"


class Op:
    """An operator: equal to another of the same name.

    name      Relay's name, nn.conv2d
    defaults  {attribute: its value where a call names none; REQUIRED where it must}, in the order of Relay's printer
    """

    def __init__(self, name: str, lowering: Lowering, defaults: Mapping[str, Any]) -> None:
        self.name = name
        self.lowering = lowering
        self.defaults = MappingProxyType(dict(defaults))
        self.completion: Completion | None = None

    def attributes(self, arguments: Mapping[str, Any] | None) -> Attrs:
        """All attributes of a call; raises ModelError for one that is unknown or missing."""
        arguments = dict(arguments or {})
        unknown = [key for key in arguments if key not in self.defaults]
        if unknown:
            raise ModelError(f"relay, {self.name}: no attribute '{unknown[0]}'; it has {list(self.defaults)}")
        values = {**self.defaults, **arguments}
        missing = [key for key, value in values.items() if value is REQUIRED]
        if missing:
            raise ModelError(f"relay, {self.name}: attribute '{missing[0]}' is missing; give it a value")
        return Attrs(values)

    def reset_attr(self, attr_name: str) -> None:
        """Take back what was registered for it: "FTVMCompute", by `register_compute`; nothing else ever is."""
        if attr_name == "FTVMCompute":
            simulate_by(None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Op({self.name})"


_OPS: dict[str, Op] = {}


def register(name: str, **defaults: Any) -> Callable[[Lowering], Lowering]:
    """Decorator: the Relax form of an operator; `defaults` as in Op."""

    def decorate(lowering: Lowering) -> Lowering:
        _OPS[name] = Op(name, lowering, defaults)
        return lowering

    return decorate


def completes(*names: str) -> Callable[[Completion], Completion]:
    """Decorator: the types that operands without one get from the others, such as weights of a convolution."""

    def decorate(completion: Completion) -> Completion:
        for name in names:
            _OPS[name].completion = completion
        return completion

    return decorate


def names() -> list[str]:
    """Names of all operators, sorted.

    >>> "nn.conv2d" in names()
    True
    """
    for family in FAMILIES:
        importlib.import_module(f"tvmq.relay.op.{family}")
    return sorted(_OPS)


def get(name: str) -> Op:
    """The operator of a name, as relay.op.get; raises UnsupportedOpError with what to do for one that is not here.

    >>> get("nn.conv2d").defaults["groups"]
    1
    """
    if name not in _OPS and name not in names():
        from tvmq.relay.advice import advice

        raise UnsupportedOpError(f"relay, operator '{name}' has no counterpart here; {advice(name)}")
    return _OPS[name]
