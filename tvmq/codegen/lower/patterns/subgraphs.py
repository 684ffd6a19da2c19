"""Patterns of several operators that one kernel computes.

Attention in a module: the bindings between the product of queries and keys and that of their softmax with values.

    tvmq.matmul(q, k) -> dequantize -> [add a mask ->] softmax -> quantize -> tvmq.matmul(_, v)

Each has one reader, softmax runs over the keys, and each scale is one number.

Which bindings stand around a layer norm or rms norm and become one kernel with it.

    [add of two tensors ->] layer_norm -> [[multiply by a vector ->] quantize with one scale]

Sum and norm may have other readers (a residual stream): these must stand behind the last of them.

Depth-to-space of pictures of codes (pixel shuffle), which front ends write as reshape, transpose, reshape.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from tvm import relax

from tvmq.codegen.kernels.parts.float_vectors import LEAST_SCALE, MOST_SCALE
from tvmq.graph.sizes import is_number
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, shape_of, sizes_of
from tvmq.numerics.code_type import CODES_8


@dataclass(frozen=True)
class AttentionParts:
    """The bindings by their part, names of variables; `mask` is what is added to the scores, if anything is."""

    product: str
    scaled: str
    masked: str | None
    mask: relax.Expr | None
    softmax: str
    codes: str

    @property
    def members(self) -> list[str]:
        """All of them in order."""
        parts = (self.product, self.scaled, self.masked, self.softmax, self.codes)
        return [name for name in parts if name is not None]


def attention_before(view: View, head: str) -> AttentionParts | None:
    """Parts of an attention before its second product `head`; None if `head` is no such tvmq.matmul."""
    codes = view.value[head].args[0]
    quantize = _made_by(view, codes, "tvmq.quantize")
    if quantize is None or dtype_of(codes) not in CODES_8 or not _one_number(*quantize.args[1:]):
        return None
    softmax = _made_by(view, quantize.args[0], "tvmq.softmax")
    if softmax is None or int(softmax.attrs.axis) not in (-1, rank_of(softmax) - 1):
        return None
    scores = softmax.args[0]
    add, masked, mask = _made_by(view, scores, "add"), None, None
    if add is not None:
        sides = [_made_by(view, arg, "tvmq.dequantize") is not None for arg in add.args]
        if sides not in ([True, False], [False, True]):
            return None
        masked, scores, mask = scores.name, add.args[sides.index(True)], add.args[sides.index(False)]
        if not _same_sizes(view.var[masked], scores) or dtype_of(mask) != "float32":
            return None
    dequantize = _made_by(view, scores, "tvmq.dequantize")
    if dequantize is None or not _one_number(*dequantize.args[1:]) or const_value(dequantize.args[2]).any():
        return None
    product = dequantize.args[0]
    if _made_by(view, product, "tvmq.matmul") is None:
        return None
    return AttentionParts(product.name, scores.name, masked, mask, quantize.args[0].name, codes.name)


def _made_by(view: View, expr: relax.Expr, operator: str) -> relax.Call | None:
    """The call that a variable with one reader is bound to, if it is of that operator."""
    call = view.producer(expr)
    if call is None or op_name(call) != operator or view.only_reader(expr.name) is None:
        return None
    return call


def _one_number(*constants: relax.Expr) -> bool:
    return all(np.size(const_value(constant)) == 1 for constant in constants)


def _same_sizes(a: relax.Var, b: relax.Var) -> bool:
    """True for equal numbers and names of dynamic sizes: a mask may widen no score."""
    return [str(size) for size in a.ty.shape] == [str(size) for size in b.ty.shape]


NORMS = ("tvmq.layer_norm", "tvmq.rms_norm")


def around_norm(view: View, name: str, owned: set[str]) -> list[str]:
    """The norm with the sum before and the quantize behind it, as far as they go together."""
    position = {var.name: index for index, (var, _) in enumerate(view.bindings)}
    sizes, axes = sizes_of(view.var[name]), int(view.value[name].attrs.axes)
    if not all(map(is_number, sizes[len(sizes) - axes :])) or 0 in sizes:
        return [name]
    after = _codes_behind(view, name, owned)
    source = view.value[name].args[0]
    before = [source.name] if _is_sum(view, source) and source.name not in owned else []
    candidates = ([*before, name, *after], [*before, name], [name, *after])
    return next((members for members in candidates if _others_follow(view, members, position)), [name])


def _codes_behind(view: View, name: str, owned: set[str]) -> list[str]:
    """The quantize of a norm, or its product with a constant vector (channels made alike) and the quantize of that."""
    readers = [reader for reader in view.readers[name] if reader not in owned]
    for reader in readers:
        if _to_codes(view, reader):
            return [reader]
    for reader in readers:
        behind = view.only_reader(reader) if _is_scaling(view, view.value[reader], name) else None
        if behind is not None and behind not in owned and _to_codes(view, behind):
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
    if op_name(call) != "tvmq.quantize" or call.attrs.dtype not in CODES_8:
        return False
    scale, zero_point = (const_value(arg) for arg in call.args[1:])
    if scale.size != 1 or zero_point.size != 1 or not LEAST_SCALE <= float(scale.reshape(-1)[0]) <= MOST_SCALE:
        return False
    readers = view.readers[name]
    return rank_of(view.var[name]) <= 3 or all(op_name(view.value[reader]) == "matmul" for reader in readers)


# order of the transpose -> axis of the reshaped picture that holds the channels of the result
ORDERS = {(0, 3, 4, 1, 5, 2): 3, (0, 1, 4, 2, 5, 3): 1}


@dataclass(frozen=True)
class Shuffle:
    """The three bindings, the pixels (rows, columns) that one becomes, and the runs of channels that hold a block.

    groups is 1 where the place in the block comes first (DCR), the channels of the result where it comes last (CRD).
    """

    members: list[str]
    block: tuple[int, int]
    groups: int


def shuffle_at(view: View, name: str) -> Shuffle | None:
    """The depth-to-space whose result is `name`; None if that is something else, or not of codes."""
    spread, moved = view.value[name], view.producer(view.value[name].args[0])
    if moved is None or op_name(moved) != "permute_dims" or moved.attrs.axes is None:
        return None
    split = view.producer(moved.args[0])
    order = tuple(int(axis) for axis in moved.attrs.axes)
    if split is None or op_name(split) != "reshape" or order not in ORDERS or rank_of(spread) != 4:
        return None
    if dtype_of(spread) not in CODES_8:
        return None
    members = [moved.args[0].name, spread.args[0].name, name]
    if any(isinstance(size, str) for expr in (split.args[0], split, spread) for size in sizes_of(expr)):
        return None
    picture, cells = shape_of(split.args[0]), shape_of(split)
    channel = ORDERS[order]
    rows, columns = (size for axis, size in enumerate(cells[:4]) if axis not in (0, channel))
    expected = (cells[0], cells[channel], cells[4] * rows, cells[5] * columns)
    if len(picture) != 4 or picture[2:] != cells[4:] or shape_of(spread) != expected:
        return None
    if not all(view.only_reader(member) for member in members[:2]):
        return None
    return Shuffle(members, (rows, columns), 1 if channel == 3 else cells[channel])
