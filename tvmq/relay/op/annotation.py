"""relay.annotation: marks on values, of which Relax needs none; and simulated_quantize, which rounds in float.

Tests: tests/relay/test_ops.py
"""

from __future__ import annotations

from typing import Any

from tvmq.errors import ModelError
from tvmq.extension import ops
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op.arguments import as_expr, call
from tvmq.relay.op.registry import REQUIRED, register

# Relay's name of the operator
SIMULATED = "relay.op.annotation.simulated_quantize"


def _identity(emit: Any, args: list[Any], attrs: Any) -> Any:
    return args[0]


register("annotation.stop_fusion")(_identity)
register("annotation.cast_hint", dtype=REQUIRED)(_identity)
register("annotation.compiler_begin", compiler="")(_identity)
register("annotation.compiler_end", compiler="")(_identity)
register("on_device", device=None)(_identity)


@register(
    SIMULATED,
    kind=REQUIRED, sign=True, rounding="round", tensor="", dtype="int8", bits=8, symmetric=True, axis=-1,
)  # fmt: skip
def _simulated_quantize(emit: Any, args: list[Any], attrs: Any) -> Any:
    from tvmq.relay.quantize._annotate import simulate_uncalibrated
    from tvmq.relay.quantize.qconfig import kind2str

    if len(args) == 1:
        return emit(simulate_uncalibrated(args[0], attrs.kind))
    if len(args) != 3:
        raise ModelError(
            f"relay, {SIMULATED}: it takes a tensor, or a tensor, its scale and its zero point. Got {len(args)} "
            "operands; Relay's clip_min and clip_max are left out, the bits of the codes say both"
        )
    spec = {key: attrs[key] for key in ("dtype", "bits", "symmetric", "axis")}
    return emit(ops.simulated_quantize(*args, kind=kind2str(attrs.kind), tensor=attrs.tensor, **spec))


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


def simulated_quantize(data: Expr, kind: int, sign: bool = True, rounding: str = "round") -> Call:
    """As relay.op.annotation.simulated_quantize, not calibrated yet: see `_annotate.attach_simulated_quantize`."""
    from tvmq.relay.quantize._annotate import attach_simulated_quantize

    return attach_simulated_quantize(as_expr(data), kind, sign, rounding)
