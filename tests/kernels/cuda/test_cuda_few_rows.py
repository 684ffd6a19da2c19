"""Products of few rows on GPUs against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.cuda.emulated import needs_compiler, run_kernel
from tests.kernels.cuda.nvcc import compiled, cuda_source, needs_nvcc
from tests.kernels.harness import conv_operands, epilogue_for, expected_conv
from tvmq.errors import BuildError
from tvmq.kernels.cuda.few_rows import few_rows
from tvmq.kernels.cuda.templates import choose_convolution
from tvmq.kernels.parts.types import Conv2d, Dequantize

CASES = [
    (Conv2d(1, 1, 1, 64, 10), "sums"),
    (Conv2d(1, 1, 1, 1040, 33), "both"),  # more than one turn of the lanes, the last one not whole
    (Conv2d(3, 1, 1, 20, 7, x_dtype="int8"), "add"),
    (Conv2d(1, 2, 4, 512, 12), "table"),
    (Conv2d(8, 1, 1, 4, 5), "int8 codes"),
]


@pytest.mark.thinned(2)
@needs_compiler
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(number):
    conv, kind = CASES[number]
    epilogue, others = epilogue_for(conv, kind)
    x, weight, bias = operands = conv_operands(conv)
    found = run_kernel(few_rows(conv, weight, bias, epilogue), (x, *others))
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 0, epilogue, others))


@needs_compiler
def test_floats():
    conv, scale = CASES[2][0], np.linspace(0.1, 2, 7, dtype=np.float32)
    x, weight, bias = operands = conv_operands(conv)
    found = run_kernel(few_rows(conv, weight, bias, (Dequantize(scale),)), (x,))
    np.testing.assert_array_equal(found, expected_conv(conv, operands, 0, (), ()).astype(np.float32) * scale)


@pytest.mark.slow
@needs_nvcc
def test_the_source_passes_nvcc_without_spills(tmp_path):
    conv = Conv2d(8, 1, 1, 2048, 1000)
    _, weight, bias = conv_operands(conv)
    kernel = few_rows(conv, weight, bias, epilogue_for(conv, "codes")[0])
    assert "0 bytes spill stores" in compiled(cuda_source(kernel.name, kernel.func, 90), 90, tmp_path)[1]


def test_few_rows_are_chosen():
    names = []
    for conv in (CASES[0][0], Conv2d(9, 1, 1, 64, 10), Conv2d(1, 1, 1, 63, 10)):
        names.append(choose_convolution(conv, conv_operands(conv)[1], None, 0, (), 80).name)
    assert [name.startswith("few_rows") for name in names] == [True, False, False]


def test_what_is_no_product_is_refused():
    conv = CASES[0][0]
    _, weight, bias = conv_operands(conv)
    with pytest.raises(BuildError, match="kernels, cuda few_rows: weights must have shape"):
        few_rows(conv, weight[1:], bias, ())
