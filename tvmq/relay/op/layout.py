"""Layouts such as NCHW and NCHW4c: one letter a dimension, small ones behind a number for blocks of it."""

from __future__ import annotations

import re
from typing import Any

from tvm import relax

from tvmq.errors import UnsupportedOpError


def parts(layout: str) -> list[tuple[str, int]]:
    """(axis, length of its blocks, 0 for the dimension itself) of a layout.

    >>> parts("NC4c")
    [('N', 0), ('C', 0), ('C', 4)]
    """
    return [(letter.upper(), int(block or 0)) for block, letter in re.findall(r"(\d*)([A-Za-z])", layout)]


def transform(emit: Any, data: Any, source: str, target: str) -> Any:
    """Reshape, transpose, reshape: blocks are split off in the first step and joined in the last.

    raises  UnsupportedOpError  both layouts have blocks of one axis, of different lengths
    """
    split, order, shape = _split(data, parts(source), parts(target))
    data = emit(relax.op.reshape(data, split))
    data = emit(relax.op.permute_dims(data, order))
    return emit(relax.op.reshape(data, shape))


def _split(data: Any, source: list[tuple[str, int]], target: list[tuple[str, int]]) -> tuple[list[int], ...]:
    """Shape with all blocks apart, order of its dimensions in the target, shape of the target."""
    blocks = {axis: length for axis, length in [*source, *target] if length}
    clash = [axis for axis, length in [*source, *target] if length and length != blocks[axis]]
    if clash or {axis for axis, _ in source} != {axis for axis, _ in target}:
        raise UnsupportedOpError(f"relay, layout_transform: {source} to {target}; go by way of a layout without blocks")
    apart: dict[tuple[str, int], int] = {}
    for (axis, length), size in zip(source, data.ty.shape, strict=True):
        whole = not length and axis in blocks and (axis, blocks[axis]) not in source
        if whole:
            apart[axis, 0], apart[axis, blocks[axis]] = int(size) // blocks[axis], blocks[axis]
        else:
            apart[axis, length] = int(size)
    wanted = [part for axis, length in target for part in _pieces(axis, length, blocks, target)]
    shape = [_length(axis, length, blocks, target, apart) for axis, length in target]
    order = [list(apart).index(part) for part in wanted]
    return list(apart.values()), order, shape


def _pieces(axis: str, length: int, blocks: dict[str, int], target: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The dimensions, all blocks apart, that one of the target is made of."""
    joined = not length and axis in blocks and (axis, blocks[axis]) not in target
    return [(axis, 0), (axis, blocks[axis])] if joined else [(axis, length)]


def _length(
    axis: str, length: int, blocks: dict[str, int], target: list[tuple[str, int]], apart: dict[tuple[str, int], int]
) -> int:
    size = 1
    for part in _pieces(axis, length, blocks, target):
        size *= apart[part]
    return size
