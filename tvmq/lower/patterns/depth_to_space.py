"""Depth-to-space of pictures of codes (pixel shuffle), which front ends write as reshape, transpose, reshape."""

from __future__ import annotations

from dataclasses import dataclass

from tvmq.graph.view import View, dtype_of, op_name, rank_of, shape_of, sizes_of

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
    if dtype_of(spread) not in ("uint8", "int8"):
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
