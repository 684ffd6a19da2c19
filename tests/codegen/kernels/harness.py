"""Helpers for tests of integer kernels: levels, operands, building, the expected result by definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi

from tvmq import numerics
from tvmq.codegen.compile.vm_pipeline import OPT_LEVEL, OPTIONS
from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import (
    AddStep,
    Conv2d,
    Dequantize,
    Epilogue,
    FixedRequantize,
    Kernel,
    Requantize,
    TableStep,
)

# A CPU that has the features of each level and no more than the next level needs.
CPUS = {
    "generic": "generic",
    "avx2": "haswell",
    "avx512bw": "skylake-avx512",
    # its instruction in the EVEX form, which CPUs with AVX512-VNNI have too: the same results
    "avxvnni": "cascadelake",
    "avx512vnni": "cascadelake",
    "avx512vl": "cascadelake",
    "avx512vbmi": "icelake-server",
    "amx": "sapphirerapids",
}
FLAGS = {
    "avx2": "avx2", "avx512bw": "avx512bw", "avxvnni": "avx512_vnni", "avx512vnni": "avx512_vnni",
    "avx512vbmi": "avx512vbmi", "avx512vl": "avx512_vnni", "amx": "amx_int8",
}  # fmt: skip


ALIGNMENT, GUARD = 64, 0xA5  # bytes; what memory around an output is filled with


def levels(*names: str) -> list[Any]:
    """Levels as parameters of a test, skipped where this CPU lacks them."""
    marks = {name: [pytest.mark.isa(FLAGS[name])] if name in FLAGS else [] for name in names}
    return [pytest.param(name, marks=marks[name]) for name in names]


@lru_cache(maxsize=4)  # by identity: a test that runs one kernel on many inputs compiles it once
def compile_unchecked(name: str, func: Any, level: str) -> Callable[..., None]:
    """The PrimFunc, compiled as builds do it and callable with tensors, which it does not check."""
    target = tvm.target.Target({"kind": "llvm", "mcpu": CPUS[level], **OPT_LEVEL})
    with tvm.transform.PassContext(**OPTIONS):
        function: Callable[..., None] = tvm.compile(tvm.IRModule({name: func}), target)[name]
    return function


def compile_function(name: str, func: Any, level: str) -> Callable[..., None]:
    """The PrimFunc of `compile_unchecked` behind the checks of its arguments.

    Builds leave them out (a third of a kernel's compilation): they are made here.
    """
    compiled = compile_unchecked(name, func, level)

    def run(*tensors: tvm.runtime.Tensor) -> None:
        check_arguments(func, tensors)
        compiled(*tensors)

    return run


def check_arguments(func: Any, tensors: Sequence[Any]) -> None:
    """Assert the types and fixed sizes of what a PrimFunc is called with."""
    for parameter, tensor in zip(func.params, tensors, strict=True):
        assert str(parameter.dtype) == str(tensor.dtype)
        for extent, size in zip(parameter.shape, tensor.shape, strict=True):
            assert not isinstance(extent, tvm.tirx.IntImm) or int(extent) == size, (parameter.shape, tensor.shape)


class GuardedOutput:
    """Output of a kernel inside of memory that it may not touch: what is written beyond either end is noticed.

    array  of rubbish, at a multiple of 64 bytes
    """

    def __init__(self, shape: Sequence[int], dtype: str) -> None:
        size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
        self._memory = np.full(size + 4 * ALIGNMENT, GUARD, np.uint8)
        begin = ALIGNMENT + -self._memory.ctypes.data % ALIGNMENT
        self._sides = self._memory[:begin], self._memory[begin + size :]
        self.array = self._memory[begin : begin + size].view(dtype).reshape(shape)
        self.array[...] = 77

    def result(self) -> np.ndarray:
        """Copy of what was written; asserts that the guard bytes are as they were."""
        for side, name in zip(self._sides, ("before", "behind"), strict=True):
            places = np.flatnonzero(side != GUARD)
            assert not len(places), f"bytes {places[:5]} {name} the output were written"
        return self.array.copy()


def run_kernel(
    kernel: Kernel, inputs: Sequence[np.ndarray], level: str, shape: Sequence[int] | None = None
) -> np.ndarray:
    """Output of a kernel, guarded (see GuardedOutput); without a shape a dynamic size is that of the first rows."""
    function = compile_function(kernel.name, kernel.func, level)
    parameter, rows = kernel.func.params[-1], inputs[0].shape[0]
    shape = shape or [int(size) if isinstance(size, tvm.tirx.IntImm) else rows for size in parameter.shape]
    output = GuardedOutput(shape, str(parameter.dtype))
    tensors = [tvm.runtime.tensor(np.ascontiguousarray(array)) for array in (*inputs, *kernel.constants)]
    function(*tensors, tvm_ffi.from_dlpack(output.array))
    return output.result()


def conv_operands(conv: Conv2d, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x NHWC, weight OIHW, bias; with many extreme codes, whole rows and filters of them."""
    random = np.random.default_rng(seed)
    if conv.x_dtype == "int16":
        return _wide_operands(conv, random)
    x = random.integers(0, 256, (conv.batch, conv.height, conv.width, conv.channels)).astype(np.uint8)
    x[random.random(x.shape) < 0.2] = 255
    x[:, 0] = 255
    weight = random.integers(-128, 128, (conv.filters, conv.channels // conv.groups, *conv.kernel), dtype=np.int8)
    weight[0], weight[-1] = -128, 127
    bias = random.integers(-20000, 20000, conv.filters).astype(np.int32)
    return (x ^ 128).view(np.int8) if conv.x_dtype == "int8" else x, weight, bias


def _wide_operands(conv: Conv2d, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operands of 16 bits: weights as large as sums within int32 allow, a row of the lowest code."""
    products = conv.channels // conv.groups * conv.kernel[0] * conv.kernel[1]
    most = min(127, 65000 // products)
    x = random.integers(-(2**15), 2**15, (conv.batch, conv.height, conv.width, conv.channels)).astype(np.int16)
    x[:, 0] = -(2**15)
    weight = random.integers(-most, most + 1, (conv.filters, conv.channels // conv.groups, *conv.kernel)).astype(
        np.int8
    )
    weight[0], weight[-1] = -most, most
    return x, weight, random.integers(-20000, 20000, conv.filters).astype(np.int32)


def requantize_for(conv: Conv2d, dtype: str = "uint8") -> Requantize:
    """Multipliers that spread the sums over the codes; some are powers of two, which makes ties."""
    random = np.random.default_rng(1)
    depth = conv.channels // conv.groups * conv.kernel[0] * conv.kernel[1]
    multiplier = (random.uniform(0.3, 1.5, conv.filters) / (40 * depth**0.5)).astype(np.float32)
    multiplier[::3] = 2.0 ** np.floor(np.log2(multiplier[::3]))
    limits = np.iinfo(dtype)
    return Requantize(multiplier, 3, int(limits.min) + 2, int(limits.max) - 1, dtype)


def huge_multipliers(conv: Conv2d) -> Requantize:
    """Multipliers with which most products leave int32."""
    return Requantize(np.resize(np.float32([3e4, 1e30, 2.0, 0.5]), conv.filters), 100, 0, 255)


def epilogue_for(conv: Conv2d, kind: str) -> tuple[Epilogue, tuple[np.ndarray, ...]]:
    """Epilogue of that kind, and the further inputs it takes."""
    random = np.random.default_rng(2)
    b = random.integers(0, 256, conv.out_shape).astype(np.uint8)
    values = random.permutation(256).astype(np.uint8)
    if kind == "sums":
        return (), ()
    if kind == "codes":
        return (requantize_for(conv),), ()
    if kind in ("int8 codes", "int16 codes"):
        return (requantize_for(conv, kind.split()[0]),), ()
    if kind == "floats":
        return (Dequantize(random.uniform(1e-4, 1, conv.filters).astype(np.float32)),), ()
    params = numerics.add_params(0.4, 3, 0.3, 17, 0.5)
    add = AddStep(*params, zero_point=9, qmin=1, qmax=250)
    if kind == "add":
        return (requantize_for(conv), add), (b,)
    if kind == "table":
        return (requantize_for(conv, "int8"), TableStep(values)), ()
    signed = AddStep(*params, zero_point=-9, qmin=-128, qmax=120, b_dtype="int8", dtype="int8")
    return (requantize_for(conv), add, TableStep(values.view(np.int8)), signed), (b, b[::-1].view(np.int8))


def expected_conv(
    conv: Conv2d,
    operands: tuple[np.ndarray, np.ndarray, np.ndarray],
    x_zero: int,
    epilogue: Epilogue,
    others: Sequence[np.ndarray],
) -> np.ndarray:
    """The definition."""
    x, weight, bias = operands
    sums = numerics.conv(
        x.transpose(0, 3, 1, 2),
        weight,
        strides=conv.strides,
        padding=conv.padding,
        dilation=conv.dilation,
        groups=conv.groups,
        x_zero=x_zero,
    )
    return expected_epilogue(sums.transpose(0, 2, 3, 1) + bias, epilogue, others)


def expected_epilogue(values: np.ndarray, epilogue: Epilogue, others: Sequence[np.ndarray]) -> np.ndarray:
    """The steps of an epilogue by definition; channels are the last axis."""
    remaining = list(others)
    for step in epilogue:
        if isinstance(step, TableStep):
            values = numerics.table(values, step.values)
            continue
        if isinstance(step, Dequantize):
            scale = np.broadcast_to(step.scale, values.shape[-1])
            values = numerics.dequantize(values, scale, np.zeros(scale.shape, np.int32), axis=values.ndim - 1)
            continue
        limits = {"zero_point": step.zero_point, "dtype": step.dtype, "qmin": step.qmin, "qmax": step.qmax}
        if isinstance(step, FixedRequantize):
            own = {"mode": "fixed_point", "rounding": step.rounding, "axis": values.ndim - 1}
            values = numerics.requantize(values, step.multiplier, step.shift, **own, **limits)
        elif isinstance(step, Requantize):
            values = numerics.requantize(values, step.multiplier, axis=values.ndim - 1, **limits)
        else:
            names = ("a_multiplier", "b_multiplier", "offset", "shift")
            params = {name: getattr(step, name) for name in names}
            values = numerics.add(values, remaining.pop(0), **params, **limits)
    return values


def compare(
    conv: Conv2d,
    level: str,
    epilogue: Epilogue,
    others: Sequence[np.ndarray],
    x_zero: int = 0,
    make: Callable[..., Kernel] = conv2d,
) -> None:
    """Assert that the kernel gives the bits of the definition."""
    operands = conv_operands(conv)
    kernel = make(conv, *operands[1:], x_zero, epilogue, isa_named(level))
    found = run_kernel(kernel, (operands[0], *others), level)
    np.testing.assert_array_equal(found, expected_conv(conv, operands, x_zero, epilogue, others))
