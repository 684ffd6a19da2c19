"""Epilogue of a convolution or product: the steps behind its sums in a chain, as the templates want them.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.codegen.kernels.parts.kernel_types import (
    AddStep,
    Clip,
    Dequantize,
    Epilogue,
    FixedRequantize,
    Requantize,
    TableStep,
)
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.patterns.float_chain import float_steps
from tvmq.graph.view import View, const_value, dtype_of, op_name


@dataclass
class Finish:
    """Bias and epilogue of a chain.

    bias      int32 or float32 [filters]; None without one
    epilogue  steps in order
    others    further activations that the steps read (second operand of a residual add)
    end       variable that the kernel gives
    """

    bias: np.ndarray | None = None
    epilogue: Epilogue = ()
    others: list[str] = field(default_factory=list)
    end: str = ""


def finish_of(view: View, chain: Chain, filters: int) -> Finish:
    """Translate the members behind the head."""
    finish = Finish(end=chain.head)
    behind = chain.after_head()
    for place, name in enumerate(behind, 1):
        call = view.value[name]
        step = _STEPS[op_name(call)](view, finish, call, filters)
        if step is not None:
            finish.epilogue = (*finish.epilogue, step)
        finish.end = name
        if isinstance(step, Dequantize) and behind[place:]:
            finish.epilogue = (*finish.epilogue, float_steps(view, name, behind[place:], filters))
            finish.end = behind[-1]
            break
    return finish


def _bias(_view: View, finish: Finish, call: relax.Call, filters: int) -> None:
    bias = const_value(call.args[1]).reshape(-1)
    finish.bias = np.ascontiguousarray(np.broadcast_to(bias, (filters,)))


def named_alike(step: type, call: relax.Call) -> dict[str, Any]:
    """The attributes of a call that a step of a kernel has by the same name."""
    return {one.name: getattr(call.attrs, one.name) for one in fields(step) if hasattr(call.attrs, one.name)}


def requantize_step(call: relax.Call, filters: int) -> Requantize:
    """The step for a tvmq.requantize of mode float."""
    multiplier = np.broadcast_to(const_value(call.args[1]).astype(np.float32).reshape(-1), (filters,))
    return Requantize(np.ascontiguousarray(multiplier), **named_alike(Requantize, call))


def fixed_requantize_step(call: relax.Call, filters: int) -> FixedRequantize:
    """The step for a tvmq.requantize of mode fixed_point or power_of_two."""
    constants = numerics.fixed_point_constants(*map(const_value, call.args[1:3]), mode=str(call.attrs.mode))
    multiplier, shift = (np.ascontiguousarray(np.broadcast_to(v.ravel(), (filters,)), np.int32) for v in constants)
    return FixedRequantize(multiplier, shift, **named_alike(FixedRequantize, call))


def codes_step(call: relax.Call, filters: int) -> Requantize | FixedRequantize:
    """The step for a tvmq.requantize."""
    return (requantize_step if call.attrs.mode == "float" else fixed_requantize_step)(call, filters)


def dequantize_step(call: relax.Call, filters: int) -> Dequantize:
    """The step for a tvmq.dequantize of sums, whose zero points are 0."""
    scale = np.broadcast_to(const_value(call.args[1]).astype(np.float32).reshape(-1), (filters,))
    return Dequantize(np.ascontiguousarray(scale))


def add_step(call: relax.Call, name: str) -> tuple[AddStep, str]:
    """The step for tvmq.add where `name` is what the kernel has computed, and the other operand."""
    a, b = call.args
    other = b if a.name == name else a
    step = AddStep(b_dtype=dtype_of(other), **named_alike(AddStep, call))
    if other is a:
        step = replace(step, a_multiplier=step.b_multiplier, b_multiplier=step.a_multiplier)
    return step, other.name


def _add(view: View, finish: Finish, call: relax.Call, filters: int) -> AddStep | None:
    if any(not isinstance(arg, relax.Var) for arg in call.args):
        _bias(view, finish, call, filters)
        return None
    step, other = add_step(call, finish.end)
    finish.others.append(other)
    return step


def _clip(_view: View, _finish: Finish, call: relax.Call, _filters: int) -> Clip:
    if op_name(call) == "nn.relu":
        return Clip(0.0, float("inf"))
    return Clip(float(call.args[1].value), float(call.args[2].value))


_STEPS: dict[str, Any] = {
    "add": _bias,
    "tvmq.requantize": lambda view, finish, call, filters: codes_step(call, filters),
    "tvmq.dequantize": lambda view, finish, call, filters: dequantize_step(call, filters),
    "tvmq.add": _add,
    "tvmq.table": lambda view, finish, call, filters: TableStep(const_value(call.args[1])),
    "nn.relu": _clip,
    "clip": _clip,
}
