"""relay.op.register_compute: code of one's own for simulated_quantize, and the registrations that stand beside it.

    @relay.op.register_compute("relay.op.annotation.simulated_quantize")
    def simulated_quantize_compute(attrs, inputs, out_type):
        data, scale, clip_min, clip_max = inputs
        ...
        return [result]                                                # TE tensors

It counts wherever a simulation runs, as `tvmq.extension.simulate_by` says: do_simulation, the guard's trials, search,
compare, and tvmq.training.FakeQuantize, straight through or by a gradient of one's own. Realized integers keep their
own rounding, as in Relay; so do networks of training.prepare, whose forward pass is the integers.
Other operators get no code here: they are a tvmq.Lowering or a tvmq.extension.operator.

Tests: tests/relay/test_register_compute.py
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tvm
from tvm import te

from tvmq.errors import UnsupportedOpError
from tvmq.extension import simulate_by
from tvmq.relay.op.annotation import SIMULATED
from tvmq.relay.op.registry import Attrs
from tvmq.relay.types import TensorType

Compute = Callable[..., Any]


class OpPattern:
    """Relay's kinds of operators for fusion; tvmq.build finds out by itself what can be fused."""

    ELEMWISE, BROADCAST, INJECTIVE, COMM_REDUCE, OUT_ELEMWISE_FUSABLE, TUPLE, OPAQUE = 0, 1, 2, 3, 4, 7, 8


def register_compute(
    op_name: str,
    compute: Compute | None = None,
    level: int = 10,
    *,
    definition: Callable[..., Any] | None = None,
    gradient: Callable[..., Any] | None = None,
) -> Any:
    """Compute simulated_quantize by code of one's own, as relay.op.register_compute; a decorator without `compute`.

    op_name     "relay.op.annotation.simulated_quantize"
    compute     (attrs, inputs, out_type) or, as until TVM 0.5, with a target behind them -> [a TE tensor], each value
                by itself. inputs are the tensor, the scale, and the least and largest steps, which broadcast to it;
                attrs has kind, sign and rounding, and tensor, dtype, bits, symmetric and axis of tvmq
    level       no effect: the last registration counts
    definition  (attrs, arrays) -> array, NumPy's, which `tvmq.verify` compares with; None: compute, compiled by itself
    gradient    (attrs, arrays) -> slope of each value, NumPy's, for tvmq.training.FakeQuantize; None: straight through
    raises      UnsupportedOpError for another operator, with what to do

    `relay.op.get(op_name).reset_attr("FTVMCompute")` brings the usual rounding back.

    >>> from tvmq.relay.op import get
    >>> from tvmq.relay.tvm import topi
    >>> _ = register_compute(SIMULATED, lambda attrs, inputs, out_type: [topi.identity(inputs[0])])
    >>> get(SIMULATED).reset_attr("FTVMCompute")
    """
    check_name(op_name)
    if compute is None:
        return lambda function: register_compute(
            op_name, function, level, definition=definition, gradient=gradient
        )
    counts_target = _takes_target(compute)

    def loops(x: te.Tensor, *operands: Any) -> te.Tensor:
        *limits, attributes = operands
        arguments = [_attrs_of(attributes), [x, *limits], TensorType(tuple(x.shape), str(x.dtype))]
        result = compute(*arguments, *[tvm.target.Target.current(allow_none=True)] * counts_target)
        return result[0] if isinstance(result, list | tuple) else result

    def of_arrays(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
        return function and (lambda *arrays: function(_attrs_of(arrays[-1]), list(arrays[:-1])))

    simulate_by(loops, of_arrays(definition), of_arrays(gradient))
    return compute


def check_name(op_name: str) -> None:
    """Raise UnsupportedOpError for an operator that gets no code here."""
    if op_name != SIMULATED:
        from tvmq.relay.advice import OWN_CODE

        raise UnsupportedOpError(f"relay, '{op_name}': only {SIMULATED} gets code by register_compute; {OWN_CODE}")


def _takes_target(compute: Compute) -> bool:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in inspect.signature(compute).parameters.values()) > 3


def _attrs_of(attributes: Mapping[str, Any]) -> Attrs:
    """Attributes as Relay's compute reads them; the kind is a number of QAnnotateKind."""
    from tvmq.relay.quantize.qconfig import kind_named

    return Attrs({**attributes, "kind": kind_named(attributes["kind"]), "sign": True, "rounding": "round"})


def register_schedule(op_name: str, schedule: Any = None, level: int = 10) -> Any:
    """Accepted for simulated_quantize, as relay.op.register_schedule; tvmq.build schedules."""
    check_name(op_name)
    return schedule if schedule is not None else lambda function: function


def register_injective_schedule(op_name: str, level: int = 10) -> None:
    """Accepted for simulated_quantize, as relay.op.register_injective_schedule."""
    check_name(op_name)


def register_pattern(op_name: str, pattern: int, level: int = 10) -> None:
    """Accepted for simulated_quantize, as relay.op.register_pattern."""
    check_name(op_name)


def schedule_injective(attrs: Any, outs: Any, target: Any) -> None:
    """Schedule that scripts hand to `register_schedule`; nothing calls it."""
