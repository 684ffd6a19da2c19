"""The part of a product that one block computes: how many rows, columns and warps, and in which registers.

Shared memory holds `stages` pieces of `depth` bytes of each row and column. A line is 16 bytes longer than its
piece: (depth / 16 + 1) is odd, so eight lines in turn begin in eight different quarters of the 32 banks, and both
128-bit loads and `ldmatrix` are free of conflicts.

Tests: tests/codegen/kernels/cuda/test_cuda_device.py
"""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
LINE_PAD = 16
STATIC_SHARED = 48 * 1024  # bytes that every GPU grants a block without asking
THREAD_TILE = 4  # dp4a: rows and columns of a thread; 16 sums need 8 loads of 16 bytes for 64 dp4a


@dataclass(frozen=True)
class Tile:
    """Tile of a block.

    rows, columns, depth  of the piece in shared memory; depth in bytes
    warps                 warps along rows and columns
    stages                pieces in shared memory at a time; all but one are on their way
    mma                   True: tensor cores; False: dp4a
    slices                groups of warps that share the depth of each piece (mma); their sums are added at the end
    """

    rows: int
    columns: int
    depth: int
    warps: tuple[int, int]
    stages: int
    mma: bool
    slices: int = 1

    @property
    def threads(self) -> int:
        """Threads of a block."""
        if self.mma:
            return self.slice_threads * self.slices
        return self.rows * self.columns // THREAD_TILE**2

    @property
    def slice_threads(self) -> int:
        """Threads that have all sums of the tile (mma)."""
        return WARP * self.warps[0] * self.warps[1]

    @property
    def pitch(self) -> int:
        """Bytes from a line of shared memory to the next."""
        return self.depth + LINE_PAD

    @property
    def warp_rows(self) -> int:
        """Rows of a warp (mma)."""
        return self.rows // self.warps[0]

    @property
    def warp_columns(self) -> int:
        """Columns of a warp (mma)."""
        return self.columns // self.warps[1]

    @property
    def sums(self) -> int:
        """Sums of a thread."""
        return self.rows * self.columns // (self.slice_threads if self.mma else self.threads)

    @property
    def stage_bytes(self) -> int:
        """Shared memory of a stage."""
        return (self.rows + self.columns) * self.pitch

    @property
    def code_pitch(self) -> int:
        """Bytes from a row of codes to the next, once the sums are done and shared memory is free.

        16 more than the row: rows of a warp's fragment then fall into different banks.
        """
        return self.columns + LINE_PAD

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block."""
        exchanged = (self.slices - 1) * self.rows * self.columns * 4
        return max(self.stages * self.stage_bytes, self.rows * self.code_pitch, exchanged)

    @property
    def name(self) -> str:
        """Name of the tile in names of kernels: "mma_128x64"."""
        slices = f"x{self.slices}" if self.slices > 1 else ""
        return f"{'mma' if self.mma else 'dp4a'}_{self.rows}x{self.columns}{slices}"
