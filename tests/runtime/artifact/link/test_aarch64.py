"""Relocations of 64-bit Arm: the words that they make, as the manual of the architecture has them; what is too far."""

from __future__ import annotations

import struct

import pytest

from tvmq.errors import BuildError
from tvmq.runtime.artifact.link import aarch64
from tvmq.runtime.artifact.link.link_target import Image

ARM = aarch64.MACHINES[183]
AT = 0x12345678
ADRP, ADD, LDR_Q, LDR_X, BL, ADR = 0x90000000, 0x91000000, 0x3DC00000, 0xF9400000, 0x94000000, 0x10000000


def relocated(kind: int, word: int, target: int) -> int:
    """The instruction at AT, changed by a relocation."""
    image = Image(AT, bytearray(struct.pack("<I", word)))
    ARM.relocate(image, AT, kind, target)
    return struct.unpack("<I", image.data)[0]


def distance_of_page(word: int) -> int:
    """Pages from an ADRP, or bytes from an ADR, to what it means."""
    value = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
    return value - (1 << 21) if value >> 20 else value


@pytest.mark.parametrize("target", [AT, 0x12346000, 0, 0x7FFF_F000, 0x1234_5FFF])
def test_pages(target):
    word = relocated(aarch64.R_ADR_PAGE21, ADRP, target)
    assert (AT & ~0xFFF) + (distance_of_page(word) << 12) == target & ~0xFFF
    assert word & 0x9F00001F == ADRP


def test_places_in_a_page():
    assert relocated(aarch64.R_ADD_LO12, ADD, 0x1ABC) == ADD | 0xABC << 10
    assert relocated(299, LDR_Q, 0x1AB0) == LDR_Q | 0xAB << 10
    assert relocated(aarch64.R_LD64_GOT_LO12, LDR_X, 0x1AB8) == LDR_X | 0x157 << 10
    with pytest.raises(BuildError, match="address 6840 is no multiple of 16"):
        relocated(299, LDR_Q, 0x1AB8)


@pytest.mark.parametrize("distance", [-4, 0, 4, 4096, -(1 << 27), (1 << 27) - 4])
def test_calls(distance):
    word = relocated(aarch64.R_CALL26, BL, AT + distance)
    assert word == BL | distance >> 2 & 0x3FFFFFF


def test_near_addresses_and_distances():
    assert distance_of_page(relocated(aarch64.R_ADR_LO21, ADR, AT - 5)) == -5
    assert relocated(aarch64.R_PREL32, 0, AT - 5) == 0xFFFFFFFB
    assert relocated(aarch64.R_TLSDESC_CALL, BL, AT + 64) == BL


@pytest.mark.parametrize(("kind", "distance"), [
    (aarch64.R_CALL26, 1 << 27), (aarch64.R_ADR_LO21, 1 << 20), (aarch64.R_ADR_PAGE21, 1 << 32),
])  # fmt: skip
def test_what_is_too_far_is_refused(kind, distance):
    with pytest.raises(BuildError, match="does not fit 2[18] bits; export a smaller model"):
        relocated(kind, 0, AT + distance)
    with pytest.raises(BuildError, match="does not fit 4 bytes"):
        relocated(aarch64.R_PREL32, 0, AT + (1 << 31))


def test_known_relocations():
    assert not ARM.knows(280) and all(ARM.knows(kind) for kind in (*ARM.through_table, *ARM.through_pair, ARM.distance))
