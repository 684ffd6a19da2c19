"""What follows the sums of a convolution or product in a chain, as the templates want it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq.graph.view import View, const_value, dtype_of, op_name
from tvmq.kernels.parts.types import AddStep, Clip, Dequantize, Epilogue, FixedRequantize, Requantize, TableStep
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.patterns.float_chain import float_steps


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


def requantize_step(call: relax.Call, filters: int) -> Requantize:
    """The step for a tvmq.requantize of mode float."""
    attrs = call.attrs
    multiplier = np.broadcast_to(const_value(call.args[1]).astype(np.float32).reshape(-1), (filters,))
    codes = (attrs.zero_point, attrs.qmin, attrs.qmax, attrs.dtype)
    return Requantize(np.ascontiguousarray(multiplier), *codes, negative_slope=float(attrs.negative_slope))


def fixed_requantize_step(call: relax.Call, filters: int) -> FixedRequantize:
    """The step for a tvmq.requantize of mode fixed_point or power_of_two."""
    attrs, shift = call.attrs, const_value(call.args[2]).astype(np.int32)
    multiplier = const_value(call.args[1]).astype(np.int32)
    if attrs.mode == "power_of_two":  # 2^shift = 2^30 * 2^(shift + 1 - 31)
        multiplier, shift = np.full_like(shift, 2**30), shift + 1
    multiplier, shift = (np.ascontiguousarray(np.broadcast_to(np.ravel(v), (filters,))) for v in (multiplier, shift))
    codes = (attrs.zero_point, attrs.qmin, attrs.qmax, attrs.dtype)
    return FixedRequantize(multiplier, shift, attrs.rounding, *codes)


def codes_step(call: relax.Call, filters: int) -> Requantize | FixedRequantize:
    """The step for a tvmq.requantize."""
    return (requantize_step if call.attrs.mode == "float" else fixed_requantize_step)(call, filters)


def dequantize_step(call: relax.Call, filters: int) -> Dequantize:
    """The step for a tvmq.dequantize of sums, whose zero points are 0."""
    scale = np.broadcast_to(const_value(call.args[1]).astype(np.float32).reshape(-1), (filters,))
    return Dequantize(np.ascontiguousarray(scale))


def add_step(call: relax.Call, name: str) -> tuple[AddStep, str]:
    """The step for tvmq.add where `name` is what the kernel has computed, and the other operand."""
    attrs = call.attrs
    a, b = call.args
    own, other = (attrs.a_multiplier, attrs.b_multiplier), b
    if a.name != name:
        own, other = (attrs.b_multiplier, attrs.a_multiplier), a
    step = AddStep(
        *own,
        offset=attrs.offset,
        shift=attrs.shift,
        zero_point=attrs.zero_point,
        qmin=attrs.qmin,
        qmax=attrs.qmax,
        b_dtype=dtype_of(other),
        dtype=attrs.dtype,
    )
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
