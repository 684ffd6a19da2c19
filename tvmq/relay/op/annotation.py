"""relay.annotation: marks on values; they change no value, and Relax needs none of them."""

from __future__ import annotations

from typing import Any

from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import call
from tvmq.relay.op.registry import REQUIRED, register


def _identity(emit: Any, args: list[Any], attrs: Any) -> Any:
    return args[0]


register("annotation.stop_fusion")(_identity)
register("annotation.cast_hint", dtype=REQUIRED)(_identity)
register("annotation.compiler_begin", compiler="")(_identity)
register("annotation.compiler_end", compiler="")(_identity)
register("on_device", device=None)(_identity)


def stop_fusion(data: Expr) -> Call:
    """A mark, as relay.annotation.stop_fusion; which operators are compiled as one is decided later."""
    return call("annotation.stop_fusion", data)


def cast_hint(data: Expr, dtype: str) -> Call:
    """A mark, as the operator annotation.cast_hint: the element type that memory should hold."""
    return call("annotation.cast_hint", data, dtype=str(dtype))


def compiler_begin(data: Expr, compiler: str) -> Call:
    """A mark, as relay.annotation.compiler_begin."""
    return call("annotation.compiler_begin", data, compiler=compiler)


def compiler_end(data: Expr, compiler: str) -> Call:
    """A mark, as relay.annotation.compiler_end."""
    return call("annotation.compiler_end", data, compiler=compiler)


def on_device(body: Expr, device: Any = None, constrain_result: bool = False, constrain_body: bool = True) -> Call:
    """A mark, as relay.annotation.on_device; the target of the build decides."""
    return call("on_device", body, device=str(device))
