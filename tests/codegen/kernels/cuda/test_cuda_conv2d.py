"""Convolutions and products on GPUs: compilation by nvcc, packing of weights, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.cuda.emulated import ARCHS, compiled, needs_compiler, needs_nvcc, run_kernel, source_of
from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv
from tvmq.codegen.kernels.cuda.choose import DP4A, MMA
from tvmq.codegen.kernels.cuda.conv2d import conv2d
from tvmq.codegen.kernels.cuda.windows import Depth, packed_channels, packed_weights
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Kernel, Requantize, TableStep
from tvmq.errors import BuildError

PICTURE = Conv2d(2, 14, 14, 64, 128, kernel=(3, 3), padding=(1, 1, 1, 1))
STEM = Conv2d(1, 32, 32, 3, 20, kernel=(7, 7), strides=(2, 2), padding=(3, 3, 3, 3), x_dtype="int8")


def kernel_of(conv: Conv2d, kind: str, arch: int = 80, **options) -> Kernel:
    _, weight, bias = conv_operands(conv)
    return conv2d(conv, weight, bias, 3, epilogue_for(conv, kind)[0], arch, **options)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("arch", ARCHS)
def test_the_sources_pass_nvcc_without_spills(arch, tmp_path):
    """Large tiles, and channels that are no words; one file, since nvcc takes long to begin."""
    tiles = (MMA[0], MMA[1], DP4A[0])
    kernels = {f"tile_{tile.name}": kernel_of(PICTURE, "both", tile=tile) for tile in tiles}
    kernels["stem"] = kernel_of(STEM, "int8 codes")
    source = source_of({name: kernel.func.with_attr("global_symbol", name) for name, kernel in kernels.items()}, arch)
    assert "tvmq_mma_u8s8(" in source and "tvmq_dp4a_u8s8(" in source
    _, report = compiled(source, arch, tmp_path)
    assert report.count("0 bytes spill stores, 0 bytes spill loads") == report.count("spill stores") == len(kernels)


def test_kernels_of_one_description_share_their_function():
    first, second = kernel_of(PICTURE, "codes"), kernel_of(PICTURE, "codes")
    assert first.key == second.key and first.key != kernel_of(PICTURE, "table").key
    assert hash(first.key) == hash(second.key)


def test_weights_stand_as_they_do_in_shared_memory():
    weight = np.arange(2 * 3 * 1 * 5 * 2 * 1, dtype=np.int64).reshape(6, 5, 2, 1).astype(np.int8)
    depth = Depth(Conv2d(1, 4, 4, 10, 6, kernel=(2, 1), groups=2), 16)
    packed = packed_weights(weight, depth, 2).reshape(2, 2, 1, 2, 16)  # group, tile, step, column, byte
    np.testing.assert_array_equal(packed[1, 0, 0, 1], [*weight[4, :, 0, 0], 0, 0, 0, *weight[4, :, 1, 0], 0, 0, 0])
    assert not packed[:, 1, :, 1].any()  # three filters a group: the fourth only fills the tile
    np.testing.assert_array_equal(packed_channels(np.arange(6), 2, 2), [0, 1, 2, 0, 3, 4, 5, 0])


def test_what_is_no_convolution_is_refused():
    weight = np.zeros((20, 3, 7, 7), np.int8)
    with pytest.raises(BuildError, match="kernels, cuda conv2d: input must be one of uint8, int8, int16, weights int8"):
        conv2d(STEM, weight, np.zeros(20, np.float32), 0, (), 80)
    with pytest.raises(BuildError, match="TableStep instead"):
        conv2d(STEM, weight, np.zeros(20, np.int32), 0, (TableStep(np.zeros(256, np.uint8)),), 80)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("tile", [MMA[6], DP4A[0]], ids=lambda tile: tile.name)
def test_codes_of_16_bits(tile):
    conv = Conv2d(1, 5, 6, 8, 20)
    operands = conv_operands(conv)
    multiplier = np.resize(np.float32([0.05, 1.0, 0.3, 1e30]), conv.filters)
    epilogue = (Requantize(multiplier, 0, -32767, 32767, "int16"),)
    kernel = conv2d(conv, *operands[1:], 0, epilogue, 80, tile=tile)
    np.testing.assert_array_equal(run_kernel(kernel, operands[:1]), expected_conv(conv, operands, 0, epilogue, ()))
