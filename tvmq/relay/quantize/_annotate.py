"""relay.quantize._annotate: the names that scripts import from there.

Tests: tests/relay/quantize/test_quantize.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tvm import relax

from tvmq import QuantSpec
from tvmq.errors import ConfigError
from tvmq.extension import op_name, ops
from tvmq.relay.expr import Call, Expr
from tvmq.relay.op import registry
from tvmq.relay.op.annotation import SIMULATED
from tvmq.relay.quantize.context import QAnnotateExpr, quantize_context, register_annotate_function
from tvmq.relay.quantize.qconfig import QAnnotateKind, current_qconfig, kind2str
from tvmq.relay.quantize.translate import to_tvmq


def attach_simulated_quantize(data: Any, kind: int, sign: bool = True, rounding: str = "round") -> Any:
    """simulated_quantize(data), not calibrated yet: the identity until `calibrate` gives it a scale.

    data     a tensor of Relay's expressions or of Relax, with at least one axis; one that is a simulated_quantize of
             the same kind stays as it is
    kind     of QAnnotateKind, which chooses the bits
    returns  the call; the same one for the same data inside of one `with quantize_context()`
    raises   ConfigError unless sign is True and rounding "round": Relay had no others
    """
    if not sign or rounding != "round":
        raise ConfigError(
            f"relay.quantize: codes are signed and rounded. Got sign={sign}, rounding={rounding!r}; leave both out"
        )
    if kind == QAnnotateKind.IDENTITY or _is_of_kind(data, kind):
        return data
    known = quantize_context().qnode_map
    key = (data, kind, sign, rounding)
    if key not in known:
        known[key] = _of_relay(data, kind) if isinstance(data, Expr) else simulate_uncalibrated(data, kind)
    return known[key]


def _of_relay(data: Expr, kind: int) -> Call:
    """The call as a node of Relay's; what it is in Relax is decided when its operand's type is known."""
    return Call(registry.get(SIMULATED), [data], {"kind": kind})


def simulate_uncalibrated(data: relax.Expr, kind: int) -> relax.Call:
    """The call of Relax without a scale; the options of the scope around say the bits of its kind."""
    config = to_tvmq(current_qconfig())
    weight = kind == QAnnotateKind.WEIGHT
    spec: QuantSpec = config.weight_spec if weight else config.activation_spec
    return ops.simulated_quantize(
        data,
        relax.const(np.float32(0)),
        relax.const(np.int32(0)),
        kind="weight" if weight else kind2str(kind),
        tensor=str(getattr(data, "name", kind2str(kind))),
        dtype=spec.dtype,
        bits=spec.bits,
        symmetric=True,
    )


def _is_of_kind(data: Any, kind: int) -> bool:
    if isinstance(data, Expr):
        return isinstance(data, Call) and getattr(data.op, "name", "") == SIMULATED and data.attrs.kind == kind
    return op_name(data) == "tvmq.simulated_quantize" and str(data.attrs.kind) == kind2str(kind)


def __getattr__(name: str) -> Any:
    if name.endswith("_rewrite"):
        raise AttributeError(
            f"relay.quantize._annotate.{name}: rules for single operators are families here, "
            "tvmq/passes/families/*.py; to keep an operator in float use tvmq.Rule or register_annotate_function"
        )
    raise AttributeError(f"module 'tvmq.relay.quantize._annotate' has no attribute {name!r}")


__all__ = ["QAnnotateExpr", "QAnnotateKind", "attach_simulated_quantize", "register_annotate_function"]
