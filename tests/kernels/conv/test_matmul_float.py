"""matmul_float kernels: one function for any number of rows, with the bits of conv2d_float."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import levels, run_kernel
from tvmq.errors import BuildError
from tvmq.kernels.conv.conv2d_float import conv2d_float
from tvmq.kernels.conv.matmul import matmul_float
from tvmq.kernels.isa import isa_named
from tvmq.kernels.parts.types import Clip, Conv2d

ROWS = (1, 2, 5, 6, 7, 13, 64, 131)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", levels("generic", "avx2", "avx512bw"))
@pytest.mark.parametrize("depth, columns", [(1, 1), (17, 65), (64, 40), (256, 96)])
def test_equals_the_convolution_of_so_many_pixels(level: str, depth: int, columns: int) -> None:
    random = np.random.default_rng(depth)
    weight = random.standard_normal((depth, columns)).astype(np.float32)
    bias = random.standard_normal(columns).astype(np.float32)
    epilogue, isa = (Clip(-1.0, np.inf),), isa_named(level)
    kernel = matmul_float(("rows",), weight, bias, epilogue, isa)
    for rows in ROWS:
        x = random.standard_normal((rows, depth)).astype(np.float32)
        found = run_kernel(kernel, (x,), level)
        exact = np.maximum(x.astype(np.float64) @ weight + bias, -1.0)
        np.testing.assert_allclose(found, exact, atol=2e-6 * depth, rtol=0)
        if rows in (1, 7, 64):
            conv = Conv2d(1, rows, 1, depth, columns, x_dtype="float32")
            fixed = conv2d_float(conv, weight.T.reshape(columns, depth, 1, 1).copy(), bias, epilogue, isa)
            same = run_kernel(fixed, (x.reshape(1, rows, 1, depth),), level).reshape(rows, columns)
            np.testing.assert_array_equal(found.view(np.int32), same.view(np.int32), err_msg=f"{rows} rows")


def test_what_does_not_fit_is_refused() -> None:
    weight, isa = np.zeros((4, 8), np.float32), isa_named("generic")
    with pytest.raises(BuildError, match="matmul_float"):
        matmul_float(("rows",), weight, np.zeros(7, np.float32), (), isa)
