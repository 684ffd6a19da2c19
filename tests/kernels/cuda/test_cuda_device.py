"""Our device functions: every one compiles to the instruction it is there for."""

from __future__ import annotations

import subprocess

import pytest

from tests.kernels.cuda.nvcc import ARCHS, compiled, needs_nvcc
from tvmq.kernels.cuda.device import HEADER

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
