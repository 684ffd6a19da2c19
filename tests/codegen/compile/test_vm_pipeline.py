"""Compilation to executables: kernels pass through, neighbours are fused, reshapes cost nothing, no log output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.relax import op as R
from tvm.script.ir_builder import tirx as T

from tests.codegen.kernels.harness import conv_operands, epilogue_for
from tests.support.models.built_modules import build_module
from tvmq.codegen.compile.kernel_objects import _compile_kernels as object_file
from tvmq.codegen.compile.vm_pipeline import OPT_LEVEL, OPTIONS, UNUSED, compile_module, fuse, lower
from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.parts import builder
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.schedule.generic import mark_kernel
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import BuildError

TARGET = resolve_target("llvm")
SHAPE = (1, 8, 8, 16)


def twice() -> Any:
    """A kernel of SHAPE."""
    with builder.FunctionBuilder("twice", {"x": (SHAPE, "float32"), "y": (SHAPE, "float32")}) as function:
        x, y = (builder.flatten_buffer(buffer) for buffer in function.buffers)
        with T.serial(0, 64) as i:
            value = builder.load(x, i * 16, "float32x16")
            builder.store(y, i * 16, value + value, 16)
    return mark_kernel(function.prim_func, "twice")


Body = Callable[[relax.BlockBuilder, relax.Var], relax.Expr]


def with_kernel(bb: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
    """Ordinary operators around a kernel and its result in another shape."""
    nhwc = bb.emit(R.permute_dims(x, [0, 2, 3, 1]))
    kernel, out = bb.add_func(twice(), "twice"), relax.TensorType(SHAPE, "float32")
    doubled = bb.emit(relax.call_tir(kernel, [nhwc], out))
    flat = bb.emit(R.flatten(bb.emit(R.squeeze(bb.emit(R.nn.relu(doubled)), [0]))))
    return R.add(R.expand_dims(flat, [0]), relax.const(np.float32(1)))


def run(mod: tvm.IRModule, x: np.ndarray) -> np.ndarray:
    """Result of the compiled module."""
    machine = relax.VirtualMachine(compile_module(mod, TARGET).code, tvm.cpu())
    return machine["main"](tvm.runtime.tensor(x)).numpy()


def prim_funcs(mod: tvm.IRModule) -> dict[str, Any]:
    """Functions of loops by name."""
    return {gvar.name_hint: func for gvar, func in mod.functions_items() if isinstance(func, tirx.PrimFunc)}


@pytest.mark.slow
def test_kernel_among_operators():
    x = np.random.default_rng(0).normal(size=(1, 16, 8, 8)).astype(np.float32)
    expected = np.maximum(2 * x.transpose(0, 2, 3, 1), 0).reshape(1, -1) + np.float32(1)
    np.testing.assert_array_equal(run(build_module({"x": x.shape}, with_kernel), x), expected)


def test_kernels_are_not_fused_and_reshapes_are_no_functions():
    mod = build_module({"x": (1, 16, 8, 8)}, with_kernel)
    with TARGET.as_tvm():
        fused = fuse(mod)
    functions = prim_funcs(fused)
    assert sorted(functions) == ["add", "relu", "transpose", "twice"]
    tvm.ir.assert_structural_equal(functions["twice"], prim_funcs(mod)["twice"])
    assert "vm.builtin.reshape" in lower(fused)["main"].script()


def test_neighbours_are_fused():
    def body(bb: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        return R.nn.relu(bb.emit(R.add(bb.emit(R.multiply(x, x)), x)))

    with TARGET.as_tvm():
        assert list(prim_funcs(fuse(build_module({"x": (7, 9)}, body)))) == ["fused_multiply_add_relu"]


def test_products_are_rounded_before_sums():
    """Products and sums are rounded separately as in NumPy, although the CPU could fuse them."""

    def body(bb: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        return R.subtract(bb.emit(R.multiply(x, x)), x)

    x = np.random.default_rng(0).normal(size=(5, 1001)).astype(np.float32)
    np.testing.assert_array_equal(run(build_module({"x": x.shape}, body), x), x * x - x)


@pytest.mark.slow
def test_input_is_untouched():
    mod = build_module({"x": (1, 16, 8, 8)}, with_kernel)
    before = mod.script()
    compile_module(mod, TARGET)
    assert mod.script() == before


def rows(indices: list[int], mode: str = "fast") -> Body:
    chosen = relax.const(np.array(indices, np.int64))
    return lambda _bb, x: R.take(x, chosen, axis=0, mode=mode)


@pytest.mark.parametrize(("mode", "expected"), [("fast", [2, 0, 1, 3]), ("wrap", [2, 0, 1, 3]), ("clip", [2, 0, 3, 0])])
def test_an_index_out_of_bounds_reads_a_row(mode: str, expected: list[int]):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(run(build_module({"x": x.shape}, rows([2, 0, 9, -1], mode)), x), x[expected])


@pytest.mark.slow
def test_nothing_is_printed(capfd):
    for mod in (build_module({"x": (1, 16, 8, 8)}, with_kernel), build_module({"x": (4, 3)}, rows([1, 2]))):
        compile_module(mod, TARGET)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_passes_that_are_left_out_change_no_code():
    """Code of a kernel, and of fused loops with conditions at a border, stays equal; elsewhere registers change."""

    def body(bb: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        padded = bb.emit(R.nn.pad(R.nn.relu(x), [0, 0, 1, 2, 2, 1, 0, 0]))
        return bb.emit(R.nn.max_pool2d(R.add(padded, padded), pool_size=3, layout="NHWC"))

    shape = Conv2d(1, 6, 6, 16, 16, (3, 3), (1, 1), (1, 1, 1, 1))
    epilogue, _ = epilogue_for(shape, "all")
    convolution = conv2d(shape, *conv_operands(shape)[1:], 3, epilogue, TARGET.isa)
    target = tvm.target.Target({**OPT_LEVEL, **TARGET.tvm})
    with target:
        functions = [convolution.func, twice(), *prim_funcs(fuse(build_module({"x": SHAPE}, body))).values()]
    assert len(functions) > 3
    for number, function in enumerate(functions):
        function = function.with_attr("global_symbol", "f")
        one, other = (
            object_file({"f": function}, TARGET, target, {**OPTIONS, "disabled_pass": left_out})
            for left_out in (UNUSED, UNUSED[:1])
        )
        assert one == other, number


def test_what_tvm_cannot_compile_is_one_sentence():
    def body(bb: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        weight = relax.const(np.zeros((1, 1, 1, 1, 4, 4), np.float32))
        return R.nn.conv2d(x, weight, data_layout="NCHW4c", kernel_layout="OIHW4i4o")

    with pytest.raises(BuildError, match="^build: TVM could not compile the module: [^\n]+$"):
        compile_module(build_module({"x": (1, 1, 2, 2, 4)}, body), TARGET)
