"""Layers of a model that run on the templates for GPUs."""

from dataclasses import replace

import numpy as np
import pytest

import tvmq
from tests.codegen.kernels.cuda.emulated import needs_compiler
from tests.codegen.kernels.harness import conv_operands
from tests.cuda_emulator.model import EmulatedModel
from tests.passes.product_nets import attention
from tests.support.devices.gpu import needs_nvcc
from tests.support.models.networks import Net, drive
from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand
from tvmq.codegen.kernels.cuda import templates
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.target.cuda import cuda_target
from tvmq.codegen.target.nvcc import compile_source
from tvmq.reference import Reference


@pytest.mark.slow
def test_all_convolutions_and_products_of_a_network_are_ours(digits):
    exe = tvmq.build(digits.quantized, target={"kind": "cuda", "arch": "sm_75"})
    of_cpu = [layer for layer, name in digits.exe.kernels.items() if name.startswith(("conv2d", "depthwise"))]
    kinds = {exe.kernels[layer].split("_")[0] for layer in of_cpu}
    assert kinds == {"conv2d", "depthwise", "few"} and "tvmq_mma_u8s8(" in exe.source
    assert any("mma_" in name for name in exe.kernels.values())


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("arch", ["sm_75", "sm_80"])
def test_nvcc_takes_a_whole_network_and_finds_tensor_cores_in_it(digits, arch):
    exe = tvmq.build(digits.quantized, target={"kind": "cuda", "arch": arch})
    text = compile_source(exe.source, arch, "ptx").decode()
    assert ("mma.sync.aligned.m16n8k32" if arch == "sm_80" else "mma.sync.aligned.m8n8k16") in text


def test_the_choice_of_kernels_knows_the_gpu():
    assert (cuda_target("cuda -arch=sm_90a").isa.arch, cuda_target("cuda -arch=sm_120").isa.arch) == (90, 120)


def test_what_no_template_takes_is_left():
    conv = Conv2d(1, 5, 5, 8, 16, kernel=(3, 3))
    _, weight, bias = conv_operands(conv)
    assert templates.choose_convolution(conv, weight, None, 0, (), 80) is not None
    assert templates.choose_convolution(replace(conv, x_dtype="float32"), weight, bias, 0, (), 80) is None
    assert templates.choose_convolution(replace(conv, batch=2**28), weight, bias, 0, (), 80) is None
    square = MatrixOperand((70000, 4, 4), "uint8", 0, (16,), 4, 1)
    product = BatchMatmul((1,), 4, 4, 4, square, square, square, 0, 0)
    assert templates.choose_batch_matmul(product, None, 80) is not None
    for changes in ({"batch": (70000,)}, {"depth": 20000}, {"a": replace(square, column=2)}):
        assert templates.choose_batch_matmul(replace(product, **changes), None, 80) is None


def test_a_bias_is_zero_where_there_is_none():
    conv = Conv2d(1, 5, 5, 8, 16)
    kernel = templates.choose_convolution(conv, conv_operands(conv)[1], None, 0, (), 80)
    assert not np.any(kernel.constants[1])


@pytest.mark.slow
@needs_compiler
def test_requantize_in_integers_is_part_of_the_kernels(digits):
    """Kernels write no sums of int32 to memory, and the codes are those of the definition."""
    with tvmq.qconfig(requantize="fixed_point"):
        quantized = tvmq.quantize(digits.mod, digits.params, {"image": digits.example.calibration[:16]}, guard=None)
    model = EmulatedModel(quantized)
    pictures = digits.pictures(1)
    for found, wanted in zip(model.run(pictures), Reference(quantized).run(pictures), strict=True):
        np.testing.assert_array_equal(found, wanted)
    templates = [text for text in model.source.split("__global__")[1:] if "tvmq_mma" in text]
    assert templates and all("int* __restrict__ y_ptr" not in text for text in templates)


@pytest.mark.slow
@pytest.mark.thinned(2)
@needs_compiler
@pytest.mark.parametrize("requantize", ["float", "fixed_point"])
def test_attention(requantize):
    """Both products of two activations have the template, with what scales their sums, and the bits."""
    n = Net((1, 11, 20))
    road = drive(n.model(attention(n, "x", 20, 5, scale="before")), requantize=requantize)
    feed = {"x": np.random.default_rng(5).standard_normal((1, 11, 20)).astype(np.float32)}
    model = EmulatedModel(road.quantized)
    for found, wanted in zip(model.run(feed), Reference(road.quantized).run(feed), strict=True):
        np.testing.assert_array_equal(found.view(np.uint32), wanted.view(np.uint32))
    templates = [text for text in model.source.split("__global__")[1:] if "batch_matmul" in text and "tvmq_mma" in text]
    assert len(templates) == 2 and all("int* __restrict__ y_ptr" not in text for text in templates)
