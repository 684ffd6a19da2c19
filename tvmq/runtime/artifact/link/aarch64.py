"""Linking for 64-bit Arm: instructions hold an address as a page of 4096 bytes and a place in it.

The fields are those of "ELF for the Arm 64-bit Architecture".
"""

from __future__ import annotations

import struct

from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.elf_object import AARCH64
from tvmq.runtime.artifact.link.link_target import X86, Image, LinkTarget

R_ABS64, R_PREL64, R_PREL32, R_ADR_LO21, R_ADR_PAGE21, R_ADD_LO12 = 257, 260, 261, 274, 275, 277
R_JUMP26, R_CALL26, R_GOT_PAGE, R_LD64_GOT_LO12, R_PLT32 = 282, 283, 311, 312, 314
R_TLSDESC_PAGE21, R_TLSDESC_LD64_LO12, R_TLSDESC_ADD_LO12, R_TLSDESC_CALL = 562, 563, 564, 569
R_GLOB_DAT, R_RELATIVE, R_TLSDESC = 1025, 1027, 1031
WORDS = {R_PREL64: 8, R_PREL32: 4, R_PLT32: 4}
PAGES = (R_ADR_PAGE21, R_GOT_PAGE, R_TLSDESC_PAGE21)
BRANCHES = (R_JUMP26, R_CALL26)
# of the last twelve bits of an address: how many of them an instruction of so many bytes leaves out
LOW_BITS = {
    R_ADD_LO12: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, R_LD64_GOT_LO12: 3, R_TLSDESC_LD64_LO12: 3,
    R_TLSDESC_ADD_LO12: 0,
}  # fmt: skip
STUB = struct.pack("<4I", 0x90000010, 0xF9400211, 0xD61F0220, 0xD503201F)  # adrp x16; ldr x17, [x16]; br x17; nop


class Aarch64(LinkTarget):
    """64-bit Arm. A variable of threads is found by a descriptor of its own, so that no function is asked for."""

    number = AARCH64
    page = 1 << 16
    address, glob_dat, relative, thread_pair = R_ABS64, R_GLOB_DAT, R_RELATIVE, R_TLSDESC
    distance = R_PREL32
    through_table = (R_GOT_PAGE, R_LD64_GOT_LO12)
    through_pair = (R_TLSDESC_PAGE21, R_TLSDESC_LD64_LO12, R_TLSDESC_ADD_LO12, R_TLSDESC_CALL)
    thread_offset = 0
    pair_for_each = True
    empty_stub = STUB
    _known = frozenset((*WORDS, *PAGES, *BRANCHES, *LOW_BITS, R_ADR_LO21, R_TLSDESC_CALL))

    def knows(self, kind: int) -> bool:
        """Whether `relocate` takes a relocation."""
        return kind in self._known

    def relocate(self, image: Image, at: int, kind: int, target: int) -> None:
        """Write what a relocation of a known kind means for an address."""
        if kind in WORDS:
            image.put_number(at, target - at, WORDS[kind])
        elif kind in PAGES:
            _put_page(image, at, (target >> 12) - (at >> 12))
        elif kind == R_ADR_LO21:
            _put_page(image, at, target - at)
        elif kind in BRANCHES:
            _put_field(image, at, (_check_range(target - at, 28) >> 2) & (1 << 26) - 1, 0)
        elif kind in LOW_BITS:
            shift = LOW_BITS[kind]
            if target % (1 << shift):
                raise BuildError(f"link: address {target} is no multiple of {1 << shift}; export for another CPU")
            _put_field(image, at, (target & 0xFFF) >> shift, 10)

    def fill_stub(self, image: Image, at: int, pointer: int) -> None:
        """Have a stub jump to where a pointer in the table points."""
        self.relocate(image, at, R_GOT_PAGE, pointer)
        self.relocate(image, at + 4, R_LD64_GOT_LO12, pointer)


MACHINES: dict[int, LinkTarget] = {machine.number: machine for machine in (X86, Aarch64())}


def _put_page(image: Image, at: int, distance: int) -> None:
    """The 21 bits of ADR and ADRP: two at the top, the others at bit 5."""
    value = _check_range(distance, 21) & (1 << 21) - 1
    _put_field(image, at, value & 3, 29)
    _put_field(image, at, value >> 2, 5)


def _put_field(image: Image, at: int, value: int, bit: int) -> None:
    """Put bits into an instruction whose field is zero."""
    (word,) = struct.unpack_from("<I", image.data, at - image.address)
    image.put(at, struct.pack("<I", word | value << bit))


def _check_range(distance: int, bits: int) -> int:
    if not -(1 << bits - 1) <= distance < 1 << bits - 1:
        raise BuildError(f"link: a distance of {distance} does not fit {bits} bits; export a smaller model")
    return distance
