"""The choice of tiles."""

from __future__ import annotations

import itertools

import pytest

from tvmq.kernels.cuda.choose import DP4A, GPUS, MMA, choose, choose_tile, gpu_of, resident
from tvmq.kernels.cuda.tile import STATIC_SHARED
from tvmq.kernels.parts.types import Conv2d

LARGEST_SHARED = 99 * 1024  # of a block on sm_86, the least of all since sm_80


@pytest.mark.parametrize("tile", [*MMA, *DP4A], ids=lambda tile: tile.name)
def test_tiles_fit_the_machine_and_the_loops(tile):
    assert tile.shared_bytes <= LARGEST_SHARED and (tile.mma or tile.shared_bytes <= STATIC_SHARED)
    assert tile.threads <= 1024 and tile.threads % 32 == 0
    assert tile.sums * (tile.threads // tile.slices) == tile.rows * tile.columns
    assert tile.stages in (2, 3, 4, 5)
    assert (tile.pitch // 16) % 2 == 1 and tile.pitch % 16 == 0
    if tile.mma:
        assert tile.warp_rows % 16 == 0 and tile.warp_columns % 16 == 0
        assert tile.depth // 32 % tile.slices == 0
    # every pass of copies takes whole lines, for copies of 16, 8 and 4 bytes
    for lines, size in itertools.product((tile.rows, tile.columns), (16, 8, 4)):
        at_once = tile.threads * size // tile.depth
        assert at_once >= 1 and (lines % at_once == 0 or at_once > lines)


def test_names_of_tiles_differ():
    names = [tile.name for tile in (*MMA, *DP4A)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("arch", sorted(GPUS))
def test_every_size_has_a_tile(arch):
    for rows, columns, depth in itertools.product((1, 17, 300, 100_000), (1, 40, 1000), (1, 64, 5000)):
        tile = choose(rows, columns, depth, 1, arch)
        assert tile.mma == (arch >= 75)
        assert tile.shared_bytes < gpu_of(arch).shared_bytes
        assert (tile.rows < 2 * rows and tile.columns < 2 * columns) or tile == (MMA if arch >= 75 else DP4A)[-1]
        assert resident(tile, gpu_of(arch)) >= 1


def test_small_pictures_take_small_tiles_or_slices_and_large_ones_large_tiles():
    large = choose_tile(Conv2d(64, 28, 28, 128, 256, kernel=(3, 3), padding=(1, 1, 1, 1)), 80)
    small = choose_tile(Conv2d(1, 7, 7, 512, 512, kernel=(3, 3), padding=(1, 1, 1, 1)), 80)
    assert large.rows * large.columns >= 128 * 64 and large.slices == 1
    assert small.rows * small.columns <= 32 * 64 and small.slices > 1
    assert choose_tile(Conv2d(64, 56, 56, 24, 16), 90).columns == 16
    assert choose_tile(Conv2d(64, 28, 28, 512, 512), 90).rows == 256
