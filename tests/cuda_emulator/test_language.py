"""Words of CUDA, as the emulator defines them for the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cuda_emulator.library import compiled, missing_compiler
from tests.cuda_emulator.source import on_cpu
from tests.cuda_emulator.test_faults import I, kernel, run

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
LARGE = np.float32([np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483520, -2147483648, 0.5, 1.5, -0.9, 5e9])


def mapped(expression: str, x: np.ndarray, kind: str, dtype: str, source: str = "float") -> np.ndarray:
    """`expression` of `v` for each of up to 64 values."""
    y = np.zeros(64, dtype)
    padded = np.zeros(64, x.dtype)
    padded[: x.size] = x
    run(kernel(f"{I}  {source} v = x[i];\n  y[i] = {expression};", f"{kind}* y, {source}* x"), [y, padded])
    return y[: x.size]


@pytest.mark.slow
def test_conversions_to_32_bits_saturate_and_nan_is_zero():
    high, low = 2**31 - 1, -(2**31)
    expected = [0, high, low, high, low, 2147483520, low, 0, 1, 0, high]
    np.testing.assert_array_equal(mapped("((int)v)", LARGE, "int", "int32"), expected)
    unsigned = [0, 2**32 - 1, 0, 3_000_000_000, 0, 2147483520, 0, 0, 1, 0, 2**32 - 1]
    np.testing.assert_array_equal(mapped("((unsigned int)v)", LARGE, "unsigned", "uint32"), unsigned)
    np.testing.assert_array_equal(mapped("((int64_t)v)", LARGE[3:], "long", "int64"), LARGE[3:].astype(np.int64))


@pytest.mark.slow
def test_rounding_conversions():
    x = np.float32([0.5, 1.5, 2.5, -0.5, -1.5, 1e20, np.nan])
    expected = [0, 2, 2, 0, -2, 2**31 - 1, 0]
    np.testing.assert_array_equal(mapped("__float2int_rn(v)", x, "int", "int32"), expected)
    np.testing.assert_array_equal(mapped("rintf(v)", x[:5], "float", "float32"), np.rint(x[:5]))
    np.testing.assert_array_equal(mapped("roundf(v)", x[:5], "float", "float32"), [1, 2, 3, -1, -2])


@pytest.mark.slow
def test_a_number_wins_over_nan_and_plus_zero_over_minus_zero():
    x = np.float32([np.nan, 1, -0.0, 0.0])
    largest = mapped("max(v, -0x0p+0f)", x, "float", "float32")
    np.testing.assert_array_equal(largest.view(np.uint32), np.float32([-0.0, 1, -0.0, 0.0]).view(np.uint32))
    smallest = mapped("min(0x0p+0f, v)", x, "float", "float32")
    np.testing.assert_array_equal(smallest.view(np.uint32), np.float32([0, 0, -0.0, 0.0]).view(np.uint32))


@pytest.mark.slow
def test_doubles_mix_with_floats():
    x = np.float32([0.1, 1e-30])
    wide = mapped("(((double)v) * ((double)v))", x, "double", "float64")
    np.testing.assert_array_equal(wide, x.astype(np.float64) ** 2)
    narrow = mapped("((float)(((double)v) + ((double)1)))", x, "float", "float32")
    np.testing.assert_array_equal(narrow, (x.astype(np.float64) + 1).astype(np.float32))


@pytest.mark.slow
def test_bits_of_numbers():
    x = np.float32([1, -2.5, np.inf])
    np.testing.assert_array_equal(mapped("__float_as_int(v)", x, "int", "int32"), x.view(np.int32))
    np.testing.assert_array_equal(mapped("(*(int*)(&(v)))", x, "int", "int32"), x.view(np.int32))
    np.testing.assert_array_equal(mapped("__int_as_float(v)", x.view(np.int32), "float", "float32", "int"), x)


@pytest.mark.thinned(5)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("call", "source"), [
    ("__shfl_down_sync(__activemask(), v, 8, 32)", lambda i: i if i % 32 >= 24 else i + 8),
    ("__shfl_up_sync(0xffffffff, v, 3)", lambda i: i if i % 32 < 3 else i - 3),
    ("__shfl_xor_sync(0xffffffff, v, 5, 32)", lambda i: i ^ 5),
    ("__shfl_xor_sync(0xffffffff, v, 1, 8)", lambda i: i ^ 1),
    ("__shfl_sync(0xffffffff, v, 3, 16)", lambda i: i // 16 * 16 + 3),
])  # fmt: skip
def test_shuffles(call, source, order):
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(kernel(f"{I}  float v = x[i];\n  y[i] = {call};"), [y, x], order=order)
    np.testing.assert_array_equal(y, [source(i) for i in range(64)])


def test_what_a_shuffle_reads_from_a_lane_that_is_not_there_is_rubbish():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(kernel(f"{I}  y[i] = __shfl_down_sync(__activemask(), x[i], 8, 32);"), [y, x], threads=40)
    np.testing.assert_array_equal(y[:24], np.arange(8, 32))
    assert (y[32:40].view(np.uint8) == 0xCB).all()


def test_votes():
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.uint32)
    library = kernel(f"{I}  y[i] = __ballot_sync(0xffffffff, x[i] < 0x1p+1f);", "unsigned* y, float* x")
    run(library, [y, x])
    np.testing.assert_array_equal(y, [3] * 32 + [0] * 32)


@pytest.mark.slow
def test_products_of_four_bytes():
    random = np.random.default_rng(0)
    a, b = (random.integers(-128, 128, (64, 4), dtype=np.int8) for _ in range(2))
    expected = (a.astype(np.int32) * b).sum(1) + np.arange(64)
    for kind in ("int", "char4"):
        y = np.zeros(64, np.int32)
        run(kernel(f"{I}  y[i] = __dp4a((({kind}*)a)[i], (({kind}*)b)[i], i);", "int* y, signed char* a, signed char* b"),
            [y, a, b])  # fmt: skip
        np.testing.assert_array_equal(y, expected)


@pytest.mark.slow
def test_dynamic_shared_memory_has_a_guard():
    text = 'extern "C" __global__ void k(int* y) {\n  extern __shared__ alignas(64) unsigned char s[];\n'
    text += "  ((int*)s)[((int)threadIdx.x) + LATER] = 1;\n  __syncthreads();\n  y[((int)threadIdx.x)] = ((int*)s)[LATER];\n}\n"
    launch = {"k": ["threadIdx.x", "tirx.use_dyn_shared_memory"]}
    library = compiled(on_cpu(text.replace("LATER", "0"), launch))
    library.reset(0, 0xCB)
    y = np.zeros(8, np.int32)
    library.launch("k", [y], [8, 32])
    assert (y == 1).all()
    library = compiled(on_cpu(text.replace("LATER", "1"), launch))
    library.reset(0, 0xCB)
    with pytest.raises(Exception, match="dynamic shared memory was written 0 bytes behind"):
        library.launch("k", [y], [8, 32])


def test_grids_and_numbers_as_arguments():
    text = 'extern "C" __global__ void k(int* y, int n, float f) {\n'
    text += "  int i = ((((int)blockIdx.y) * 6 + ((int)blockIdx.x) * 2) + ((int)threadIdx.x));\n"
    text += "  y[i] = (((int)f) + (i * n)) + ((int)gridDim.x);\n}\n"
    library = compiled(on_cpu(text, {"k": ["blockIdx.y", "blockIdx.x", "threadIdx.x"]}))
    y = np.zeros(24, np.int32)
    for order in (0, 1, 2):
        library.reset(order, 0xCB)
        library.launch("k", [y, 7, 2.5], [4, 3, 2])
        np.testing.assert_array_equal(y, 2 + np.arange(24) * 7 + 3)
