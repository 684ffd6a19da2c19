"""Convolutions of lines, pictures and volumes and transposed ones, compiled, against numerics, for every level.

1 x 1 convolutions of padded pictures: the picture alone is computed, its border is known; equal to the definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.codegen.kernels.harness import CPUS, levels
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net, feeds_of
from tvmq import numerics
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph import ops
from tvmq.reference import run


@dataclass(frozen=True)
class Case:
    """Shapes of x and w, and the options of numerics.conv or conv_transpose (padding: all befores, all afters)."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)
    transposed: bool = False
    zero_point: int = 0
    x_dtype: str = "uint8"

    @property
    def spatial(self) -> int:
        return len(self.x) - 2

    def option(self, name: str, default: int = 1) -> list[int]:
        """An option with a number for each axis, with two for padding."""
        return list(self.options.get(name, [default] * self.spatial))

    @property
    def padding(self) -> list[int]:
        return self.option("padding", 0) if "padding" in self.options else [0] * 2 * self.spatial


CASES = [
    # lines: odd sizes, strides, dilation, groups, depthwise, padding on one side
    Case((1, 1, 9), (3, 1, 4), {"padding": [2, 1], "strides": [2]}, zero_point=7),
    Case((2, 6, 33), (9, 2, 3), {"padding": [0, 3], "dilation": [2], "groups": 3}, zero_point=255),
    Case((1, 20, 17), (20, 1, 5), {"padding": [4, 0], "groups": 20, "strides": [3]}, zero_point=3),
    Case((2, 5, 70), (18, 5, 1), zero_point=128),
    Case((1, 4, 12), (5, 4, 3), {"padding": [1, 1]}, zero_point=-5, x_dtype="int8"),
    # volumes
    Case((1, 3, 4, 5, 6), (7, 3, 3, 3, 3), {"padding": [1, 1, 1, 1, 1, 1]}, zero_point=9),
    Case((2, 4, 5, 6, 3), (6, 2, 2, 3, 1), {"padding": [1, 0, 0, 0, 2, 1], "groups": 2, "strides": [2, 1, 2]}, zero_point=4),
    Case((1, 6, 7, 4, 4), (6, 1, 3, 2, 2), {"dilation": [2, 1, 2], "groups": 6, "padding": [2, 0, 1, 2, 1, 1]}, zero_point=90),
    Case((2, 3, 3, 4, 5), (4, 3, 1, 1, 1), zero_point=11),
    Case((1, 3, 3, 4, 5), (4, 3, 1, 2, 2), {"strides": [2, 1, 1]}, zero_point=-128, x_dtype="int8"),
    # transposed: kernel below, equal to, above the stride; output padding; cut sides; groups; dilation
    Case((1, 3, 5), (3, 4, 2), {"strides": [2]}, True, 6),
    Case((2, 4, 5), (4, 3, 5), {"strides": [2], "padding": [1, 2], "output_padding": [1], "groups": 2}, True, 250),
    Case((1, 3, 4), (3, 2, 2), {"strides": [3], "output_padding": [2]}, True, 77),
    Case((1, 2, 6), (2, 3, 3), {"strides": [2], "dilation": [3], "padding": [4, 3]}, True, 13),
    Case((1, 8, 4, 5), (8, 17, 2, 2), {"strides": [2, 2]}, True, 31),
    Case((2, 3, 4, 3), (3, 5, 3, 4), {"strides": [2, 3], "padding": [1, 0, 0, 2], "output_padding": [1, 2]}, True, 5),
    Case((1, 6, 3, 4), (6, 1, 4, 4), {"strides": [2, 2], "padding": [1, 1, 1, 1], "groups": 6}, True, 200),
    Case((1, 4, 5, 5), (4, 2, 3, 3), {"padding": [1, 1, 1, 1], "dilation": [2, 1], "groups": 2}, True, 40),
    Case((1, 3, 4, 4), (3, 2, 1, 1), {"strides": [2, 3], "padding": [1, 2, 0, 0]}, True, 19),
    Case((1, 3, 4, 4), (3, 6, 4, 3), {"strides": [2, 2], "padding": [3, 1, 2, 1]}, True, -7, "int8"),
    Case((1, 3, 3, 4, 3), (3, 4, 3, 2, 2), {"strides": [2, 2, 1], "padding": [1, 0, 1, 0, 0, 0]}, True, 8),
    Case((2, 4, 2, 3, 3), (4, 2, 2, 3, 2), {"strides": [3, 2, 2], "groups": 2, "output_padding": [2, 1, 0]}, True, 55),
]  # fmt: skip


def operands(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, weight and bias with many extreme codes."""
    random = np.random.default_rng(3)
    limits = np.iinfo(case.x_dtype)
    x = random.integers(limits.min, limits.max, case.x, endpoint=True).astype(case.x_dtype)
    x[random.random(x.shape) < 0.2] = limits.max
    w = random.integers(-127, 128, case.w).astype(np.int8)
    filters = case.w[1] * case.options.get("groups", 1) if case.transposed else case.w[0]
    return x, w, random.integers(-9000, 9000, filters).astype(np.int32)


def sums(case: Case, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The definition."""
    function = numerics.conv_transpose if case.transposed else numerics.conv
    return np.asarray(function(x, w, **case.options, x_zero=case.zero_point))


def call(case: Case, x: relax.Var, w: np.ndarray) -> relax.Call:
    """The operator as realize emits it."""
    named = {name: case.option(name) for name in ("strides", "dilation")}
    named["groups"] = case.options.get("groups", 1)
    if case.transposed:
        extra = case.option("output_padding", 0)
        named |= {"padding": case.padding, "output_padding": extra, "zero_point": case.zero_point}
        return ops.conv_transpose(x, relax.const(w), **named)
    sides = zip(case.padding[: case.spatial], case.padding[case.spatial :], strict=True)
    if any(case.padding):
        width = [0, 0, 0, 0, *(side for pair in sides for side in pair)]
        x = relax.op.nn.pad(x, width, pad_value=float(case.zero_point))
    operator = getattr(relax.op.nn, f"conv{case.spatial}d")
    return operator(x, relax.const(w), padding=0, out_dtype="int32", **named)


def module(
    case: Case, w: np.ndarray, bias: np.ndarray, multiplier: np.ndarray, sizes: tuple[int | str, ...] = ()
) -> tvm.IRModule:
    """x -> (sums, codes behind bias and requantize); sizes: of x where they are not those of the case."""
    column, zero = relax.const(bias.reshape(-1, *[1] * case.spatial)), relax.const(np.zeros(len(bias), np.int32))

    def body(builder: relax.BlockBuilder, x: relax.Var) -> list[relax.Expr]:
        acc = builder.emit(relax.op.add(builder.emit(call(case, x, w)), column))
        codes = ops.requantize(acc, relax.const(multiplier), zero, zero_point=3, axis=1, dtype="uint8")
        return [call(case, x, w), codes]

    return build_module({"x": (sizes or tuple(case.x), case.x_dtype)}, body)


@pytest.mark.slow
@pytest.mark.thinned(12)
@pytest.mark.parametrize("level", levels("avx2", "avx512vnni"))
@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_the_definition(number: int, level: str) -> None:
    case = CASES[number]
    x, w, bias = operands(case)
    multiplier = np.random.default_rng(4).uniform(0.5, 2.0, len(bias)).astype(np.float32) / np.float32(300)
    mod = module(case, w, bias, multiplier)
    found = tvmq.build(mod, target=f"llvm -mcpu={CPUS[level]}").run({"x": x})
    expected = sums(case, x, w)
    np.testing.assert_array_equal(found[0], expected)
    column = bias.reshape(-1, *[1] * case.spatial)
    codes = numerics.requantize(expected + column, multiplier, zero_point=3, axis=1, dtype=np.uint8)
    np.testing.assert_array_equal(found[1], codes)


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", levels("generic", "avx512bw"))
@pytest.mark.parametrize("number", range(1, len(CASES), 4))
def test_equals_the_definition_on_other_levels(number: int, level: str) -> None:
    test_equals_the_definition(number, level)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("number", [0, 5, 6, 11, 15, 20])
def test_stock_tvm_gives_the_same(number: int) -> None:
    """Also without our kernels: what legalize makes of the operators."""
    case = CASES[number]
    x, w, bias = operands(case)
    mod = module(case, w, bias, np.full(len(bias), 0.004, np.float32))
    vm = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
    found = vm["main"](tvm.runtime.tensor(x))[0].numpy()
    np.testing.assert_array_equal(found, sums(case, x, w))


@pytest.mark.parametrize("number", range(len(CASES)))
def test_kernels_take_all_of_them(number: int) -> None:
    """Kernels take every convolution; TVM's own loops get none."""
    case = CASES[number]
    _, w, bias = operands(case)
    lowerer = Lowerer(module(case, w, bias, np.ones(len(bias), np.float32)), resolve_target("llvm").isa)
    lowerer.run()
    kernels = [name for name in lowerer.kernel_names.values() if "conv2d" in name or "depthwise" in name]
    assert len(kernels) == 2


TRANSPOSED = [number for number, case in enumerate(CASES) if case.transposed and case.spatial < 3]


@pytest.mark.thinned(11)
@pytest.mark.parametrize("level", levels("avx2", "avx512vnni"))
@pytest.mark.parametrize("number", TRANSPOSED)
def test_transposed_of_any_size(number: int, level: str) -> None:
    """A kernel computes many sizes by one function."""
    case = CASES[number]
    _, w, bias = operands(case)
    multiplier = np.full(len(bias), 0.004, np.float32)
    mod = module(case, w, bias, multiplier, ("n", case.x[1], *("h", "w")[: case.spatial]))
    exe = tvmq.build(mod, target=f"llvm -mcpu={CPUS[level]}")
    assert any("depth_to_space" in kernel for kernel in exe.kernels.values())
    column = bias.reshape(-1, *[1] * case.spatial)
    for batch, sides in [(1, case.x[2:]), (2, (3, 9)), (3, (17, 5)), (1, (8, 40))]:
        x, *_ = operands(replace(case, x=(batch, case.x[1], *sides[: case.spatial])))
        found, expected = exe.run({"x": x}), sums(case, x, w)
        np.testing.assert_array_equal(found[0], expected)
        codes = numerics.requantize(expected + column, multiplier, zero_point=3, axis=1, dtype=np.uint8)
        np.testing.assert_array_equal(found[1], codes)


VOLUMES = [number for number, case in enumerate(CASES) if case.spatial == 3 and not case.transposed]


@pytest.mark.slow_cases("5-ndhw-avx2")
@pytest.mark.thinned(11)
@pytest.mark.parametrize("level", levels("avx2", "avx512vnni"))
@pytest.mark.parametrize("sizes", ["ndhw", "hw", "d"])
@pytest.mark.parametrize("number", VOLUMES)
def test_volumes_of_any_size(number: int, sizes: str, level: str) -> None:
    """The two kernels of a fixed size compute many sizes; those that are not named are the case's."""
    case = CASES[number]
    _, w, bias = operands(case)
    multiplier = np.full(len(bias), 0.004, np.float32)
    known = dict(zip("ncdhw", case.x, strict=True))
    mod = module(case, w, bias, multiplier, tuple(name if name in sizes else size for name, size in known.items()))
    exe = tvmq.build(mod, target=f"llvm -mcpu={CPUS[level]}")
    column = bias.reshape(-1, *[1] * case.spatial)
    for side in [case.x, (2, 0, 8, 3, 9), (3, 0, 5, 17, 5), (1, 0, 5, 4, 40), (1, 0, 9, 33, 34)]:
        other = dict(zip("ncdhw", side, strict=True))
        x, *_ = operands(replace(case, x=tuple(other[name] if name in sizes else known[name] for name in known)))
        found, expected = exe.run({"x": x}), sums(case, x, w)
        np.testing.assert_array_equal(found[0], expected)
        codes = numerics.requantize(expected + column, multiplier, zero_point=3, axis=1, dtype=np.uint8)
        np.testing.assert_array_equal(found[1], codes)


@pytest.mark.slow
def test_a_phase_that_leaves_int32_goes_the_generic_way() -> None:
    """The zero point of the taps that a phase lacks is part of its bias, which may be too large where no sum is."""
    case = Case((1, 1, 3), (1, 1, 2), {"strides": [2]}, True, 255)
    x, w = np.full(case.x, 255, np.uint8), np.int8([[[127, -127]]])
    bias, multiplier = np.int32([2**31 - 1]), np.float32([2.0**-24])
    mod = module(case, w, bias, multiplier)
    lowerer = Lowerer(mod, resolve_target("llvm").isa)
    lowerer.run()
    assert sum("conv2d" in name for name in lowerer.kernel_names.values()) == 1
    acc = sums(case, x, w) + bias[:, None]
    codes = numerics.requantize(acc, multiplier, zero_point=3, axis=1, dtype=np.uint8)
    np.testing.assert_array_equal(tvmq.build(mod).run({"x": x})[1], codes)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("activation", ["Relu", "Sigmoid", ""])
def test_a_border_equals_the_definition(activation: str) -> None:
    n = Net((2, 3, 5, 6))
    y = n.conv("x", 3, 20, kernel=1, pads=[1, 2, 1, 0])
    y = n.op(activation, y) if activation else y
    model = n.model(n.op("GlobalAveragePool", n.conv(y, 20, 4)))
    mod, params = tvmq.from_onnx(model)
    exe = tvmq.build(tvmq.quantize(mod, params, feeds_of(model), guard=None))
    assert any(kernel.startswith("frame") for kernel in exe.kernels.values())
    x = feeds_of(model, 1, seed=3)[0]["x"]
    (defined,) = run(exe.module, [x])
    np.testing.assert_array_equal(exe.run({"x": x})[0], defined)
