"""free_matmul kernels against the definition: one function, many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

from tests.kernels.harness import compile_function, levels
from tvmq import numerics
from tvmq.kernels.attention.dynamic_matmul import FreeMatmul, free_matmul
from tvmq.kernels.isa import isa_named

FREE = (("matrices",), "rows", "depth", "columns")
SIZES = [(1, 1, 1, 1), (2, 7, 3, 15), (1, 8, 32, 16), (3, 9, 5, 17), (2, 20, 33, 40)]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw", "avx512vnni"))
@pytest.mark.parametrize("dtypes", [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8")])
def test_equals_the_definition(level: str, dtypes: tuple[str, str]) -> None:
    random = np.random.default_rng(0)
    zeros = tuple({"uint8": 200, "int8": -7}[dtype] for dtype in dtypes)
    kernel = free_matmul(FreeMatmul(*FREE, dtypes, zeros), isa_named(level))
    run = compile_function(kernel.name, kernel.func, level)
    for batch, rows, depth, columns in SIZES:
        a, b = (
            random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
            for dtype, shape in zip(dtypes, ((batch, rows, depth), (batch, depth, columns)), strict=True)
        )
        tensors = [tvm.runtime.tensor(x) for x in (a, b, np.full((batch, rows, columns), 77, np.int32))]
        run(*tensors)
        expected = numerics.matmul(a, b, a_zero=zeros[0], b_zero=zeros[1])
        np.testing.assert_array_equal(tensors[-1].numpy(), expected)


@pytest.mark.parametrize(
    "fixed", [((2,), "rows", 8, "columns"), (("m", 1), "rows", "depth", 32), ((1, "m"), 3, "depth", 5)]
)
def test_sizes_that_are_known(fixed: tuple[Any, ...]) -> None:
    random = np.random.default_rng(1)
    kernel = free_matmul(FreeMatmul(*fixed, ("uint8", "uint8"), (3, 128)), isa_named("generic"))
    run = compile_function(kernel.name, kernel.func, "generic")
    for free in (1, 9, 30):
        batch = [size if isinstance(size, int) else free for size in fixed[0]]
        rows, depth, columns = (size if isinstance(size, int) else free for size in fixed[1:])
        a = random.integers(0, 256, (*batch, rows, depth)).astype(np.uint8)
        b = random.integers(0, 256, (*batch, depth, columns)).astype(np.uint8)
        tensors = [tvm.runtime.tensor(x) for x in (a, b, np.zeros((*batch, rows, columns), np.int32))]
        run(*tensors)
        np.testing.assert_array_equal(tensors[-1].numpy(), numerics.matmul(a, b, a_zero=3, b_zero=128))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avxvnni", "avx512vnni"))
def test_sums_at_the_ends_of_int32(level: str) -> None:
    """The most products that are allowed, of the largest codes: parts of the sum wrap where bytes are not centred."""
    depth, columns = 33024, 17
    for codes, zeros in (((0, 255), (255, 0)), ((255, 255), (0, 0))):
        kernel = free_matmul(FreeMatmul(*FREE, ("uint8", "uint8"), zeros), isa_named(level))
        a = np.full((1, 9, depth), codes[0], np.uint8)
        b = np.full((1, depth, columns), codes[1], np.uint8)
        tensors = [tvm.runtime.tensor(x) for x in (a, b, np.full((1, 9, columns), 77, np.int32))]
        compile_function(kernel.name, kernel.func, level)(*tensors)
        expected = (codes[0] - zeros[0]) * (codes[1] - zeros[1]) * depth
        assert np.unique(tensors[-1].numpy()).tolist() == [expected]
