"""Lowering: pictures stay NHWC inside of the core, kernels are shared, names are kept, nothing is computed twice."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.passes.nets import NETS
from tests.support.models.networks import Net, block, drive
from tvmq.codegen.kernels.parts.kernel_types import Isa
from tvmq.codegen.lower.lowerer import Lowerer, lower
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph.names import get_names
from tvmq.graph.view import View, op_name
from tvmq.reference import Reference

ISA = resolve_target("llvm").isa


def lowered(mod: tvm.IRModule, isa: Isa = ISA) -> tuple[tvm.IRModule, list[str]]:
    """The lowered module, and what each binding calls: kernels by their name without number, operators by theirs."""
    lowerer = Lowerer(mod, isa)
    result = lowerer.run()
    relax.analysis.well_formed(result)
    names = []
    for var, value in View(result).bindings:
        kernel = lowerer.kernel_names.get(var.name, "")
        names.append(kernel.split("_")[0] if kernel else op_name(value) or "tuple")
    return result, names


def integer(net: Net, *outputs: str) -> tvm.IRModule:
    return drive(net.model(*outputs)).quantized


@pytest.mark.slow
def test_the_core_has_no_transposes() -> None:
    """Residual network of convolutions, pools, sums, concat, table: codes become NHWC once, at the border."""
    n = Net((1, 3, 12, 12))
    y = n.op("Relu", n.conv("x", 3, 8))
    y = n.op("Add", y, n.conv(n.op("HardSwish", n.conv(y, 8, 8)), 8, 8))
    y = n.op(
        "Concat",
        n.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]),
        n.op("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2]),
        axis=1,
    )
    scales = n.constant(np.float32([1, 1, 2, 2]))
    y = n.op("Resize", y, "", scales, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    gate = n.op("Sigmoid", n.conv(n.op("GlobalAveragePool", y), 16, 16, 1))
    y = n.dense(n.op("Flatten", n.op("GlobalAveragePool", n.conv(n.op("Mul", y, gate), 16, 8, 1))), 8, 4)
    _, names = lowered(integer(n, y))
    assert "permute_dims" not in names and "to" not in names
    assert names.count("tvmq.quantize") + names.count("quantize") == 1


@pytest.mark.slow
def test_a_result_leaves_in_its_own_layout() -> None:
    """A picture as a result takes a single transpose, a result of one pixel takes none."""
    n = Net((1, 3, 6, 6))
    mod, _ = lowered(integer(n, n.conv("x", 3, 5)))
    assert [int(d) for d in mod["main"].ret_ty.shape] == [1, 5, 6, 6]
    n = Net((1, 3, 6, 6))
    _, names = lowered(integer(n, n.op("GlobalAveragePool", n.conv("x", 3, 5))))
    assert "permute_dims" not in names and not any(name.startswith("to") for name in names)


@pytest.mark.slow
def test_a_result_with_its_channels_last_is_not_moved() -> None:
    """A result that is NHWC is returned as it lies in memory; any other order of its axes is a transpose."""
    for axes, moved in ([0, 2, 3, 1], False), ([0, 2, 1, 3], True):
        n = Net((1, 3, 6, 6))
        module = integer(n, n.op("Transpose", n.conv("x", 3, 5), perm=axes))
        _, names = lowered(module)
        assert any(name.startswith("to_nchw") or name == "permute_dims" for name in names) is moved, names
        x = np.random.default_rng(0).random((1, 3, 6, 6), dtype=np.float32)
        assert np.array_equal(tvmq.build(module)(x), Reference(module).run({"x": x})[0])


@pytest.mark.slow
def test_equal_layers_share_a_function() -> None:
    """Same shapes and steps, other weights: one kernel, two calls.

    With VNNI: on AVX2 alone a kernel depends on how many products of its weights fit in 16 bits.
    """
    n = Net((1, 8, 6, 6))
    y = n.op("Relu", n.conv("x", 8, 8))
    module = integer(n, n.conv(n.op("Relu", n.conv(n.op("Relu", n.conv(y, 8, 8)), 8, 8)), 8, 8))
    mod, _ = lowered(module, Isa("avx512vnni", 64))
    calls = [value.args[0].name_hint for _, value in View(mod).bindings if op_name(value) == "call_tir"]
    convolutions = [call for call in calls if "conv2d" in call]
    assert len(convolutions) == 4 and len(set(convolutions)) < 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["squeeze_excite", "split_branches", "island_of_layer_norm", "concat_shared_part"])
def test_names_survive(name: str) -> None:
    """Every variable of the lowered module knows its layers, and every layer of the model is there."""
    made, outputs = NETS[name]()
    module = drive(made.model(*outputs)).quantized
    mod, _ = lowered(module)
    names = get_names(mod["main"])
    assert all(var.name in names for var, _ in View(mod).bindings)
    found = {source for sources in names.values() for source in sources}
    assert {source for sources in get_names(module["main"]).values() for source in sources} <= found


@pytest.mark.slow
def test_a_kernel_carries_all_names_of_its_chain() -> None:
    made, outputs = NETS["residual"]()
    executable = drive(made.model(*outputs)).executable
    assert any({"/conv_1", "/relu_2"} <= set(group) for group in executable.names.values())


@pytest.mark.slow
def test_executables_say_which_kernel_computes_what() -> None:
    made, outputs = NETS["squeeze_excite"]()
    kernels = drive(made.model(*outputs)).executable.kernels
    kinds = {name.split("_")[0] for name in kernels.values()}
    assert {"conv2d", "multiply", "sum"} <= kinds


FUNCTIONS = [
    "relu", "clip", "sigmoid", "tanh", "exp", "erf", "silu", "gelu", "leakyrelu", "sqrt", "negative", "abs", "cos",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_float_functions_equal_the_reference_in_either_layout(function: str) -> None:
    """Behind a convolution (NHWC) and behind the input (NCHW); fused or alone they give the same bits."""
    text = {"clip": "R.clip({}, -1, 1)", "relu": "R.nn.relu({})", "silu": "R.nn.silu({})", "gelu": "R.nn.gelu({})"}
    text |= {"leakyrelu": "R.nn.leakyrelu({})", "sqrt": "R.sqrt(R.abs({}))"}
    call = text.get(function, f"R.{function}({{}})")
    weight = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
    mod = block(
        'x: R.Tensor((2, 3, 5, 6), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")',
        f"c = R.nn.conv2d(x, w, padding=1)\na = {call.format('c')}\nb = R.add(a, c)\nd = {call.format('x')}\ne = R.nn.conv2d(d, w, padding=1)\ny = R.multiply(b, e)",
        '(2, 4, 5, 6), "float32"',
        w=weight,
    )
    feeds = [{"x": np.random.default_rng(seed).standard_normal((2, 3, 5, 6)).astype(np.float32)} for seed in range(2)]
    assert tvmq.verify(tvmq.build(mod), feeds).exact


BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum"]


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("operator", BINARY)
@pytest.mark.parametrize("shape", [(1, 4, 1, 1), (4, 1, 1), (1, 1, 5, 6), (6,), (1, 4, 5, 6), ()])
def test_constants_broadcast_in_nhwc(operator: str, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(2)
    weight = random.standard_normal((4, 3, 1, 1)).astype(np.float32)
    constant = random.uniform(0.5, 2, shape).astype(np.float32)
    mod = block(
        f'x: R.Tensor((2, 3, 5, 6), "float32"), w: R.Tensor((4, 3, 1, 1), "float32"), b: R.Tensor({shape}, "float32")',
        f"c = R.nn.relu(R.nn.conv2d(x, w))\nd = R.{operator}(c, b)\ny = R.{operator}(b, d)",
        '(2, 4, 5, 6), "float32"',
        w=weight,
        b=constant,
    )
    x = random.standard_normal((2, 3, 5, 6)).astype(np.float32)
    found = tvmq.build(mod).run({"x": x})[0]
    conv = np.maximum(np.einsum("nchw,fc->nfhw", x.astype(np.float64), weight[:, :, 0, 0].astype(np.float64)), 0)
    function = getattr(np, operator)
    with np.errstate(divide="ignore"):
        expected = function(constant, function(conv, constant))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axes", [[2, 3], [1], [2], [0, 2, 3], [1, 2, 3], [3]])
def test_means_over_any_axes(axes: list[int], keepdims: bool) -> None:
    n = Net((2, 3, 5, 6))
    y = n.op("ReduceMean", n.op("Relu", n.conv("x", 3, 4)), axes=axes, keepdims=int(keepdims))
    drive(n.model(y), least_snr=25)


@pytest.mark.slow
def test_slices_over_any_axes() -> None:
    n = Net((2, 3, 7, 6))
    y = n.op("Relu", n.conv("x", 3, 4))
    arrays = [n.constant(np.int64(v)) for v in ([0, 1, -1, 5], [2, 4, -8, -7], [0, 1, 2, 3], [1, 2, -2, -1])]
    drive(n.model(n.op("Slice", y, *arrays)), least_snr=25)


@pytest.mark.slow
def test_concat_of_pictures_over_any_axis() -> None:
    n = Net((2, 3, 5, 5))
    a, b = n.conv("x", 3, 3), n.conv("x", 3, 3, 1)
    drive(n.model(*(n.op("Concat", a, b, axis=axis) for axis in range(4))), least_snr=25)


def test_a_function_of_lower_gives_the_same_module() -> None:
    mod = block('x: R.Tensor((1, 2, 3, 3), "float32")', "y = R.nn.relu(x)")
    tvm.ir.assert_structural_equal(lower(mod, ISA), Lowerer(mod, ISA).run())
