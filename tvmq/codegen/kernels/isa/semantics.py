"""Semantics of instructions in NumPy: a method of Instructions names its function here, beside the name of LLVM.

Vectors are arrays of their lanes; `ins` says how many lanes and taps there are. Blocks are of 128 bits.

Tests: tests/codegen/kernels/test_instructions.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tvmq import numerics

Method = TypeVar("Method", bound=Callable[..., Any])
Array = np.ndarray


def means(definition: Callable[..., Any]) -> Callable[[Method], Method]:
    """Decorator of a method: definition(ins, *operands) is what it computes, also where a subclass overrides it."""

    def mark(method: Method) -> Method:
        setattr(method, "definition", definition)  # noqa: B010
        return method

    return mark


def definition_of(ins: Any, name: str) -> Callable[..., Any]:
    """Definition of a method, by the class nearest to that of `ins`; AttributeError where none has one."""
    for kind in type(ins).__mro__:
        if hasattr(vars(kind).get(name), "definition"):
            return vars(kind)[name].definition
    raise AttributeError(f"{type(ins).__name__}.{name} has no definition; say it with @means")


def saturate(values: Array, dtype: Any) -> Array:
    """Values limited to those of a type."""
    limits = np.iinfo(dtype)
    return np.clip(values, limits.min, limits.max).astype(dtype)


def sum_products(x: Array, w: Array, taps: int) -> Array:
    """int64 sums of the products of so many neighbours."""
    return (x.astype(np.int64) * w).reshape(-1, taps).sum(axis=1)


def broadcast(ins: Any, buffer: Array, offset: int) -> Array:
    """Values of one group of taps from an address of the buffer, in each lane."""
    return np.tile(buffer[offset : offset + ins.taps], ins.lanes)


def dot(ins: Any, sums: Array, x: Array, w: Array) -> Array:
    """Sums plus the products of the taps of each lane, in int32."""
    return (sums + sum_products(x, w, ins.taps)).astype(np.int32)


def dot_int16(_ins: Any, sums: Array, x: Array, w: Array) -> Array:
    """Sums plus the products of the two int16 values of each lane."""
    return (sums + sum_products(x, w, 2)).astype(np.int32)


def multiply_pairs(_ins: Any, a: Array, b: Array) -> Array:
    """Sums of the products of two neighbouring int16 values, in int32."""
    return sum_products(a, b, 2).astype(np.int32)


def multiply_bytes(_ins: Any, x: Array, w: Array) -> Array:
    """Sums of the products of two neighbouring bytes, saturated to int16."""
    return saturate(sum_products(x, w, 2), np.int16)


def fold_products(_ins: Any, sums: Array, products: Array, ones: Array) -> Array:
    """Sums plus those of two neighbouring int16 products."""
    return (sums + sum_products(products, ones, 2)).astype(np.int32)


def ones(ins: Any) -> Array:
    """Operand that makes `fold_products` add neighbours: int16 ones."""
    return np.ones(2 * ins.lanes, np.int16)


def to_int32(_ins: Any, value: Array) -> Array:
    """Floats rounded to int32, ties to even."""
    return np.rint(value).astype(np.int32)


def to_int32_saturated(_ins: Any, value: Array) -> Array:
    """Floats limited to 2^30 on either side, rounded to int32, ties to even."""
    return np.rint(np.clip(value, -(2.0**30), 2.0**30)).astype(np.int32)


def pack_int16(ins: Any, a: Array, b: Array) -> Array:
    """Two int32 vectors as one of int16, saturated, in blocks of 16 bytes."""
    return pack_bytes(ins, a, b, "int16")


def pack_bytes(_ins: Any, a: Array, b: Array, dtype: str) -> Array:
    """Two vectors as one of half the width, saturated, in blocks of 16 bytes."""
    blocks = [vector.reshape(-1, 16 // vector.itemsize) for vector in (a, b)]
    return saturate(np.concatenate(blocks, axis=1), dtype).ravel()


def add_int16(_ins: Any, a: Array, b: Array) -> Array:
    """Saturated sums of int16 values."""
    return saturate(a.astype(np.int32) + b, np.int16)


def unpack(_ins: Any, a: Array, b: Array, high: int, width: int) -> Array:
    """Low or high halves of each 16-byte block of two vectors, in groups of `width` bytes by turns."""
    groups = [vector.reshape(-1, 2, 8 // width, width)[:, high] for vector in (a, b)]
    return np.stack(groups, axis=2).ravel()


def flip_sign(_ins: Any, codes: Array, dtype: str) -> Array:
    """Codes with their top bit changed: int8 as uint8, and the reverse."""
    return (codes.view(np.uint8) ^ 128).view(dtype)


def narrow_vectors(ins: Any, vectors: Sequence[Array], zero_point: int, dtype: str) -> Array:
    """Int32 vectors plus the zero point, saturated to codes, in the order of channels."""
    codes = saturate(np.stack(vectors).astype(np.int64) + zero_point, dtype)
    return codes.ravel()[np.argsort(ins.channel_order(len(vectors)).ravel())]


def keep_rows(_ins: Any, codes: Array, _count: int, _dtype: str) -> Array:
    """Codes as they are."""
    return codes


def gather_rows(_ins: Any, codes: Array, count: int, _dtype: str) -> Array:
    """Codes of each pixel together, where the vectors alternate between pixels."""
    return codes.reshape(-1, 4 // count, 4 * count).swapaxes(0, 1).ravel()


def add(_ins: Any, a: Array, b: Array, step: Any, _a_dtype: str) -> Array:
    """numerics.add of two vectors of codes."""
    params = {name: getattr(step, name) for name in ("a_multiplier", "b_multiplier", "offset", "shift")}
    limits = {name: getattr(step, name) for name in ("zero_point", "qmin", "qmax", "dtype")}
    return numerics.add(a, b, **params, **limits)


def lookup(_ins: Any, table: Array, _dtype: str) -> Callable[[Array], Array]:
    """Function that reads a table at each code."""
    return lambda codes: table[codes]


def two_pixels(ins: Any, buffer: Array, first: int, second: int) -> Array:
    """Taps of two pixels, one behind the other."""
    return np.concatenate([buffer[offset : offset + ins.taps] for offset in (first, second)])


def dot_pair(ins: Any, a: Array, b: Array, x: Array, w: Array) -> tuple[Array, Array]:
    """Sums of two pixels plus their products with the same weights."""
    products = x.astype(np.int64).reshape(2, -1) @ w.astype(np.int64).reshape(-1, ins.taps).T  # [pixel, channel]
    low, high = (sums + part.ravel() for sums, part in zip((a, b), np.split(products, 2, axis=1), strict=True))
    return low.astype(np.int32), high.astype(np.int32)


def exchange_halves(_ins: Any, a: Array, b: Array) -> tuple[Array, Array]:
    """Low halves of two vectors as one vector, their high halves as the other."""
    low, high = np.stack([a, b]).reshape(2, 2, -1).swapaxes(0, 1).reshape(2, -1)
    return low, high
