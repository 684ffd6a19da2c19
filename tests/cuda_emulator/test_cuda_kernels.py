"""Kernels for GPUs against the definition: equal bits for every tile, shape, epilogue and order of threads."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv
from tests.cuda_emulator.emulate import FORWARD, REVERSE, SHUFFLED, run_function
from tests.cuda_emulator.library import missing_compiler
from tvmq.codegen.kernels.cuda.choose import DP4A, MMA
from tvmq.codegen.kernels.cuda.conv2d import conv2d
from tvmq.codegen.kernels.parts.kernel_types import Conv2d

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
SHAPES = [
    Conv2d(1, 5, 7, 8, 20),
    Conv2d(1, 9, 9, 3, 32, (3, 3), (2, 2), (1, 1, 1, 1)),
    Conv2d(1, 9, 8, 5, 16, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    Conv2d(2, 7, 7, 8, 36, (3, 3), (1, 1), (1, 1, 1, 1), groups=2),
    Conv2d(1, 7, 7, 16, 70, (3, 1), (1, 1), (1, 1, 0, 2), x_dtype="int8"),
]


def compare(conv: Conv2d, kind: str, *, arch: int = 80, order: int = FORWARD, tile=None, x_zero: int = 3) -> None:
    """Assert that the emulated kernel gives the bits of the definition."""
    target = tvm.target.Target({"kind": "cuda", "arch": f"sm_{arch}"}, host={"kind": "llvm", "mcpu": "generic"})
    x, weight, bias = conv_operands(conv)
    (epilogue, others) = epilogue_for(conv, kind)
    kernel = conv2d(conv, weight, bias, x_zero, epilogue, arch, tile)
    found = run_function(kernel.func, [x, *others, *kernel.constants], target, order=order)
    expected = expected_conv(conv, (x, weight, bias), x_zero, epilogue, others)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("conv", SHAPES, ids=lambda conv: f"{conv.channels}to{conv.filters}of{conv.kernel[0]}")
def test_shapes(conv):
    compare(conv, "codes", order=SHUFFLED)


@pytest.mark.slow
@pytest.mark.parametrize("tile", [*MMA, *DP4A], ids=lambda tile: tile.name)
def test_tiles(tile):
    compare(Conv2d(2, 9, 9, 20, 40, (3, 3), (1, 1), (1, 1, 1, 1)), "sums", tile=tile, order=REVERSE)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", ["sums", "codes", "int8 codes", "add", "table", "both"])
def test_epilogues(kind):
    compare(Conv2d(1, 6, 7, 16, 24), kind)


@pytest.mark.slow
@pytest.mark.parametrize("arch", [61, 75, 90])
def test_architectures(arch):
    compare(SHAPES[1], "codes", arch=arch)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("x_zero", [0, 127, 128, 155, 255])
def test_codes_of_the_padding(x_zero):
    compare(SHAPES[1], "sums", x_zero=x_zero)
