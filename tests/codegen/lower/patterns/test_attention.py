"""Lowering of products of two activations: operands read in place, scale and transpose inside, every shape exact."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import tvmq
from tests.passes.product_nets import attention
from tests.support.models.free_layers import LAYERS
from tests.support.models.networks import Net, block, drive
from tvmq.codegen.kernels.attention.shape import BatchMatmul, MatrixOperand, SizeProduct
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import find_chains
from tvmq.codegen.lower.rules.matrix_operands import name_sizes
from tvmq.codegen.lower.strides import StridedView, contiguous_view, strided_view
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph.view import View, op_name

QKV = 'x: R.Tensor((1, 5, 3, 2, 4), "uint8")'


def view_of(body: str, result: str, signature: str = QKV) -> View:
    return View(block(signature, body, f'{result}, "uint8"'))


def everything(_name: str) -> bool:
    return True


def test_heads_of_one_tensor_are_views_of_it() -> None:
    body = """
    t = R.permute_dims(x, [2, 0, 3, 1, 4])
    s = R.strided_slice(t, axes=[0], begin=[1], end=[2])
    k = R.squeeze(s, axis=[0])
    y = R.permute_dims(k, [0, 1, 3, 2])
    """
    found = strided_view(view_of(body, "(1, 2, 4, 5)"), "y", everything)
    assert (found.base, found.offset, found.shape) == ("x", 8, (1, 2, 4, 5))
    assert found.strides[1:] == (4, 1, 24)


def test_a_reshape_that_has_to_copy_begins_anew() -> None:
    body = "t = R.permute_dims(x, [0, 2, 1, 3, 4])\nr = R.reshape(t, (1, 15, 8))\nq = R.reshape(r, (15, 2, 4))\ny = R.permute_dims(q, [1, 0, 2])"
    found = strided_view(view_of(body, "(2, 15, 4)"), "y", everything)
    assert (found.base, found.offset, found.strides) == ("r", 0, (4, 8, 1))


def test_a_tensor_inside_a_kernel_is_no_base() -> None:
    body = "t = R.permute_dims(x, [0, 2, 1, 3, 4])\ny = R.reshape(t, (1, 3, 5, 8))"
    assert strided_view(view_of(body, "(1, 3, 5, 8)"), "y", lambda name: name != "x").base == "t"
    assert strided_view(view_of("y = R.negative(x)", "(1, 5, 3, 2, 4)"), "y", everything) == contiguous_view(
        "y", (1, 5, 3, 2, 4)
    )


FREE = 'x: R.Tensor(("batch", "words", 24), "uint8")'
HEADS = 'r = R.reshape(x, R.shape([batch, words, 3, 8]))\n'


def free_view_of(body: str, result: str) -> StridedView:
    sizes = "batch, words = T.int64(), T.int64()\n"
    return strided_view(view_of(sizes + body, result, FREE), "y", everything)


def test_distances_are_products_of_dynamic_sizes() -> None:
    layout = free_view_of(HEADS + "y = R.permute_dims(r, [0, 2, 3, 1])", '("batch", 3, 8, "words")')
    assert layout == StridedView("x", 0, ("batch", 3, 8, "words"), (SizeProduct(24, ("words",)), 8, 1, 24))


@pytest.mark.parametrize("tokens", ["past + words", "past + 1"])
def test_a_sum_of_dynamic_sizes_is_a_size(tokens: str) -> None:
    body = "past, words = T.int64(), T.int64()\ny = R.permute_dims(x, [0, 1, 3, 2])"
    cache = f'x: R.Tensor((1, 3, "{tokens}", 64), "int8"), z: R.Tensor(("past", "words"), "int8")'
    layout = strided_view(view_of(body, f'(1, 3, 64, "{tokens}")', cache), "y", everything)
    strides = SizeProduct(192, (tokens,)), SizeProduct(64, (tokens,)), 1, 64
    assert layout == StridedView("x", 0, (1, 3, 64, tokens), strides)


def test_slices_of_known_places_are_views_of_dynamic_sizes() -> None:
    body = HEADS + "y = R.strided_slice(r, axes=[2], begin=[1], end=[2])"
    layout = free_view_of(body, '("batch", "words", 1, 8)')
    assert (layout.base, layout.offset, layout.strides[0]) == ("x", 8, SizeProduct(24, ("words",)))


def test_slices_from_places_that_only_a_run_tells_are_copies() -> None:
    body = "s = R.strided_slice(x, axes=[1], begin=[words - 1], end=[words])\n"
    layout = free_view_of(body + "y = R.reshape(s, R.shape([batch, 24]))", '("batch", 24)')
    assert layout == StridedView("s", 0, ("batch", 24), (24, 1))


def test_a_size_that_no_tensor_has_makes_no_description() -> None:
    operand = MatrixOperand((5, 7), "uint8", 0, (SizeProduct(7, ("words",)),), 7, 1)
    product = BatchMatmul(("batch",), 5, 7, 5, operand, operand, operand, 0, 0)
    assert name_sizes(product, ("a", "b", "y")) is None


MATRICES = 'a: R.Tensor((2, 3, 4, 5), "uint8"), b: R.Tensor((2, 3, 5, 6), "uint8")'
PRODUCT = "m = R.tvmq.matmul(a, b, a_zero=3, b_zero=7)\n"
SCALED = 'd = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(0, "int32"))\n'


@pytest.mark.parametrize(("body", "members"), [
    (SCALED + "y = R.permute_dims(d, [0, 2, 1, 3])", ["m", "d", "y"]),
    (SCALED + "y = R.permute_dims(d, [0, 1, 3, 2])", ["m", "d"]),
    (SCALED + "y = R.permute_dims(d)", ["m", "d"]),
    ('y = R.tvmq.requantize(m, R.const(0.01, "float32"), R.const(0, "int32"), zero_point=3)', ["m", "y"]),
    (
        'y = R.tvmq.requantize(m, R.const(1, "int32"), R.const(-7, "int32"), zero_point=3, mode="fixed_point")',
        ["m", "y"],
    ),
    ('y = R.tvmq.dequantize(m, R.const(0.5, "float32"), R.const(9, "int32"))', None),
    ("y = R.permute_dims(m, [0, 2, 1, 3])", None),
])  # fmt: skip
def test_what_goes_into_the_kernel(body: str, members: list[str] | None) -> None:
    text = body.split("y = ")[1]
    shape = {"R.permute_dims(d, [0, 2, 1, 3])": "(2, 4, 3, 6)", "R.permute_dims(d)": "(6, 4, 3, 2)"}.get(
        text, "(2, 3, 4, 6)"
    )
    shape = "(2, 3, 6, 4)" if "[0, 1, 3, 2]" in body else "(2, 4, 3, 6)" if "[0, 2, 1, 3]" in body else shape
    dtype = "float32" if "dequantize" in body else "uint8" if "requantize" in body else "int32"
    view = View(block(MATRICES, PRODUCT + body, f'{shape}, "{dtype}"'))
    chains = [chain.members for chain in find_chains(view).values()]
    assert chains == ([members] if members else [])


@pytest.mark.slow
def test_attention_needs_no_copies() -> None:
    """The integer core of attention is one kernel between the dense layers."""
    n = Net((1, 9, 24))
    model = n.model(attention(n, "x", 24, 3))
    quantized = drive(model).quantized
    lowered = tvm.relax.transform.DeadCodeElimination()(Lowerer(quantized, isa_named("avx2")).run())
    names = [op_name(binding.value) for blocks in lowered["main"].body.blocks for binding in blocks.bindings]
    assert "permute_dims" not in names and "strided_slice" not in names
    kernels = "\n".join(gvar.name_hint for gvar, _ in lowered.functions_items())
    assert kernels.count("kernel_attention") == 1 and "softmax" not in kernels and "batch_matmul" not in kernels
    assert "nhwc" not in kernels and "nchw" not in kernels


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention", "attention, masked"])
def test_attention_of_any_length_needs_no_copies(name: str) -> None:
    layer = LAYERS[name]
    module = tvmq.quantize(*tvmq.from_onnx(layer.make()), layer.feeds(1, 4), guard=None)
    lowered = tvm.relax.transform.DeadCodeElimination()(Lowerer(module, isa_named("avx2")).run())
    kernels = "\n".join(gvar.name_hint for gvar, _ in lowered.functions_items())
    assert kernels.count("kernel_dynamic_attention") == 1
    assert not any(word in kernels for word in ("softmax", "dynamic_matmul", "dynamic_scores", "transpose"))


@pytest.mark.slow
@pytest.mark.parametrize("requantize", ["float", "fixed_point"])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_attention_is_exact_on_every_cpu(dtype: str, requantize: str) -> None:
    n = Net((1, 11, 20))
    model = n.model(n.op("MatMul", attention(n, "x", 20, 5, scale="before"), n.constant(n.weight(20, 3))))
    road = drive(model, dtype_input=dtype, requantize=requantize)
    feed = {"x": np.random.default_rng(5).standard_normal((1, 11, 20)).astype(np.float32)}
    (expected,) = tvmq.reference.run(road.quantized, feed)
    for cpu in ("x86-64", "haswell", "skylake-avx512"):
        target = f"llvm -mcpu={cpu}"
        if not _runs_here(target):
            continue
        (found,) = tvmq.build(road.quantized, target=target).run(feed)
        np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


@pytest.mark.slow
def test_attention_whose_result_is_float_is_one_kernel_too() -> None:
    """Products in 8 bits, all else in float: softmax stays inside of the kernel, which writes floats."""
    n = Net((1, 9, 24))
    model = n.model(attention(n, "x", 24, 3))
    road = drive(model, rules=(tvmq.Rule(lambda layer: layer.macs == 0, None),))
    feed = {"x": np.random.default_rng(5).standard_normal((1, 9, 24)).astype(np.float32)}
    exe = road.executable
    kernels = [kernel for layer in exe.profile(feed, repeat=1).layers for kernel in layer.kernels]
    assert sum(kernel.startswith("attention") for kernel in kernels) == 1
    assert not any("softmax" in kernel or "batch_matmul" in kernel for kernel in kernels)
    assert tvmq.verify(exe, [feed]).exact


def _runs_here(target: str) -> bool:
    from tvmq.codegen.target.cpu import missing_features

    return not missing_features(resolve_target(target).needs)


@pytest.mark.slow
def test_depths_beyond_the_kernel_go_the_generic_way() -> None:
    n = Net((1, 2, 17000), (1, 17000, 2))
    model = n.model(n.op("MatMul", "x", "x1"))
    drive(model)


def test_empty_products() -> None:
    mod = block(
        'a: R.Tensor((2, 0, 5), "uint8"), b: R.Tensor((2, 5, 3), "uint8")',
        "y = R.tvmq.matmul(a, b, a_zero=3, b_zero=7)",
        '(2, 0, 3), "int32"',
    )
    feed = {"a": np.zeros((2, 0, 5), np.uint8), "b": np.ones((2, 5, 3), np.uint8)}
    assert tvmq.build(mod).run(feed)[0].shape == (2, 0, 3)
