"""Recipes of packed weights, so that a file holds them once: as the module has them, or as the code does.

A recipe is what JSON can hold: {"level", "taps", "shape", "groups", "run", "parts", "permuted"} of a packing.Packing,
"winograd": tile of a winograd.TransformedPacking, and "turned": True where the module has the matrix [depth, columns]
of a dense layer. Those of float and of depthwise convolutions and of 4-bit weights are spelled out (weight_order.py,
depthwise/weights.py, conv/nibble_blocks.py).

Tests: tests/runtime/artifact/test_shared_weights.py
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmq.codegen.kernels.conv import nibble_blocks
from tvmq.codegen.kernels.depthwise.plan import DepthwisePacking
from tvmq.codegen.kernels.depthwise.weights import pack_by_recipe
from tvmq.codegen.kernels.isa import level
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.parts.packing import Packing
from tvmq.codegen.kernels.parts.weight_order import order_by_recipe, plain_dtype
from tvmq.codegen.kernels.winograd.scheme import F2, F4
from tvmq.codegen.kernels.winograd.winograd import TransformedPacking
from tvmq.numerics.codes import pack_int4

SCHEMES = {scheme.tile: scheme for scheme in (F2, F4)}
Recipe = dict[str, Any]


def digest(data: Any) -> bytes:
    """Stands for bytes without holding them."""
    return hashlib.sha256(data).digest()


@dataclass
class PackingRecipes:
    """Recipes of the weights that a build packs.

    sources {digest of packed weights: [(digest of what they are made of, recipe), ...]}; an instruction set that packs
            in a way of its own is there, too: who uses a recipe compares what it gives
    """

    sources: dict[bytes, list[tuple[bytes, Recipe]]] = field(default_factory=dict)

    def add(self, kernel: Kernel) -> None:
        """Remember a kernel's weights, if they can be packed again."""
        if kernel.beside is not None:
            self.add(kernel.beside)
        if kernel.packed_from is None:
            return
        weight, packing = kernel.packed_from
        packed, recipe = kernel.constants[0].tobytes(), _recipe_of(packing)
        if "halves" in recipe:
            self.sources[digest(packed)] = [(digest(pack_int4(weight).tobytes()), recipe)]
            return
        plain = np.ascontiguousarray(weight).tobytes()
        if "variants" in recipe or "from" in recipe:
            self.sources[digest(packed)] = [(digest(plain), recipe)]
            return
        turned = np.ascontiguousarray(weight.reshape(len(weight), -1).T).tobytes()
        ways = [(plain, recipe), (turned, {**recipe, "turned": True})]
        self.sources[digest(packed)] = [(digest(source), way) for source, way in ways]


def _recipe_of(packing: Any) -> Recipe:
    """The recipe of a packing, or one that a kernel spells out itself."""
    if isinstance(packing, dict):
        return packing
    if isinstance(packing, DepthwisePacking):
        return packing.recipe()
    recipe: Recipe = {
        "level": packing.ins.name,
        "taps": packing.ins.taps,
        "shape": [int(size) for size in packing.shape],
        "groups": packing.groups,
        "run": packing.run,
        "parts": [list(part) for part in packing.parts],
        "permuted": packing.permuted,
    }
    if isinstance(packing, TransformedPacking):
        recipe["winograd"] = packing.scheme.tile
    return recipe


def repack_weights(source: bytes, recipe: Recipe, most: int) -> bytes:
    """Packed weights from what they are made of.

    most    bytes that they may have
    raises  any error, for a recipe that is none
    """
    if "variants" in recipe:
        return bytes(pack_by_recipe(source, recipe, most))
    if "halves" in recipe:
        return nibble_blocks.pack_by_recipe(source, recipe, most)
    if "slots" in recipe:
        return order_by_recipe(source, recipe, most)
    packing = packing_of(recipe, most)
    codes = np.frombuffer(source, np.int8)
    if recipe.get("turned"):
        codes = codes.reshape(-1, recipe["shape"][0]).T
    return packing.weights(codes.reshape(packing.shape)).tobytes()


def packing_of(recipe: Recipe, most: int = 2**62) -> Packing:
    """The packing that a recipe describes; raises as `repack_weights`."""
    groups, run, named = recipe["groups"], recipe["run"], level(recipe["level"])
    ins = named if named.taps == recipe["taps"] else named.products
    filters, channels, height, width = recipe["shape"]
    parts = tuple((size, count) for size, count in recipe["parts"])
    if min(filters, channels, height, width, groups, run, *(min(part) for part in parts)) < 1:
        raise ValueError("sizes below 1")
    # before any array is made: that of the slots is one of them
    if sum(size * count for size, count in parts) * ins.lanes > most:
        raise ValueError(f"weights of more than {most} bytes")
    values = ins, (filters, channels, height, width), groups, run, parts, bool(recipe["permuted"])
    tile = recipe.get("winograd")
    packing = Packing(*values) if tile is None else TransformedPacking(*values, SCHEMES[tile])
    if packing.size > most:
        raise ValueError(f"weights of more than {most} bytes")
    return packing


def gives(source: bytes, recipe: Recipe, packed: bytes) -> bool:
    """True if the recipe makes these packed weights."""
    try:
        return repack_weights(source, recipe, len(packed)) == packed
    except Exception:  # of weights of another type, for example
        return False


def restore_weights(packed: bytes, recipe: Recipe) -> bytes:
    """Restore the weights that were packed, where packing only moves them and adds zeros.

    Places are packed in place of weights, as many bytes of their numbers at a time as a weight has: so every
    instruction set tells by its own way of packing where each weight went.

    raises  ValueError where some weight is nowhere in them, any error for a recipe that is none
    """
    if "halves" in recipe:
        return nibble_blocks.restore_by_recipe(packed, recipe)
    count, dtype = int(np.prod(recipe["shape"])), plain_dtype(recipe.get("dtype", ""))
    width = dtype.itemsize
    values = np.frombuffer(packed, dtype)
    numbers = np.arange(1, count + 1, dtype="<u4").view(np.uint8).reshape(count, -1, width)
    used = next(size for size in range(1, 5) if count < 256**size)
    moved = np.zeros((len(values), 4 // width, width), np.uint8)
    for piece in range(-(-used // width)):
        plane = repack_weights(numbers[:, piece].tobytes(), recipe, len(packed))
        if len(plane) != len(packed):
            raise ValueError("packed weights of another size")
        moved[:, piece] = np.frombuffer(plane, np.uint8).reshape(-1, width)
    places = moved.reshape(-1).view("<u4")
    there = places > 0
    if places.max(initial=0) > count or there.sum() != count:
        raise ValueError("packing did more than to move weights")
    weights = np.zeros(count, dtype)
    weights[places[there] - 1] = values[there]
    return weights.tobytes()


def spell_out(recipe: Recipe) -> Recipe:
    """Recipe for a file of one code, which loads without instruction sets: see weight_order and winograd/weights."""
    if {"variants", "slots", "halves"} & set(recipe):
        return recipe
    return {**packing_of(recipe).recipe(), **({"turned": True} if recipe.get("turned") else {})}
