"""Which bindings stand around a layer norm or rms norm and become one kernel with it.

    [add of two tensors ->] layer_norm -> [[multiply by a vector ->] quantize with one scale]

Sum and norm may have other readers (a residual stream): these must stand behind the last of them.
"""

from __future__ import annotations

from math import prod

from tvm import relax

from tvmq.graph.sizes import is_number
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, shape_of, sizes_of
from tvmq.kernels.parts.float_vectors import LEAST_SCALE, MOST_SCALE

NORMS = ("tvmq.layer_norm", "tvmq.rms_norm")
CODES = ("uint8", "int8")


def around_norm(view: View, name: str, taken: set[str]) -> list[str]:
    """The norm with the sum before and the quantize behind it, as far as they go together."""
    position = {var.name: index for index, (var, _) in enumerate(view.bindings)}
    sizes, axes = sizes_of(view.var[name]), int(view.value[name].attrs.axes)
    if not all(map(is_number, sizes[len(sizes) - axes :])) or 0 in sizes:
        return [name]
    after = _codes_behind(view, name, taken)
    source = view.value[name].args[0]
    before = [source.name] if _is_sum(view, source) and source.name not in taken else []
    candidates = ([*before, name, *after], [*before, name], [name, *after])
    return next((members for members in candidates if _others_follow(view, members, position)), [name])


def _codes_behind(view: View, name: str, taken: set[str]) -> list[str]:
    """The quantize of a norm, or its product with a constant vector (channels made alike) and the quantize of that."""
    readers = [reader for reader in view.readers[name] if reader not in taken]
    for reader in readers:
        if _to_codes(view, reader):
            return [reader]
    for reader in readers:
        behind = view.only_reader(reader) if _is_scaling(view, view.value[reader], name) else None
        if behind is not None and behind not in taken and _to_codes(view, behind):
            return [reader, behind]
    return []


def _is_scaling(view: View, call: relax.Expr, name: str) -> bool:
    """True for the product of rows and a constant of one number for each of their elements."""
    if op_name(call) != "multiply" or not is_const(call.args[1]) or int(view.value[name].attrs.axes) != 1:
        return False
    shape, length = shape_of(call.args[1]), sizes_of(view.var[name])[-1]
    return dtype_of(call.args[1]) == "float32" and prod(shape) == shape[-1] == length if shape else False


def _others_follow(view: View, members: list[str], position: dict[str, int]) -> bool:
    """True if whatever else reads a member stands behind the last one."""
    others = [reader for member in members[:-1] for reader in view.readers[member] if reader not in members]
    return all(position[reader] > position[members[-1]] for reader in others)


def _is_sum(view: View, source: relax.Expr) -> bool:
    """True for the sum of two float tensors of one shape that are both computed."""
    call = view.producer(source)
    if call is None or op_name(call) != "add" or dtype_of(source) != "float32":
        return False
    return all(isinstance(arg, relax.Var) and sizes_of(arg) == sizes_of(source) for arg in call.args)


def _to_codes(view: View, name: str) -> bool:
    """True for a quantize with one scale to 8 bits whose result nobody wants in another layout."""
    call = view.value[name]
    if op_name(call) != "tvmq.quantize" or call.attrs.dtype not in CODES:
        return False
    scale, zero_point = (const_value(arg) for arg in call.args[1:])
    if scale.size != 1 or zero_point.size != 1 or not LEAST_SCALE <= float(scale.reshape(-1)[0]) <= MOST_SCALE:
        return False
    readers = view.readers[name]
    return rank_of(view.var[name]) <= 3 or all(op_name(view.value[reader]) == "matmul" for reader in readers)
