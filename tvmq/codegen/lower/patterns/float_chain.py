"""Element-wise floats behind the sums of a product: what its kernel computes in registers.

    sums -> dequantize -> [add, multiply, clip, sigmoid, ... with numbers, one a channel, or each other] -> [quantize]

No value in between is read from outside. Numbers of zero stay outside: the compiler would simplify x * 0 and x + 0.
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq.codegen.kernels.parts.float_chain import OPERATORS
from tvmq.codegen.kernels.parts.kernel_types import FloatSteps
from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, sizes_of
from tvmq.numerics.code_type import CODES_8
from tvmq.numerics.elementary import ELEMENTARY

PAIRS = where(kind=ARITHMETIC, is_own=False)
MOST_STEPS = 8  # each costs registers, and code in every row of a tile


def chain_behind(view: View, head: str, axis: int, owned: set[str], *, long_kernels: bool = True) -> list[str]:
    """The bindings behind a dequantize that its kernel computes too, in order.

    axis   of the channels
    owned  bindings that other chains compute
    long_kernels  functions such as exp, whose code is long, may be in it
    """
    members, closed = [head], 0
    while len(members) <= MOST_STEPS:
        reader = _next_reader(view, members)
        is_long = reader is not None and not long_kernels and op_name(view.value[reader]) in ELEMENTARY
        if reader is None or reader in owned or is_long or not _fits(view, reader, members, axis):
            break
        members.append(reader)
        if _is_closed(view, members):
            closed = len(members) - 1
    members = members[: closed + 1]
    reader = view.only_reader(members[-1])
    if reader is not None and reader not in owned and _is_quantize(view.value[reader]):
        members.append(reader)
    return members[1:]


def float_steps(view: View, first: str, members: list[str], filters: int) -> FloatSteps:
    """Steps of a kernel for `members`, which `chain_behind` has chosen; `first` is the dequantize."""
    numbers, channels = {first: 0}, dict[str, np.ndarray]()
    steps: list[tuple[str, tuple[int | float | str, ...]]] = []
    codes = None
    for name in members:
        call = view.value[name]
        if op_name(call) == "tvmq.quantize":
            scale, zero_point = (const_value(arg).reshape(-1)[0] for arg in call.args[1:])
            attrs = call.attrs
            codes = float(scale), int(zero_point), int(attrs.qmin), int(attrs.qmax), str(attrs.dtype)
            break
        places: list[int | float | str] = []
        for arg in call.args:
            if isinstance(arg, relax.Var):
                places.append(numbers[arg.name])
            elif not is_const(arg):
                places.append(float(arg.value))
            elif const_value(arg).size == 1:
                places.append(float(const_value(arg).reshape(-1)[0]))
            else:
                channels[f"channel{len(channels)}"] = const_value(arg).reshape(filters)
                places.append(f"channel{len(channels) - 1}")
        if op_name(call) == "nn.leakyrelu":
            places.append(float(call.attrs.alpha))
        steps.append((op_name(call), tuple(places)))
        numbers[name] = len(steps)
    return FloatSteps(tuple(steps), channels, codes)


def _next_reader(view: View, members: list[str]) -> str | None:
    """The first binding, in the order of the module, that reads a member and is none."""
    readers = {reader for name in members for reader in view.readers[name]} - set(members)
    return min(readers, key=view.place.__getitem__, default=None)


def _is_closed(view: View, members: list[str]) -> bool:
    """True if only members read the members, but for the last one."""
    inner = members[:-1]
    return not any(view.is_output(name) or set(view.readers[name]) - set(members) for name in inner)


def _fits(view: View, name: str, members: list[str], axis: int) -> bool:
    call, head = view.value[name], view.var[members[0]]
    operator = op_name(call)
    if operator not in OPERATORS or dtype_of(view.var[name]) != "float32" or sizes_of(view.var[name]) != sizes_of(head):
        return False
    if operator == "nn.leakyrelu" and float(call.attrs.alpha) == 0:
        return False
    tensors = [arg for arg in call.args if isinstance(arg, relax.Var)]
    if not tensors or not all(arg.name in members for arg in tensors):
        return False
    if operator in ("subtract", "divide") and len(tensors) == 2 and tensors[0].same_as(tensors[1]):
        return False
    constants = [const_value(arg) for arg in call.args if is_const(arg)]
    return all(_is_number_or_channels(value, sizes_of(head), axis) for value in constants)


def _is_number_or_channels(value: np.ndarray, sizes: tuple[int | str, ...], axis: int) -> bool:
    """True for a number that is not 0, or one for each channel."""
    if value.dtype != np.float32 or value.ndim > len(sizes):
        return False
    if value.size == 1:
        return bool(value.all())
    shape = (1,) * (len(sizes) - value.ndim) + value.shape
    return all(size == (sizes[at] if at == axis else 1) for at, size in enumerate(shape))


def _is_quantize(call: relax.Call) -> bool:
    """True for a quantize to 8 bits with one scale."""
    if op_name(call) != "tvmq.quantize" or call.attrs.dtype not in CODES_8:
        return False
    return all(is_const(arg) and const_value(arg).size == 1 for arg in call.args[1:])
