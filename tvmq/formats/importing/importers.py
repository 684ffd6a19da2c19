"""Registration of the user's importers: for ONNX nodes of custom domains, and for custom operators of torch.

@tvmq.extension.importer("my.domain", "Gate")
def gate(call):
    return relax.op.multiply(call.input(0), relax.op.sigmoid(call.input(1)))

@tvmq.extension.torch_importer("my_chip::gate")
def gate(call):
    return relax.op.multiply(call["x"], relax.op.sigmoid(call["y"]))
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from tvmq.errors import ConfigError

Convert = TypeVar("Convert", bound=Callable[[Any], Any])

SEPARATOR = "::"  # between domain and operator: no name of ONNX's own operators has it
ONNX_DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
TORCH_NAMESPACES = ("aten", "prim", "prims")
TORCH_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(\.\w+)?")

_onnx: dict[str, Callable[[Any], Any]] = {}
_torch: dict[str, Callable[[Any], Any]] = {}


def importer(domain: str, operator: str) -> Callable[[Convert], Convert]:
    """Decorator of a function that imports the ONNX nodes of an operator of your own domain.

    The function gets the node as a `NodeCall` (inputs, attributes, shapes; `call.unsupported_error(...)` is the error
    to raise) and returns a Relax expression, or a tuple of them for several outputs. It takes precedence over a
    function of that name in the model.

    raises   ConfigError for ONNX's standard domains, for anything but a function, and for an operator that already
             has an importer

    >>> @importer("doc.example", "Twice")
    ... def twice(call):
    ...     return tvm.relax.op.add(call.input(0), call.input(0))
    """
    if not isinstance(domain, str) or not isinstance(operator, str) or not operator or SEPARATOR in domain + operator:
        raise ConfigError(f"importer: domain and operator must be strings. Got {domain!r} and {operator!r} instead")
    if domain in ONNX_DOMAINS:
        raise ConfigError(
            f"importer: '{domain or 'ai.onnx'}' is a standard domain of ONNX; write a pass for its operators, or name "
            "your own domain"
        )
    return _registration(_onnx, f"{domain}{SEPARATOR}{operator}", "importer")


def torch_importer(operator: str) -> Callable[[Convert], Convert]:
    """Decorator of a function that imports a custom operator of torch (torch.library.custom_op).

    operator  "namespace::name", all overloads, or one of them: "namespace::name.overload"

    The function gets the node as a `TorchCall`: call["x"] is an argument by its name in the operator's schema. It gives
    a Relax expression, or a tuple of them.
    raises   ConfigError for torch's own operators, for anything but a function, and for an operator that already
             has an importer

    >>> @torch_importer("doc_example::twice")
    ... def twice(call):
    ...     return tvm.relax.op.add(call["x"], call["x"])
    """
    if not isinstance(operator, str) or not TORCH_NAME.fullmatch(operator):
        raise ConfigError(f"torch_importer: write the operator as 'namespace::name'. Got {operator!r} instead")
    if operator.partition(SEPARATOR)[0] in TORCH_NAMESPACES:
        raise ConfigError(
            f"torch_importer: '{operator}' belongs to torch itself; write a pass for it, or name your own operator"
        )
    return _registration(_torch, operator, "torch_importer")


def _registration(table: dict[str, Callable[[Any], Any]], key: str, stage: str) -> Callable[[Convert], Convert]:
    def register(function: Convert) -> Convert:
        if not callable(function):
            raise ConfigError(f"{stage}: '{key}' needs a function as importer. Got a {type(function).__name__} instead")
        known = table.get(key)
        if known is not None and _place(known) != _place(function):  # a cell of a notebook may be run again
            raise ConfigError(f"{stage}: '{key}' already has the importer {_place(known)}; rename one of the two")
        table[key] = function
        return function

    return register


def _place(function: Any) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"


def check_result(call: Any, result: Any) -> Any:
    """The Relax expression, or tuple of them, that the user's importer of a call returned."""
    from tvm import relax

    if isinstance(result, tuple | list) and all(isinstance(item, relax.Expr) for item in result):
        return tuple(result)
    if not isinstance(result, relax.Expr):
        kind = type(result).__name__
        raise call.unsupported_error(f"its importer returned a {kind}", "return a Relax expression or a tuple of them")
    return result


def onnx_importer(key: str) -> Callable[[Any], Any] | None:
    """The function for "domain::Operator"; None if there is none."""
    return _onnx.get(key)


def own_onnx_operators() -> frozenset[str]:
    """All names "domain::Operator"."""
    return frozenset(_onnx)


def own_torch_name(target: Any) -> str | None:
    """The name of a torch operator under which a function is registered; None if there is none."""
    namespace, overload = getattr(target, "namespace", None), getattr(target, "_overloadname", "default")
    schema = getattr(target, "_schema", None)
    if namespace is None or schema is None:
        return None
    name = str(schema.name)
    return next((key for key in (f"{name}.{overload}", name) if key in _torch), None)


def own_torch_importer(key: str) -> Callable[[Any], Any] | None:
    """The function for "namespace::name"; None if there is none."""
    return _torch.get(key)
