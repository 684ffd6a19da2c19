"""CUDA device functions: each compiles to the instruction that it is meant for.

The choice of tiles.
"""

import itertools
import subprocess

import pytest

from tests.codegen.kernels.cuda.emulated import ARCHS, compiled, needs_nvcc
from tvmq.codegen.kernels.cuda.choose import DP4A, GPUS, MMA, choose, choose_tile, gpu_of, resident
from tvmq.codegen.kernels.cuda.device import HEADER
from tvmq.codegen.kernels.cuda.tile import STATIC_SHARED
from tvmq.codegen.kernels.parts.kernel_types import Conv2d

SIGNS = ("u8u8", "u8s8", "s8u8", "s8s8")
DOTS = "\n".join(f"  c[0] = tvmq_dp4a_{signs}(a[0], b[0], c[0]);" for signs in SIGNS)
MMAS = "\n".join(f"  tvmq_mma_{signs}(c, a, b);" for signs in SIGNS)
KERNEL = f"""
extern "C" __global__ void all(int *x, int *y, bool inside) {{
  __shared__ int memory[256];
  int a[4], b[2] = {{x[0], x[1]}}, c[4] = {{0, 0, 0, 0}};
  tvmq_copy4(memory, x); tvmq_copy8(memory + 2, x); tvmq_copy16(memory + 4, x);
  tvmq_copy4_or(memory, x, inside, 1); tvmq_copy8_or(memory + 2, x, inside, 1); tvmq_copy16_or(memory + 4, x, inside, 1);
  tvmq_copy_commit();
  tvmq_copy_wait_3(); tvmq_copy_wait_2(); tvmq_copy_wait_1(); tvmq_copy_wait_0();
  __syncthreads();
  tvmq_matrices(a, memory + threadIdx.x * 4);
{DOTS}
{MMAS}
  y[threadIdx.x] = tvmq_warp_sum(tvmq_bytes(c[0] + c[1], c[2] + c[3], 0x5410));
}}
"""


@pytest.mark.slow
@pytest.mark.thinned(3)
@needs_nvcc
@pytest.mark.parametrize("arch", ARCHS)
def test_every_function_is_its_instruction(arch, tmp_path):
    path, _ = compiled(HEADER + KERNEL, arch, tmp_path, "ptx")
    text = path.read_text()
    mma = "mma.sync.aligned.m16n8k32.row.col.s32" if arch >= 80 else "mma.sync.aligned.m8n8k16.row.col.s32"
    for left in ("u", "s"):
        for right in ("u", "s"):
            assert f"dp4a.{left}32.{right}32" in text
            assert f"{mma}.{left}8.{right}8.s32" in text
    assert "ldmatrix.sync.aligned.m8n8.x4.shared.b16" in text and "prmt" in text and "shfl.sync" in text
    for copy in ("cp.async.ca.shared.global", "cp.async.cg.shared.global", "cp.async.wait_group 3"):
        assert (copy in text) == (arch >= 80)
    subprocess.run(["ptxas", f"-arch=sm_{arch}", "-o", str(tmp_path / "all.cubin"), str(path)], check=True)


def test_those_who_emulate_it_define_it_themselves():
    assert HEADER.startswith("#ifndef TVMQ_EMULATED") and HEADER.rstrip().endswith("#endif")


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
