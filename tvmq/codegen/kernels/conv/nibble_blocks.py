"""4-bit weights in blocks of 8 along the depth, as group_matmul and int4_row read them, and back.

Weights    [panel][block of 8 along the depth][vector of the panel][lane][byte]: the low half of byte i holds depth i of
           the block, its high half depth 4 + i, each + 8, so unsigned
Scales     [panel][group][vector][lane]
Recipe     {"halves": [depth, columns], "lanes": n}: a file holds the blocks alone, and the module's weights, two to a
           byte (numerics.pack_int4), are made of them when it is asked for

Tests: tests/codegen/kernels/conv/test_nibble_blocks.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmq.numerics.codes import pack_int4, unpack_int4

BLOCK = 8  # depth of a vector of bytes
PANEL = 4  # vectors
OFFSET = 8  # of codes, which makes them unsigned
LANES = (4, 8, 16)

Recipe = dict[str, Any]


def pack_blocks(weight: np.ndarray, lanes: int) -> np.ndarray:
    """int8 [depth, columns] of -8..7 as uint8 in blocks; columns beyond the last are 0."""
    codes = _panels((weight + OFFSET).astype(np.uint8), lanes)
    halves = codes.reshape(-1, 2, BLOCK // 2, codes.shape[1], PANEL, lanes)  # block, half, byte, panel, vector, lane
    packed = halves[:, 0] | halves[:, 1] << 4
    return np.ascontiguousarray(packed.transpose(2, 0, 3, 4, 1)).reshape(-1)


def unpack_blocks(packed: np.ndarray, depth: int, columns: int, lanes: int) -> np.ndarray:
    """Inverse of `pack_blocks`: int8 [depth, columns]."""
    blocks = packed.reshape(-1, depth // BLOCK, PANEL, lanes, BLOCK // 2).transpose(1, 4, 0, 2, 3)
    halves = np.stack([blocks & 15, blocks >> 4], axis=1)  # block, half, byte, panel, vector, lane
    return halves.reshape(depth, -1)[:, :columns].astype(np.int8) - np.int8(OFFSET)


def pack_scales(scale: np.ndarray, lanes: int) -> np.ndarray:
    """float32 [groups, columns] as [panel][group][vector][lane]."""
    return np.ascontiguousarray(_panels(scale.astype(np.float32), lanes).transpose(1, 0, 2, 3)).reshape(-1)


def _panels(values: np.ndarray, lanes: int) -> np.ndarray:
    """[rows, columns] as [rows, panels, PANEL, lanes], zeros behind the last column."""
    rows, columns = values.shape
    panels = -(-columns // (PANEL * lanes))
    padded = np.zeros((rows, panels * PANEL * lanes), values.dtype)
    padded[:, :columns] = values
    return padded.reshape(rows, panels, PANEL, lanes)


def recipe_of(weight: np.ndarray, lanes: int) -> Recipe:
    """How the blocks of a weight [depth, columns] are made."""
    return {"halves": [int(size) for size in weight.shape], "lanes": lanes}


def pack_by_recipe(source: bytes, recipe: Recipe, most: int) -> bytes:
    """Blocks, from weights two to a byte.

    most    bytes that they may have
    raises  any error, for a recipe that is none
    """
    depth, columns, lanes = _sizes_of(recipe)
    if _packed_bytes(depth, columns, lanes) > most:
        raise ValueError(f"weights of more than {most} bytes")
    return pack_blocks(unpack_int4(np.frombuffer(source, np.uint8), (depth, columns)), lanes).tobytes()


def restore_by_recipe(packed: bytes, recipe: Recipe) -> bytes:
    """Weights two to a byte, from blocks; raises any error for a recipe that is none."""
    depth, columns, lanes = _sizes_of(recipe)
    if len(packed) != _packed_bytes(depth, columns, lanes):
        raise ValueError("packed weights of another size")
    return pack_int4(unpack_blocks(np.frombuffer(packed, np.uint8), depth, columns, lanes)).tobytes()


def _packed_bytes(depth: int, columns: int, lanes: int) -> int:
    return -(-columns // (PANEL * lanes)) * PANEL * lanes * depth // 2


def _sizes_of(recipe: Recipe) -> tuple[int, int, int]:
    (depth, columns), lanes = recipe["halves"], recipe["lanes"]
    if depth < 1 or depth % BLOCK or columns < 1 or lanes not in LANES:
        raise ValueError(f"no blocks of {depth} x {columns} weights by {lanes}")
    return depth, columns, lanes
