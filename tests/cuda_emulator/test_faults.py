"""Faults that the emulator detects: each test runs a kernel with one mistake in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.cuda_emulator.guarded import Guarded
from tests.cuda_emulator.library import EmulationError, Library, compiled, missing_compiler
from tests.cuda_emulator.source import on_cpu

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
HEAD = 'extern "C" __global__ void __launch_bounds__(64) k({params}) {{\n{body}\n}}\n'
I = "  int i = ((int)threadIdx.x);\n"  # noqa: E741
MIRROR = """  __shared__ alignas(64) float s[64];
  s[((int)threadIdx.x)] = x[((int)threadIdx.x)];
  BARRIER
  y[((int)threadIdx.x)] = s[(63 - ((int)threadIdx.x))];"""


def kernel(
    body: str, params: str = "float* __restrict__ y, float* __restrict__ x", *, contract: bool = False
) -> Library:
    """A kernel `k` of 64 threads."""
    text = HEAD.format(params=params, body=body)
    return compiled(on_cpu(text, {"k": ["threadIdx.x"]}), contract)


def run(library: Library, arguments: Sequence[Any], *, order: int = 0, threads: int = 64) -> None:
    library.reset(order, 0xCB if order == 0 else 0x5A)
    library.launch("k", arguments, [threads])


def mirrored(barrier: str, order: int) -> np.ndarray:
    """Results of the kernel that mirrors 64 numbers in shared memory."""
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(kernel(MIRROR.replace("BARRIER", barrier)), [y, x], order=order)
    return y


@pytest.mark.slow
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_right_kernel_passes_in_every_order(order):
    np.testing.assert_array_equal(mirrored("__syncthreads();", order), np.arange(64)[::-1])


@pytest.mark.slow
def test_a_missing_barrier_shows_in_some_order():
    wrong = [order for order in (0, 1, 2) if not np.array_equal(mirrored("", order), np.arange(64)[::-1])]
    assert wrong == [0, 1, 2]


@pytest.mark.slow
def test_a_wrong_sum_is_a_wrong_result():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(kernel(I + "  y[i] = x[i] + 0x1p+0f;"), [y, x])
    assert (y == x + 1).all()
    run(kernel(I + "  y[i] = x[i] + 0x1.000002p+0f;"), [y, x])
    assert (y != x + 1).any()


@pytest.mark.slow
@pytest.mark.parametrize("index", [-1, 64, 100])
def test_a_write_outside_of_an_array_breaks_its_guard(index):
    y = Guarded((64,), "float32", 0xCB, "y")
    run(kernel(I + f"  if (i == 0) y[({index})] = 0x1p+0f;"), [y.array, y.array])
    assert f"{'before' if index < 0 else 'behind'} 'y'" in y.broken()


@pytest.mark.slow
def test_a_write_behind_a_shared_array_is_a_fault():
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    body = "  __shared__ float a[64];\n  __shared__ float b[64];\n" + I + "  a[i] = x[i];\n  b[i] = x[i];\n"
    run(kernel(body), [y, x])
    with pytest.raises(EmulationError, match="shared memory was written 0 bytes behind an array"):
        run(kernel(body + "  *(float*)(((char*)a) + 4 * (i + 2)) = x[i];"), [y, x])


@pytest.mark.slow
def test_shared_memory_that_nobody_wrote_is_rubbish():
    results = []
    for order in (0, 1):
        x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
        run(kernel("  __shared__ float a[64];\n" + I + "  y[i] = a[i];"), [y, x], order=order)
        results.append(y)
    assert (results[0] != results[1]).all()


@pytest.mark.slow
def test_barriers_in_branches_that_part_are_a_fault():
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    body = I + "  if (i < 32) {\n    __syncthreads();\n  } else {\n    __syncthreads();\n  }"
    with pytest.raises(EmulationError, match="waits at line .* while thread 0 waits at line"):
        run(kernel(body), [y, x])


@pytest.mark.slow
def test_a_shuffle_that_some_lanes_miss_is_a_fault():
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(EmulationError, match="threads that never come"):
        run(kernel(I + "  if (i < 5) y[i] = __shfl_xor_sync(0xffffffff, x[i], 1, 32);"), [y, x])


@pytest.mark.slow
@pytest.mark.isa("fma")
def test_a_product_that_may_be_contracted_shows_and_one_that_may_not_does_not():
    random = np.random.default_rng(0)
    x, y = random.normal(size=64).astype(np.float32), random.normal(size=64).astype(np.float32)
    expected = x * x + y
    for body, equal in (("y[i] = (x[i] * x[i]) + y[i];", False), ("y[i] = __fmul_rn(x[i], x[i]) + y[i];", True)):
        for contract in (False, True):
            result = y.copy()
            run(kernel(I + body, contract=contract), [result, x])
            assert np.array_equal(result, expected) == (equal or not contract)


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "body"), [(65, ""), (64, "  __shared__ float a[12289];\n  a[0] = x[0];")])
def test_what_a_gpu_refuses_to_launch_is_a_fault(threads, body):
    x, y = np.zeros(65, np.float32), np.zeros(65, np.float32)
    with pytest.raises(EmulationError, match="65 threads in a block|49156 bytes of static"):
        run(kernel(body), [y, x], threads=threads)


@pytest.mark.slow
def test_a_number_too_large_for_its_type_is_a_fault():
    x, y = np.full(64, 127.9, np.float32), np.zeros(64, np.int8)
    library = kernel(I + "  y[i] = ((signed char)x[i]);", "signed char* __restrict__ y, float* __restrict__ x")
    run(library, [y, x])
    assert (y == 127).all()
    x[3] = 128
    with pytest.raises(EmulationError, match=r"k, block \(0, 0, 0\), thread \(3, 0, 0\): 128 converted .* 8 bits"):
        run(library, [y, x])


@pytest.mark.slow
def test_a_word_that_cuda_has_not_is_refused():
    with pytest.raises(EmulationError, match="g\\+\\+ refuses the source: .*nonsense"):
        kernel("  nonsense(x);")


@pytest.mark.slow
def test_a_launch_of_no_kernel_is_refused():
    with pytest.raises(ValueError, match="no kernel \\['m'\\]"):
        on_cpu(HEAD.format(params="", body=""), {"m": []})


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize(("body", "fault"), [
    ("  y[i] = *(float*)(((char*)x) + 2);", "address 0x.* is not aligned to 4 bytes"),
    ("  float2 v = *(float2*)(x + 1);\n  y[i] = v.x;", "address 0x.* is not aligned to 8 bytes"),
    ("  *(float4*)(y + 2) = make_float4(x[0], x[0], x[0], x[0]);", "is not aligned to 16 bytes"),
    ("  int a[4];\n  for (int j = 0; j <= ((int)x[0]) + 4; ++j) a[j] = j;\n  y[i] = (float)a[i & 3];", "index 4 of an array"),
    ("  y[i] = (float)(i << (((int)x[0]) + 32));", "a shift by 32 bits"),
    ("  y[i] = (float)(i / ((int)x[0]));", "a division by zero"),
])  # fmt: skip
@pytest.mark.parametrize("barrier", ["", "  __syncthreads();\n"])
def test_what_a_gpu_refuses_or_does_otherwise_is_a_fault(body, fault, barrier):
    x, y = np.zeros(64, np.float32), np.zeros(72, np.float32)
    x, y = (Guarded.of(array, 0xCB).array for array in (x, y))
    with pytest.raises(EmulationError, match=fault):
        run(kernel(I + barrier + body), [y, x])
