"""Depthwise convolutions on GPUs against the definition.

Products of few rows on GPUs against the definition.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.cuda.emulated import ARCHS, compiled, cuda_source, needs_compiler, needs_nvcc, run_kernel
from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv
from tvmq.codegen.kernels.cuda.depthwise import depthwise
from tvmq.codegen.kernels.cuda.few_rows import few_rows
from tvmq.codegen.kernels.cuda.templates import choose_convolution
from tvmq.codegen.kernels.parts.kernel_types import Conv2d, Dequantize, Kernel
from tvmq.errors import BuildError


def of(channels: int, height: int = 9, width: int = 7, **options) -> Conv2d:
    return Conv2d(2, height, width, channels, channels, groups=channels, **{"kernel": (3, 3), **options})


BORDER = {"padding": (1, 1, 1, 1)}
CASES = [
    (of(24, **BORDER), "add", 80),
    (of(20, **BORDER, strides=(2, 2)), "both", 80),
    (of(17, **BORDER), "table", 80),
    (of(3, **BORDER, x_dtype="int8"), "both", 80),
    (of(8, 12, 13, kernel=(5, 3), strides=(1, 2), padding=(2, 0, 1, 3), dilation=(2, 1), x_dtype="int8"), "int8 codes", 75),
    (of(8, 12, 13, kernel=(9, 1)), "sums", 90),
    (of(64, 30, 41, **BORDER), "both", 61),  # four pixels a thread, and a row that they do not fill
    (of(64, 24, 23, **BORDER), "codes", 61),
]  # fmt: skip


def kernel_of(conv: Conv2d, epilogue: tuple, arch: int) -> Kernel:
    _, weight, bias = conv_operands(conv)
    return depthwise(conv, weight, bias, 3, epilogue, arch)


@pytest.mark.slow
@pytest.mark.thinned(3)
@needs_compiler
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(number):
    conv, kind, arch = CASES[number]
    epilogue, others = epilogue_for(conv, kind)
    operands = conv_operands(conv)
    found = run_kernel(kernel_of(conv, epilogue, arch), (operands[0], *others), arch)
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 3, epilogue, others))


@pytest.mark.slow
@needs_compiler
def test_floats():
    conv, scale = of(8, **BORDER), np.linspace(0.1, 2, 8, dtype=np.float32)
    operands = conv_operands(conv)
    found = run_kernel(kernel_of(conv, (Dequantize(scale),), 80), operands[:1])
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 3, (), ()).astype(np.float32) * scale)


def test_pixels_of_a_thread_leave_threads_for_the_whole_gpu():
    wide, small = of(64, 112, 112, **BORDER), of(64, 7, 7, **BORDER)
    names = [kernel_of(conv, (), 80).name for conv in (wide, small, of(17))]
    assert names == ["depthwise_dp4a_4", "depthwise_dp4a_1", "depthwise_bytes_1"]


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("arch", ARCHS)
def test_the_source_passes_nvcc_without_spills(arch, tmp_path):
    conv = of(64, 112, 112, **BORDER)
    kernel = kernel_of(conv, epilogue_for(conv, "codes")[0], arch)
    assert "0 bytes spill stores" in compiled(cuda_source(kernel.name, kernel.func, arch), arch, tmp_path)[1]


def test_other_groups_are_refused():
    conv = Conv2d(1, 5, 5, 8, 16, kernel=(3, 3), groups=8)
    with pytest.raises(BuildError, match="8 channels, 16 filters and 8 groups"):
        kernel_of(conv, (), 80)


FEW_ROWS_CASES = [
    (Conv2d(1, 1, 1, 64, 10), "sums"),
    (Conv2d(1, 1, 1, 1040, 33), "both"),  # more than one turn of the lanes, the last one not whole
    (Conv2d(3, 1, 1, 20, 7, x_dtype="int8"), "add"),
    (Conv2d(1, 2, 4, 512, 12), "table"),
    (Conv2d(8, 1, 1, 4, 5), "int8 codes"),
]


@pytest.mark.slow
@pytest.mark.thinned(2)
@needs_compiler
@pytest.mark.parametrize("number", range(len(FEW_ROWS_CASES)))
def test_equals_the_definition_of_few_rows(number):
    conv, kind = FEW_ROWS_CASES[number]
    epilogue, others = epilogue_for(conv, kind)
    x, weight, bias = operands = conv_operands(conv)
    found = run_kernel(few_rows(conv, weight, bias, epilogue), (x, *others))
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 0, epilogue, others))


@pytest.mark.slow
@needs_compiler
def test_floats_of_few_rows():
    conv, scale = FEW_ROWS_CASES[2][0], np.linspace(0.1, 2, 7, dtype=np.float32)
    x, weight, bias = operands = conv_operands(conv)
    found = run_kernel(few_rows(conv, weight, bias, (Dequantize(scale),)), (x,))
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 0, (), ()).astype(np.float32) * scale)


@pytest.mark.slow
@needs_nvcc
def test_the_source_of_few_rows_passes_nvcc_without_spills(tmp_path):
    conv = Conv2d(8, 1, 1, 2048, 1000)
    _, weight, bias = conv_operands(conv)
    kernel = few_rows(conv, weight, bias, epilogue_for(conv, "codes")[0])
    assert "0 bytes spill stores" in compiled(cuda_source(kernel.name, kernel.func, 90), 90, tmp_path)[1]


def test_few_rows_are_chosen():
    names = []
    for conv in (FEW_ROWS_CASES[0][0], Conv2d(9, 1, 1, 64, 10), Conv2d(1, 1, 1, 63, 10)):
        names.append(choose_convolution(conv, conv_operands(conv)[1], None, 0, (), 80).name)
    assert [name.startswith("few_rows") for name in names] == [True, False, False]


def test_what_is_no_product_is_refused():
    conv = FEW_ROWS_CASES[0][0]
    _, weight, bias = conv_operands(conv)
    with pytest.raises(BuildError, match="kernels, cuda few_rows: weights must have shape"):
        few_rows(conv, weight[1:], bias, ())
