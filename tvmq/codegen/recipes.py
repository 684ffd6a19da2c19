"""How weights were packed, so that a file with code for several CPUs holds them once, as the module has them.

A recipe is what JSON can hold: {"level", "taps", "shape", "groups", "run", "parts", "permuted"} of a packing.Packing,
and "turned": True where the module has the matrix [depth, columns] of a dense layer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tvmq.kernels.isa import level
from tvmq.kernels.packing import Packing
from tvmq.kernels.types import Kernel

Recipe = dict[str, Any]


def digest(data: Any) -> bytes:
    """Stands for bytes without holding them."""
    return hashlib.sha256(data).digest()


@dataclass
class Recipes:
    """What a build remembers of the weights that it packs.

    known   {digest of packed weights: [(digest of what they are made of, recipe), ...]}
    """

    known: dict[bytes, list[tuple[bytes, Recipe]]] = field(default_factory=dict)

    def add(self, kernel: Kernel) -> None:
        """Remember a kernel's weights, if they can be packed again."""
        if kernel.packed is None:
            return
        weight, packing = kernel.packed
        recipe = {
            "level": packing.ins.name,
            "taps": packing.ins.taps,
            "shape": [int(size) for size in packing.shape],
            "groups": packing.groups,
            "run": packing.run,
            "parts": [list(part) for part in packing.parts],
            "permuted": packing.permuted,
        }
        packed, plain = kernel.constants[0].tobytes(), np.ascontiguousarray(weight).tobytes()
        turned = np.ascontiguousarray(weight.reshape(len(weight), -1).T).tobytes()
        ways = [(plain, recipe), (turned, {**recipe, "turned": True})]
        # an instruction set that packs in a way of its own has no recipe
        if repacked(plain, recipe, len(packed)) == packed:
            self.known[digest(packed)] = [(digest(source), way) for source, way in ways]


def repacked(source: bytes, recipe: Recipe, most: int) -> bytes:
    """Packed weights from what they are made of.

    most    bytes that they may have
    raises  any error, for a recipe that is none
    """
    groups, run, named = recipe["groups"], recipe["run"], level(recipe["level"])
    ins = named if named.taps == recipe["taps"] else named.products
    filters, channels, height, width = recipe["shape"]
    parts = tuple((size, count) for size, count in recipe["parts"])
    vectors = sum(size * count for size, count in parts)
    if min(filters, channels, height, width, groups, run, *(min(part) for part in parts)) < 1:
        raise ValueError("sizes below 1")
    steps = prod((height, width, channels)) // run * -(-run // ins.taps)
    if groups * vectors * ins.lanes * steps * ins.taps * np.dtype(ins.w_dtype).itemsize > most:
        raise ValueError(f"weights of more than {most} bytes")
    codes = np.frombuffer(source, np.int8)
    if recipe.get("turned"):
        codes = codes.reshape(-1, filters).T
    weight = codes.reshape(filters, channels, height, width)
    return Packing(ins, weight.shape, groups, run, parts, bool(recipe["permuted"])).weights(weight).tobytes()
