"""Constants that a file would hold twice: cut out of the bytecode, and put back when the file is loaded.

Biases, tables and the like are equal in the codes for several CPUs. Weights are packed as an instruction set wants
them: they are packed again when the file is loaded, from what the module of the file has (see recipes). In a file of
one code these are the weights that packing makes larger, those of Winograd's algorithm; the module takes the others
from the code (module_bytes).

Tests: tests/runtime/artifact/test_shared_weights.py
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tvmq.base.tvm_internals import MOST_AXES, TENSOR_HEAD, TENSOR_MARK, TENSOR_SIZE
from tvmq.runtime.artifact.saved_file import Readable

LEAST = 256  # bytes worth a cut
CHUNK = 2**18

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


def cut_constants(
    code: bytes, sources: Mapping[str, bytes], recipes: Known | None = None, *, growth: float = 0.0
) -> tuple[bytes, list[Cut]]:
    """The code without the constants that a source has, and where they are found.

    sources  {member: bytes}; the first that has a constant is named
    recipes  `known` of PackingRecipes
    growth   only constants that have so many times the bytes of what they are made of, and those of depthwise kernels

    >>> cut_constants(b"abc", {"vm.bin": b"abc"})
    (b'abc', [])
    """
    places: dict[bytes, list[Any]] = {}
    for name, source in sources.items():
        for begin, end in tensors(source):
            places.setdefault(_digest(source[begin:end]), [name, begin, end])
    pieces, cuts, done = [], [], 0
    for begin, end in tensors(code):
        cut = _find_constant(code[begin:end], places, recipes or {}, sources) if end - begin >= LEAST else None
        # a packed constant that holds what it is made of several times cannot be taken from there by the module
        is_repeated = cut is not None and len(cut) > 3 and "variants" in cut[3]
        if cut is not None and (is_repeated or end - begin >= growth * (cut[2] - cut[1])):
            pieces.append(code[done:begin])
            cuts.append([begin, *cut])
            done = end
    return b"".join([*pieces, code[done:]]), cuts


def _find_constant(
    constant: bytes, places: Mapping[bytes, list[Any]], recipes: Known, sources: Mapping[str, bytes]
) -> list[Any] | None:
    """The place of a constant, or of what it is made of and the recipe."""
    from tvmq.codegen.kernels.parts.packing_recipes import gives

    wanted = _digest(constant)
    if wanted in places:
        return places[wanted]
    for made_of, recipe in recipes.get(wanted, ()):
        if made_of in places:
            name, begin, end = places[made_of]
            if gives(sources[name][begin:end], recipe, constant):
                return [name, begin, end, recipe]
    return None


def join_constants(rest: bytes, cuts: Sequence[Cut], sources: Mapping[str, bytes], most: int) -> bytes:
    """Restore the bytes from which `cut_constants` cut these constants.

    most    bytes that it may have
    raises  any error, for cuts that cannot be
    """
    reader, pieces = JoinedReader(io.BytesIO(rest), cuts, sources, most), []
    while piece := reader.read(CHUNK):
        pieces.append(piece)
    if reader.cuts:
        raise ValueError(f"there are no {reader.cuts[0][0]} bytes in front of a constant")
    return b"".join(pieces)


class JoinedReader:
    """A member that constants were cut out of, read forward with them in their places."""

    def __init__(self, rest: Readable, cuts: Sequence[Cut], sources: Mapping[str, bytes], most: int) -> None:
        self.rest, self.cuts, self.sources, self.most = rest, list(cuts), sources, most
        self.at = 0  # bytes that were given
        self.piece = memoryview(b"")  # what is left of a constant
        self._hash = hashlib.sha256()

    def read(self, count: int, /) -> bytes:
        """The next bytes, fewer at the end only."""
        data = bytearray(max(count, 0))
        size = self.readinto(memoryview(data))
        return bytes(data) if size == count else bytes(data[:size])

    def readinto(self, buffer: memoryview, /) -> int:
        """The next bytes into a buffer, their number; fewer at the end only."""
        done = 0
        while done < len(buffer):
            if not self.piece and self.cuts and self.cuts[0][0] <= self.at:
                self.piece = self._constant(*self.cuts.pop(0))
            left = len(buffer) - done
            if self.piece:
                count = min(left, len(self.piece))
                buffer[done : done + count], self.piece = self.piece[:count], self.piece[count:]
            else:
                most = min(left, self.cuts[0][0] - self.at) if self.cuts else left
                count = self.rest.readinto(buffer[done : done + most]) or 0
            if not count:
                break
            done, self.at = done + count, self.at + count
        self._hash.update(buffer[:done])
        return done

    def sha256(self) -> str:
        """Digest of the bytes so far, in hexadecimal."""
        return self._hash.hexdigest()

    def _constant(self, at: int, name: str, begin: int, end: int, *recipe: Recipe) -> memoryview:
        if at != self.at or not 0 <= begin <= end <= len(self.sources[name]):
            raise ValueError(f"there are no bytes {begin} to {end} of '{name}' for place {at}")
        source = memoryview(self.sources[name])[begin:end]
        piece = memoryview(make_constant(source, recipe[0], self.most)) if recipe else source
        if not piece or self.at + len(piece) > self.most:
            raise ValueError(f"constants of none or of more than {self.most} bytes")
        return piece


def make_constant(source: Any, recipe: Recipe, most: int) -> Any:
    """Packed weights from plain ones, bytes both, by a recipe that is spelled out or names an instruction set."""
    if "g" in recipe:
        from tvmq.codegen.kernels.winograd.weights import pack_by_recipe  # NumPy alone, which a run has

        return pack_by_recipe(source, recipe, most)
    if "variants" in recipe:
        from tvmq.codegen.kernels.depthwise.weights import pack_by_recipe as pack_depthwise

        return pack_depthwise(source, recipe, most)
    if "slots" in recipe:
        from tvmq.codegen.kernels.parts.weight_order import order_by_recipe

        return order_by_recipe(source, recipe, most)
    from tvmq.codegen.kernels.parts.packing_recipes import repack_weights  # knows every instruction set

    return repack_weights(source, recipe, most)


def _digest(data: bytes) -> bytes:
    """Digest as in kernels/parts/packing_recipes.py."""
    return hashlib.sha256(data).digest()
