"""Constants that several codes of one file share: cut out of the bytecode of all but the first that has them.

Biases, tables and the like are equal in all codes. Weights are packed as an instruction set wants them: they are packed
again when the file is loaded, from what the module of the file has (see recipes).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tvmq.tvm_internals import MOST_AXES, TENSOR_HEAD, TENSOR_MARK, TENSOR_SIZE

LEAST = 256  # bytes worth a cut

# [where the bytes belong, member that holds them, where they begin there, where they end]; for packed weights of what
# they are made of, and the recipe behind
Cut = list[Any]
Recipe = dict[str, Any]  # see kernels/parts/packing_recipes.py
Known = Mapping[bytes, Sequence[tuple[bytes, Recipe]]]


def tensors(code: bytes) -> Iterator[tuple[int, int]]:
    """(begin, end) of the data of every tensor in what TVM has written."""
    at = code.find(TENSOR_MARK)
    while at >= 0:
        end = at + TENSOR_HEAD.size
        if end <= len(code):
            *_, rank, _kind, bits, lanes = TENSOR_HEAD.unpack_from(code, at)
            begin = end + TENSOR_SIZE.size * (rank + 1)
            if 0 <= rank <= MOST_AXES and begin <= len(code):
                count = 1
                for axis in range(rank):
                    count *= TENSOR_SIZE.unpack_from(code, end + TENSOR_SIZE.size * axis)[0]
                (size,) = TENSOR_SIZE.unpack_from(code, begin - TENSOR_SIZE.size)
                if size == count * -(-bits * lanes // 8) and 0 <= size <= len(code) - begin:
                    yield begin, begin + size
                    end = begin + size
        at = code.find(TENSOR_MARK, end)


def cut_constants(code: bytes, sources: Mapping[str, bytes], recipes: Known | None = None) -> tuple[bytes, list[Cut]]:
    """The code without the constants that a source has, and where they are found.

    sources  {member: bytes}; the first that has a constant is named
    recipes  `known` of recipes.Recipes

    >>> cut_constants(b"abc", {"vm.bin": b"abc"})
    (b'abc', [])
    """
    places: dict[bytes, list[Any]] = {}
    for name, source in sources.items():
        for begin, end in tensors(source):
            places.setdefault(_digest(source[begin:end]), [name, begin, end])
    pieces, cuts, done = [], [], 0
    for begin, end in tensors(code):
        found = _found(_digest(code[begin:end]), places, recipes or {}) if end - begin >= LEAST else None
        if found is not None:
            pieces.append(code[done:begin])
            cuts.append([begin, *found])
            done = end
    return b"".join([*pieces, code[done:]]), cuts


def _found(wanted: bytes, places: Mapping[bytes, list[Any]], recipes: Known) -> list[Any] | None:
    """The place of a constant, or of what it is made of and the recipe."""
    if wanted in places:
        return places[wanted]
    ways = ([*places[made_of], recipe] for made_of, recipe in recipes.get(wanted, ()) if made_of in places)
    return next(ways, None)


def join_constants(rest: bytes, cuts: Sequence[Cut], sources: Mapping[str, bytes], most: int) -> bytes:
    """What `cut_constants` was given.

    most    bytes that it may have
    raises  any error, for cuts that cannot be
    """
    from tvmq.kernels.parts.packing_recipes import repack_weights  # knows every instruction set

    pieces, taken, size = [], 0, 0
    for at, name, begin, end, *recipe in cuts:
        keep = at - size
        if not (0 <= keep <= len(rest) - taken and 0 <= begin <= end <= len(sources[name])):
            raise ValueError(f"there are no bytes {begin} to {end} of '{name}' for place {at}")
        piece = sources[name][begin:end]
        piece = repack_weights(piece, recipe[0], most) if recipe else piece
        pieces += [rest[taken : taken + keep], piece]
        taken, size = taken + keep, at + len(piece)
        if size > most:
            raise ValueError(f"constants of more than {most} bytes")
    return b"".join([*pieces, rest[taken:]])


def _digest(data: bytes) -> bytes:
    """As kernels/parts/packing_recipes.py has it."""
    return hashlib.sha256(data).digest()
