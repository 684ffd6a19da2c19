"""Emulated device functions against the specification of PTX."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cuda_emulator.library import EmulationError, missing_compiler
from tests.cuda_emulator.test_faults import I, kernel, run

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
KINDS = {"u8": np.uint8, "s8": np.int8}
SIGNS = [(a, b) for a in KINDS for b in KINDS]


def codes(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    limits = np.iinfo(KINDS[kind])
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(KINDS[kind])


@pytest.mark.slow
@pytest.mark.parametrize(("left", "right"), SIGNS)
def test_dot_product_of_four_bytes(left, right):
    a, b, y = codes(left, (64, 4), 0), codes(right, (64, 4), 1), np.zeros(64, np.int32)
    body = f"{I}  y[i] = tvmq_dp4a_{left}{right}(((int*)a)[i], ((int*)b)[i], i);"
    run(kernel(body, "int* y, void* a, void* b"), [y, a, b])
    np.testing.assert_array_equal(y, (a.astype(np.int32) * b).sum(1) + np.arange(64))


MMA = """
  int lane = ((int)threadIdx.x), row = lane / 4, t = lane % 4, a[4], b[2], c[4];
  for (int w = 0; w < 4; ++w) a[w] = x[(row + (w % 2) * 8) * 8 + (w / 2) * 4 + t];
  for (int w = 0; w < 2; ++w) b[w] = z[row * 8 + w * 4 + t];
  for (int w = 0; w < 4; ++w) c[w] = w;
  tvmq_mma_SIGNS(c, a, b);
  for (int w = 0; w < 4; ++w) y[(row + (w / 2) * 8) * 8 + t * 2 + w % 2] = c[w] - w;
"""


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("left", "right"), SIGNS)
def test_matrix_product_of_a_warp(left, right, order):
    x, z, y = codes(left, (16, 32), 0), codes(right, (8, 32), 1), np.zeros((16, 8), np.int32)
    library = kernel(MMA.replace("SIGNS", left + right), "int* y, int* x, int* z")
    run(library, [y, x.view(np.int32), z.view(np.int32)], order=order, threads=32)
    np.testing.assert_array_equal(y, x.astype(np.int32) @ z.astype(np.int32).T)


@pytest.mark.slow
def test_a_matrix_product_needs_a_whole_warp():
    x = np.zeros((16, 8), np.int32)
    with pytest.raises(EmulationError, match="mma of a warp with lanes missing"):
        run(kernel(MMA.replace("SIGNS", "u8s8"), "int* y, int* x, int* z"), [x.copy(), x, x], threads=24)


@pytest.mark.slow
def test_matrices_from_shared_memory():
    x, y = np.arange(32 * 4, dtype=np.int32), np.zeros((32, 4), np.int32)
    body = f"""{I}  __shared__ alignas(64) int s[128];
  for (int w = 0; w < 4; ++w) s[i * 4 + w] = x[i * 4 + w];
  __syncthreads();
  tvmq_matrices(y + i * 4, (&(s[i * 4])));"""
    run(kernel(body, "int* y, int* x"), [y, x], threads=32)
    lane, matrix = np.meshgrid(np.arange(32), np.arange(4), indexing="ij")
    np.testing.assert_array_equal(y, x.reshape(4, 8, 4)[matrix, lane // 4, lane % 4])
    with pytest.raises(EmulationError, match="16 bytes that are not aligned or not in shared memory"):
        run(kernel(body.replace("s[i * 4]", "s[i]"), "int* y, int* x"), [y, x], threads=32)


COPY = """  __shared__ alignas(64) int s[256];
  tvmq_copy16((&(s[i * 4])), x + i * 4);
  tvmq_copy_commit();
  tvmq_copy4_or((&(s[128 + i])), x, false, 7);
  tvmq_copy_commit();
  WAIT
  __syncthreads();
  for (int w = 0; w < 4; ++w) y[i * 4 + w] = s[127 - i * 4 - w] + s[128 + i];"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wait", "right"), [("tvmq_copy_wait_1();", True), ("tvmq_copy_wait_0();", True), ("tvmq_copy_wait_2();", False)]
)
def test_copies_are_there_after_a_wait_and_not_before(wait, right):
    x, y = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    run(kernel(I + COPY.replace("WAIT", wait), "int* y, int* x"), [y, x], threads=32)
    assert np.array_equal(y, x[::-1] + 7) == right


@pytest.mark.slow
def test_sum_of_a_warp_and_bytes():
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(kernel(f"{I}  y[i] = tvmq_warp_sum(x[i]);", "int* y, int* x"), [y, x])
    np.testing.assert_array_equal(y, [496] * 32 + [1520] * 32)
    run(kernel(f"{I}  y[i] = tvmq_bytes(0x03020100, 0x87060504, 0xf720);", "int* y, int* x"), [y, x])
    assert (y == np.int64(0xFF870200).astype(np.int32)).all()
