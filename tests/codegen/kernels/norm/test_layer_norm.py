"""Norm kernels with a sum before and codes after them, against the definition: equal bits in every output."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import compile_function, levels
from tvmq import numerics
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.norm.layer_norm import LayerNorm, layer_norm
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import Kernel

WIDTHS = levels("generic", "avx2", "avx512bw")
CODES = CodeLimits(120, 0, 255, "uint8")
SIGNED = CodeLimits(-3, -127, 127, "int8")
NORMS = [
    LayerNorm((3, 1), 1, 1e-5, True, True, CODES, ("sum", "norm", "codes")),
    LayerNorm((2, 3, 7), 1, 1e-5, True, False, CODES, ("codes",)),
    LayerNorm((1, 2, 16), 1, 1e-12, True, True, None, ("norm",)),
    LayerNorm((5, 40), 1, 1e-5, True, True, SIGNED, ("norm", "codes")),
    LayerNorm((9, 3, 16), 2, 1e-5, True, True, CODES, ("codes",)),
    LayerNorm((7, 33), 1, 1e-6, False, True, CODES, ("sum", "codes")),
    LayerNorm((4, 130), 1, 1e-6, False, False, None, ("norm",)),
    LayerNorm((6, 37), 1, 1e-5, True, True, CODES, ("norm", "codes"), scales=True),
]


@lru_cache(maxsize=2)  # a kernel for any number of rows is compiled once
def kernel_of(norm: LayerNorm, scale: float, level: str) -> Kernel:
    return layer_norm(norm, scale, isa_named(level))


def run(norm: LayerNorm, scale: float, inputs: list[np.ndarray], level: str, dynamic: bool = False) -> list[np.ndarray]:
    """All outputs; their buffers hold rubbish before. dynamic: the kernel learns the number of rows from its inputs."""
    leading = tuple(f"size{i}" for i in range(len(norm.leading))) if dynamic else norm.leading
    kernel = kernel_of(replace(norm, shape=leading + norm.shape[len(leading) :]), scale, level)
    types = {"sum": np.float32, "norm": np.float32, "codes": norm.codes and norm.codes.dtype}
    outputs = [np.full(norm.shape, 77, types[name]) for name in norm.outputs]
    tensors = [tvm.runtime.tensor(np.ascontiguousarray(a)) for a in (*inputs, *kernel.constants, *outputs)]
    compile_function(kernel.name, kernel.func, level)(*tensors)
    return [tensor.numpy() for tensor in tensors[len(tensors) - len(outputs) :]]


def check(norm: LayerNorm, scale: float, operands: list[np.ndarray], level: str, dynamic: bool = False) -> None:
    """Assert that every output has the bits of the definition; operands: a and b."""
    random = np.random.default_rng(3)
    gamma, beta = random.normal(size=(2, norm.length)).astype(np.float32)
    factors = [gamma, beta] if norm.centred else [gamma]
    with np.errstate(all="ignore"):
        total = operands[0] + operands[1] if norm.adds else operands[0]
    shaped = [factor.reshape(norm.shape[len(norm.shape) - norm.axes :]) for factor in factors]
    definition = numerics.layer_norm if norm.centred else numerics.rms_norm
    y = definition(total, *shaped, axes=norm.axes, epsilon=norm.epsilon)
    expected = {"sum": total, "norm": y}
    if norm.codes is not None:
        own = norm.codes
        limits = {"dtype": np.dtype(own.dtype).type, "qmin": own.qmin, "qmax": own.qmax}
        if norm.scales:
            factors.append(random.uniform(0.5, 2, norm.length).astype(np.float32))
            y = y * factors[-1]
        expected["codes"] = numerics.quantize(y, np.float32(scale), np.int32(own.zero_point), **limits)
    found = run(norm, scale, [*operands[: 1 + norm.adds], *factors], level, dynamic)
    for name, array in zip(norm.outputs, found, strict=True):
        same = (array == expected[name]) | ((array != array) & (expected[name] != expected[name]))
        assert same.all(), f"{name}: {np.count_nonzero(~same)} differ"


@pytest.mark.slow
@pytest.mark.thinned(5)
@pytest.mark.parametrize("level", WIDTHS)
@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: f"{norm.shape}{'-'.join(norm.outputs)}")
def test_equals_the_definition(norm: LayerNorm, level: str) -> None:
    random = np.random.default_rng(norm.length)
    operands = [(random.normal(size=norm.shape) * 3 + 1).astype(np.float32) for _ in range(2)]
    operands[0].reshape(-1, norm.length)[-1, 0] = np.inf
    check(norm, 0.031, operands, level)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", levels("generic", "avx512bw"))
@pytest.mark.parametrize("norm", NORMS[4:6], ids=lambda norm: "-".join(norm.outputs))
def test_any_number_of_rows(norm: LayerNorm, level: str) -> None:
    for rows in (1, 3, 4, 301):
        norm = replace(norm, shape=(rows, *norm.shape[1:]))
        random = np.random.default_rng(rows)
        operands = [(random.normal(size=norm.shape) * 3 + 1).astype(np.float32) for _ in range(2)]
        check(norm, 0.031, operands, level, dynamic=True)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
def test_numbers_halfway_between_codes(level: str) -> None:
    """Results near halves: their guesses are in doubt, and the others of the group are right all the same."""
    norm = LayerNorm((8, 64), 1, 0.0, False, False, CODES, ("codes",))
    x = np.random.default_rng(0).choice(np.float32([1, -1]), (8, 64))  # normalized: gamma or -gamma
    scale = np.float32(1 / 3)
    gamma = (np.arange(64, dtype=np.float32) + np.float32(0.5)) * scale
    gamma[::2] = np.nextafter(gamma[::2], np.float32(np.inf))
    expected = numerics.quantize(numerics.rms_norm(x, gamma, epsilon=0.0), scale, np.int32(120), dtype=np.uint8)
    (found,) = run(norm, float(scale), [x, gamma], level)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", WIDTHS)
def test_special_values(level: str) -> None:
    """Rows of NaN, infinities, denormals and huge numbers, also with a scale at the ends of what is taken."""
    x = np.tile(np.float32([[0.0], [-0.0], [7], [1e-45], [3e38], [np.nan], [np.inf]]), 35)
    x[4:6, 1::2] *= np.float32(-1)
    norm = LayerNorm((7, 35), 1, 1e-5, True, False, CODES, ("norm", "codes"))
    for scale in (2.0**-100, 0.05, 2.0**100):
        check(norm, scale, [x], level)
