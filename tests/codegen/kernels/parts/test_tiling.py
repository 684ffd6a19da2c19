"""Tiles, panels, chunks and packing: they cover every element once, for any size.

Loops: pieces of vectors, broadcasting walks, and every kernel in two threads on guarded memory.
"""

from __future__ import annotations

import subprocess
import sys
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmq.codegen.kernels.conv.shape import ConvShape, choose_chunks
from tvmq.codegen.kernels.isa import LEVELS, level
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.loops import broadcast_strides, collapse, tail_pieces
from tvmq.codegen.kernels.parts.packing import channel_slots, pack_channels, pack_weights, panel_runs
from tvmq.codegen.kernels.parts.tiling import BlockTiles, Product, choose_tiling, cut_tiles
from tvmq.codegen.kernels.parts.weight_order import panels

sizes = st.integers(1, 400)


@pytest.mark.slow
@given(sizes, sizes, st.integers(1, 14), st.integers(1, 7))
def test_tiles_and_panels_follow_each_other(pixels: int, vectors: int, rows: int, columns: int) -> None:
    tiling = cut_tiles(Product(pixels, vectors, 16), min(rows, pixels), min(columns, vectors))
    bounds = [tiling.first_pixel(tile) for tile in range(tiling.tiles + 1)]
    assert bounds[0] == 0 and bounds[-1] == pixels
    assert all(0 < high - low <= tiling.rows for low, high in zip(bounds[:-1], bounds[1:], strict=True))
    assert [first for first, _ in panels(tiling.panel_parts)] == [
        tiling.first_vector(panel) for panel in range(tiling.panels)
    ]
    assert tiling.first_vector(tiling.panels) == vectors
    assert len(tiling.pixel_parts) <= 2 and len(tiling.panel_parts) <= 2


@pytest.mark.slow
@given(sizes, sizes, st.sampled_from(sorted(LEVELS)))
def test_chosen_tiles_fit_the_registers(pixels: int, vectors: int, name: str) -> None:
    ins = level(name)
    tiling = choose_tiling(Product(pixels, vectors, 64), ins)
    assert (tiling.rows + 1) * tiling.columns <= ins.registers - ins.dot_temporaries
    pairs = choose_tiling(Product(pixels, vectors, 64), ins.products)
    assert (pairs.rows + ins.products.row_step) * pairs.columns <= ins.registers - ins.products.dot_temporaries
    assert tiling.rows <= pixels and tiling.columns <= vectors


@pytest.mark.parametrize("name", ["avx512vnni", "avx2", "generic"])
@pytest.mark.parametrize("samples", [2, 8, 32])
@pytest.mark.parametrize("vectors", [1, 2, 7, 32, 33])
def test_blocks_of_samples_share_the_panels_of_one(vectors: int, samples: int, name: str) -> None:
    """So that both read the same packed weights; other products have the tiles that they would have."""
    ins, tiles = level(name), BlockTiles({}, {samples})
    block, one = (choose_tiling(Product(pixels, vectors, 64), ins, tiles) for pixels in (samples, 1))
    assert block.panel_parts == one.panel_parts and ins.tile_registers(block.rows, block.columns) <= ins.registers
    other = Product(49, vectors, 64)
    assert choose_tiling(other, ins, tiles) == choose_tiling(other, ins)


@pytest.mark.parametrize("name,tile", [("avx512vnni", (8, 2)), ("avx512bw", (8, 2)), ("avx2", (6, 2))])
def test_the_tile_of_a_plain_layer(name: str, tile: tuple[int, int]) -> None:
    conv = Conv2d(1, 56, 56, 64, 64, (3, 3), (1, 1), (1, 1, 1, 1))
    tiling = choose_tiling(ConvShape(conv, level(name), 0).product, level(name))
    assert abs(tiling.rows - tile[0]) <= 1 and tiling.columns == tile[1]


@pytest.mark.slow
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 64), st.integers(1, 300))
def test_chunks_cover_everything_once(height: int, width: int, channels: int, filters: int) -> None:
    shape = ConvShape(Conv2d(1, height, width, channels, filters), level("avx512vnni"), 0)
    tiling = choose_tiling(shape.product, shape.ins)
    chunks = choose_chunks(shape, tiling)
    for ranges, total in ((chunks.pixel_ranges, shape.pixels), (chunks.vector_ranges, shape.vectors)):
        assert ranges[0][0] == 0 and ranges[-1][1] == total
        assert all(low < high for low, high in ranges)
        assert all(a[1] == b[0] for a, b in zip(ranges[:-1], ranges[1:], strict=True))
    if tiling.shifted and chunks.pixel_chunks > 1:
        # the last tile reaches back into its own chunk at most
        assert chunks.pixel_ranges[-1][0] <= shape.pixels - tiling.rows


@pytest.mark.slow
@given(st.integers(1, 200), st.integers(1, 7), st.sampled_from(sorted(LEVELS)))
def test_slots_hold_every_channel_once(channels: int, columns: int, name: str) -> None:
    ins = level(name)
    vectors = -(-channels // ins.lanes)
    parts = cut_tiles(Product(8, vectors, 4), 4, min(columns, vectors)).panel_parts
    for permuted in (False, True):
        slots = channel_slots(parts, ins, permuted)
        assert sorted(slots.ravel()) == list(range(vectors * ins.lanes))
    runs = panel_runs(parts, channels, ins.lanes)
    assert sum((run.count - 1) * run.columns * ins.lanes + run.channels for run in runs) == channels
    values = np.arange(1, channels + 1)
    packed = pack_channels(values, 1, slots)
    assert packed.sum() == values.sum() and packed.size == vectors * ins.lanes


def test_packed_weights_in_the_order_of_the_loop() -> None:
    ins = level("avx512vnni")
    weight = np.arange(2 * 5 * 2).reshape(2, 5, 1, 2).astype(np.int8)  # filters, channels, 1 x 2
    slots = channel_slots([(1, 1)], ins, permuted=True)
    packed = pack_weights(weight, 1, 10, slots, [(1, 1)], ins).reshape(3, ins.lanes, 4)
    # the first filter: kernel column 0 of all channels, then kernel column 1, then zeros up to a whole step
    np.testing.assert_array_equal(packed[:, 0].ravel(), [0, 2, 4, 6, 8, 1, 3, 5, 7, 9, 0, 0])
    np.testing.assert_array_equal(packed[:, 1].ravel()[:10], [10, 12, 14, 16, 18, 11, 13, 15, 17, 19])
    assert not packed[:, 2:].any()


@pytest.mark.parametrize("lanes", [1, 4, 16, 64])
@pytest.mark.parametrize("count", [*range(1, 70), 100, 127, 128, 129, 1000])
def test_pieces_cover_the_rest(count: int, lanes: int) -> None:
    covered = set(range(count // lanes * lanes))
    for offset, size in tail_pieces(count, lanes):
        assert offset >= 0 and offset + size <= count
        assert size <= lanes and size & (size - 1) == 0
        covered |= set(range(offset, offset + size))
    assert covered == set(range(count))


@pytest.mark.parametrize(
    "shape,other",
    [((2, 5, 3), (2, 1, 3)), ((2, 5, 3), (5, 1)), ((2, 5, 3), ()), ((2, 5, 3), (2, 5, 3)), ((1, 1), (1, 1))],
)
def test_collapsed_walks_visit_the_same_elements(shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    sizes, (strides,) = collapse(shape, broadcast_strides(shape, other))
    visited = sum(np.indices(sizes)[i] * strides[i] for i in range(len(sizes))).ravel()
    expected = np.broadcast_to(np.arange(prod(other)).reshape(other), shape).ravel()
    np.testing.assert_array_equal(visited, expected)


@pytest.mark.slow
def test_two_threads_and_guarded_memory() -> None:
    """In a process of its own: the first parallel call fixes the number of threads, and a fault ends it."""
    script = Path(__file__).parents[1] / "guarded_cases.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 faults" in done.stdout
