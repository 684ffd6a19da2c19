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

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from tvm import relax

from tvmq.codegen.kernels.parts.float_vectors import LEAST_SCALE, MOST_SCALE
from tvmq.graph.patterns.matching import find_matches
from tvmq.graph.patterns.pattern import read_pattern
from tvmq.graph.sizes import is_number
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, shape_of, sizes_of
from tvmq.numerics.code_type import CODES_8

ATTENTION = read_pattern(
    """tvmq.quantize(softmax := tvmq.softmax(
        (scaled := tvmq.dequantize(product := tvmq.matmul(), const(scale), const(zero))) | (masked := add(scaled, mask))
    ), const(code_scale), const(code_zero))""",
    "attention",
)


@dataclass(frozen=True)
class AttentionParts:
    """Variables of the bindings before the second product; `mask` is what is added to the scores, if anything is."""

    product: str
    scaled: str
    mask: relax.Expr | None
    codes: str
    members: list[str]


def attention_before(view: View, head: str) -> AttentionParts | None:
    """Parts of an attention before its second product `head`; None if `head` is no such tvmq.matmul."""
    codes = view.value[head].args[0]
    for parts, members in find_matches(view, ATTENTION, codes):
        if dtype_of(codes) in CODES_8 and all(map(view.only_reader, members)) and _is_one_kernel(view, parts):
            product, scaled = parts["product"].name, parts["scaled"].name
            return AttentionParts(product, scaled, parts.get("mask"), codes.name, members)
    return None


def _is_one_kernel(view: View, parts: Mapping[str, relax.Expr]) -> bool:
    """True for scales of one number, a softmax of the last axis, and a mask that is no product like the scores."""
    softmax, mask = parts["softmax"], parts.get("mask")
    if not _one_number(*(parts[part] for part in ("scale", "zero", "code_scale", "code_zero"))):
        return False
    if const_value(parts["zero"]).any() or int(view.value[softmax.name].attrs.axis) not in (-1, rank_of(softmax) - 1):
        return False
    if mask is None:
        return True
    if op_name(view.producer(mask)) == "tvmq.dequantize" and view.only_reader(mask.name):
        return False
    return _same_sizes(parts["masked"], parts["scaled"]) and dtype_of(mask) == "float32"


def _one_number(*constants: relax.Expr) -> bool:
    return all(np.size(const_value(constant)) == 1 for constant in constants)


def _same_sizes(a: relax.Var, b: relax.Var) -> bool:
    """True for equal numbers and names of dynamic sizes: a mask may widen no score."""
    return [str(size) for size in a.ty.shape] == [str(size) for size in b.ty.shape]


NORMS = ("tvmq.layer_norm", "tvmq.rms_norm")


def around_norm(view: View, name: str, owned: set[str]) -> list[str]:
    """The norm with the sum before and the quantize behind it, as far as they go together."""
    sizes, axes = sizes_of(view.var[name]), int(view.value[name].attrs.axes)
    if not all(map(is_number, sizes[len(sizes) - axes :])) or 0 in sizes:
        return [name]
    after = _codes_behind(view, name, owned)
    source = view.value[name].args[0]
    before = [source.name] if _is_sum(view, source) and source.name not in owned else []
    candidates = ([*before, name, *after], [*before, name], [name, *after])
    return next((members for members in candidates if _others_follow(view, members)), [name])


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


def _others_follow(view: View, members: list[str]) -> bool:
    """True if whatever else reads a member stands behind the last one."""
    others = [reader for member in members[:-1] for reader in view.readers[member] if reader not in members]
    return all(view.place[reader] > view.place[members[-1]] for reader in others)


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


SHUFFLE = read_pattern("spread := reshape(moved := permute_dims(split := reshape(picture)))", "depth-to-space")
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
    parts, members = next(find_matches(view, SHUFFLE, view.var[name]), ({}, []))
    if not members:
        return None
    picture, split, moved, spread = (parts[part] for part in ("picture", "split", "moved", "spread"))
    axes = view.value[moved.name].attrs.axes
    order = () if axes is None else tuple(int(axis) for axis in axes)
    if order not in ORDERS or rank_of(spread) != 4 or dtype_of(spread) not in CODES_8:
        return None
    if any(isinstance(size, str) for expr in (picture, split, spread) for size in sizes_of(expr)):
        return None
    sizes, cells = shape_of(picture), shape_of(split)
    channel = ORDERS[order]
    rows, columns = (size for axis, size in enumerate(cells[:4]) if axis not in (0, channel))
    expected = (cells[0], cells[channel], cells[4] * rows, cells[5] * columns)
    if len(sizes) != 4 or sizes[2:] != cells[4:] or shape_of(spread) != expected:
        return None
    if not all(view.only_reader(member) for member in members[:2]):
        return None
    return Shuffle(members, (rows, columns), 1 if channel == 3 else cells[channel])
