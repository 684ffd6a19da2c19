"""Choice of the tile of a product, by its sizes and the GPU: the one of least estimated time.

No figure here was measured: they are published rates of the GPUs, and a chain of what a block must wait for. Clocks of
the busiest multiprocessor are the larger of

    throughput  its blocks x steps x clocks of a step; a step is bound by multiply-adds, by reading fragments from
                shared memory, or by bringing its piece from the second cache
    latency     its turns of resident blocks x (steps x what a step of a block alone takes + begin and end)

The second one makes small problems take small tiles: 49 pixels x 512 filters are 8 blocks of 64 x 64 for more than a
hundred multiprocessors.

    256 x 128  8 warps of 64 x 64: a byte of a fragment, from shared memory, serves 32 multiply-adds, a byte from the
               second cache 85, which is what the tensor cores of sm_90 ask for. 128 sums a thread: one block in the
               registers. 90 KB of shared memory
    128 x 128  8 warps of 64 x 32: 21 and 64 multiply-adds a byte; 64 sums leave room for two blocks
    128 x 64, 64 x 64   4 warps of 32 x 64 and 32 x 32
    128 x 32, 128 x 16  few filters: the first layers of small networks
    64 x 32, 32 x 32    few filters, few pixels
    64 x 32 x 2, 32 x 32 x 4   few pixels of great depth: 2 or 4 groups of warps take a part of the depth each

Tests: tests/codegen/kernels/cuda/test_cuda_device.py
"""

from __future__ import annotations

from dataclasses import dataclass

from tvmq.codegen.kernels.cuda.tile import Tile
from tvmq.codegen.kernels.cuda.windows import Depth
from tvmq.codegen.kernels.parts.kernel_types import Conv2d

MMA_ARCH = 75  # first with tensor cores that multiply bytes
DP4A = (Tile(64, 64, 64, (1, 1), 3, False), Tile(32, 32, 64, (1, 1), 3, False))
MMA = (
    Tile(128, 128, 64, (2, 4), 3, True),
    Tile(256, 128, 64, (4, 2), 3, True),
    Tile(128, 64, 64, (4, 1), 3, True),
    Tile(64, 64, 64, (2, 2), 3, True),
    Tile(128, 32, 64, (4, 1), 3, True),
    Tile(128, 16, 64, (4, 1), 3, True),
    Tile(64, 32, 64, (2, 2), 4, True),
    Tile(64, 32, 128, (2, 2), 3, True, slices=2),
    Tile(32, 32, 256, (2, 1), 2, True, slices=4),
    Tile(32, 32, 64, (2, 1), 4, True),
)
STEP_LATENCY = 600.0  # clocks from asking for a piece to having multiplied it; stages share it
ENDS = 1500.0  # clocks of the first pieces and of the epilogue
MOST_RESIDENT_THREADS = 1024
REGISTERS = 65536  # of a multiprocessor
MORE_REGISTERS = 64  # of a thread, beside its sums (nvcc for sm_80 and sm_90: 40 to 100)


@dataclass(frozen=True)
class Gpu:
    """Rates of one multiprocessor a clock, and how many there are.

    macs          multiply-adds of bytes on tensor cores
    dot_macs      the same with dp4a
    cache_bytes   from the second cache
    shared_bytes  shared memory that blocks can have together
    """

    processors: int
    macs: float
    dot_macs: float = 256.0
    cache_bytes: float = 48.0
    shared_bytes: int = 100 * 1024


# Published figures: Pascal P40, Turing T4, Ampere A100 and A10, Ada L4, Hopper H100. Others take the one before them.
GPUS = {
    61: Gpu(30, 0.0, shared_bytes=96 * 1024),
    75: Gpu(40, 1024.0, shared_bytes=64 * 1024),
    80: Gpu(108, 2048.0, shared_bytes=164 * 1024),
    86: Gpu(72, 1024.0),
    89: Gpu(58, 1024.0),
    90: Gpu(132, 4096.0, shared_bytes=228 * 1024),
}
RESERVED = 1024  # bytes of shared memory that CUDA takes for each block, since sm_80
SHARED_RATE = 128.0  # bytes of shared memory a clock, on all of them


def gpu_of(arch: int) -> Gpu:
    """The figures for sm_<arch>.

    >>> gpu_of(87).processors
    72
    """
    return GPUS[max((known for known in GPUS if known <= arch), default=min(GPUS))]


def choose_tile(conv: Conv2d, arch: int) -> Tile:
    """The tile of a convolution, or of a product: one with a kernel of 1 x 1.

    >>> choose_tile(Conv2d(64, 56, 56, 64, 256), 80).name, choose_tile(Conv2d(1, 7, 7, 512, 512), 80).name
    ('mma_128x128', 'mma_32x32x4')
    """
    pixels = conv.batch * conv.out_height * conv.out_width
    return choose(pixels, conv.filters // conv.groups, Depth(conv, 1).size, conv.groups, arch)


def choose(rows: int, columns: int, depth: int, batch: int, arch: int) -> Tile:
    """The tile for `batch` products of rows x depth by depth x columns; the first of those that tie.

    Tiles that would be half empty are left out, and the smallest one stays.
    """
    tiles, gpu = MMA if arch >= MMA_ARCH else DP4A, gpu_of(arch)
    fitting = [tile for tile in tiles if tile.rows < 2 * rows and tile.columns < 2 * columns] or [tiles[-1]]
    granted = [tile for tile in fitting if tile.shared_bytes <= gpu.shared_bytes - RESERVED]
    return min(granted, key=lambda tile: clocks(tile, rows, columns, depth, batch, gpu))


def clocks(tile: Tile, rows: int, columns: int, depth: int, batch: int, gpu: Gpu) -> float:
    """Estimated clocks; see the head of this file."""
    blocks = batch * -(-rows // tile.rows) * -(-columns // tile.columns)
    busiest, steps = -(-blocks // gpu.processors), -(-depth // tile.depth)
    turns = -(-busiest // resident(tile, gpu))
    alone = steps * STEP_LATENCY / tile.stages + ENDS
    return max(busiest * steps * step_clocks(tile, gpu), turns * alone)


def resident(tile: Tile, gpu: Gpu) -> int:
    """Blocks that a multiprocessor holds at a time."""
    by_registers = REGISTERS // ((tile.sums + MORE_REGISTERS) * tile.threads)
    by_threads = MOST_RESIDENT_THREADS // tile.threads
    return max(1, min(gpu.shared_bytes // (tile.shared_bytes + RESERVED), by_threads, by_registers))


def step_clocks(tile: Tile, gpu: Gpu) -> float:
    """Clocks of a step where blocks enough hide all waiting."""
    macs = tile.rows * tile.columns * tile.depth
    side_bytes = (tile.rows + tile.columns) * tile.depth
    if tile.mma:
        fragments = tile.warps[1] * tile.rows + tile.warps[0] * tile.columns
        rate = gpu.macs
    else:
        fragments, rate = macs // tile.depth // 2, gpu.dot_macs
    return max(macs / rate, fragments * tile.depth / SHARED_RATE, side_bytes / gpu.cache_bytes)
