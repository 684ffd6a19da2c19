"""Rules of linking for a processor: relocations, stubs that jump, variables of threads.

Here are those of x86-64; aarch64.py has those of 64-bit Arm.

Tests: tests/runtime/artifact/link/test_aarch64.py
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.elf_object import X86_64

# relocations of x86-64
R_64, R_PC32, R_PLT32, R_GLOB_DAT, R_RELATIVE, R_GOTPCREL, R_DTPMOD64, R_TLSLD, R_DTPOFF32, R_PC64 = (
    1, 2, 4, 6, 8, 9, 16, 20, 21, 24,
)  # fmt: skip
R_GOTPCRELX, R_REX_GOTPCRELX = 41, 42
STUB = b"\xff\x25"  # jmp *offset(%rip)
STUB_BYTES = 8


@dataclass
class Image:
    """Bytes that begin at an address."""

    address: int
    data: bytearray = field(default_factory=bytearray)

    @property
    def end(self) -> int:
        """Address behind the last byte."""
        return self.address + len(self.data)

    def add(self, data: bytes, align: int = 8) -> int:
        """Append data; returns its address."""
        self.data += bytes(-self.end % align)
        address = self.end
        self.data += data
        return address

    def put(self, address: int, data: bytes) -> None:
        """Overwrite what stands at an address."""
        self.data[address - self.address : address - self.address + len(data)] = data

    def put_number(self, address: int, value: int, width: int) -> None:
        """Overwrite with a signed number.

        raises   BuildError for one that does not fit
        """
        if not -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1:
            raise BuildError(f"link: a distance of {value} bytes does not fit {width} bytes; save as bitcode")
        self.put(address, value.to_bytes(width, "little", signed=True))


class LinkTarget:
    """Rules of linking for x86-64, which other processors change.

    number          of the machine in a file's header
    page            most bytes of a page of memory that systems have
    address         the relocation that the loader does: an address in data
    glob_dat, relative, thread_pair   those of the loader for an imported symbol, an own one, variables of threads
    distance        one that holds 4 bytes from a place to a symbol
    through_table   those that mean a symbol's entry in the table of pointers
    through_pair    those that mean a pair of pointers by which a thread finds variables
    thread_offset   one that means a variable's offset among those of a thread; 0: there is none
    pair_for_each   whether each variable has a pair of its own
    """

    number = X86_64
    page = 4096
    address, glob_dat, relative, thread_pair = R_64, R_GLOB_DAT, R_RELATIVE, R_DTPMOD64
    distance = R_PC32
    through_table: tuple[int, ...] = (R_GOTPCREL, R_GOTPCRELX, R_REX_GOTPCRELX)
    through_pair: tuple[int, ...] = (R_TLSLD,)
    thread_offset = R_DTPOFF32
    pair_for_each = False
    empty_stub = STUB + bytes(STUB_BYTES - len(STUB))
    _widths = {R_PC32: 4, R_PLT32: 4, R_PC64: 8, **dict.fromkeys((*through_table, R_TLSLD), 4)}

    def knows(self, kind: int) -> bool:
        """Whether `relocate` takes a relocation."""
        return kind in self._widths

    def relocate(self, image: Image, at: int, kind: int, target: int) -> None:
        """Write what a relocation of a known kind means for an address.

        raises   BuildError for one that is too far away
        """
        image.put_number(at, target - at, self._widths[kind])

    def fill_stub(self, image: Image, at: int, pointer: int) -> None:
        """Have a stub jump to where a pointer in the table points."""
        image.put_number(at + len(STUB), pointer - (at + len(STUB) + 4), 4)


X86 = LinkTarget()
