"""Codes of rows with scales made at run time, in one kernel with the floats before them: equal to the definition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import compile_function, levels
from tvmq import numerics
from tvmq.codegen.kernels.elementwise.row_codes import RowCodes, row_codes
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import FloatSteps, Kernel

LEVELS = levels("generic", "avx2", "avx512vnni")
SPECIAL = np.float32([0.0, -0.0, 1e-45, 3e38, -3e38, np.inf, -np.inf, np.nan])
LENGTHS = (1, 3, 15, 16, 17, 33, 64, 100, 384)  # around the vectors, and around several at once
TYPES = {"reals": "float32", "scale": "float32", "codes": "int8"}
STEPS = (("add", (0, "channel0")), ("nn.gelu", (1,)))


def outputs_of(kernel: Kernel, rows: RowCodes, inputs: Sequence[np.ndarray], level: str) -> list[bytes]:
    """Bytes of all outputs, whose buffers hold rubbish before."""
    function, shape = compile_function(kernel.name, kernel.func, level), inputs[0].shape
    sizes = {"scale": (*shape[:-1], 1)}
    outputs = [np.full(sizes.get(name, shape), 77, TYPES[name]) for name in rows.outputs]
    tensors = [tvm.runtime.tensor(np.ascontiguousarray(a)) for a in (*inputs, *kernel.constants, *outputs)]
    function(*tensors)
    return [tensor.numpy().tobytes() for tensor in tensors[len(tensors) - len(outputs) :]]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("length", LENGTHS)
def test_codes_of_floats(length: int, level: str) -> None:
    random = np.random.default_rng(length)
    rows = RowCodes(("rows", length), None, (), ("scale", "codes"))
    kernel = row_codes(rows, isa_named(level))
    for count in (1, 9):
        x = (random.normal(size=(count, length)) * 10.0 ** random.integers(-40, 38, (count, 1))).astype(np.float32)
        if count > 1:
            x[0], x[1], x[2, 0], x[3] = 0.0, np.nan, np.inf, random.choice(SPECIAL, length)
        scale = numerics.dynamic_scale(x, axes=[1])
        expected = [scale.tobytes(), numerics.dynamic_quantize(x, scale).tobytes()]
        assert outputs_of(kernel, rows, (x,), level) == expected


@pytest.mark.thinned(7)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("outputs", [("reals",), ("scale", "codes"), ("reals", "scale", "codes")], ids="-".join)
def test_codes_of_sums(outputs: tuple[str, ...], length: int, level: str) -> None:
    random = np.random.default_rng(length)
    sums = random.integers(-(10**6), 10**6, (7, length), dtype=np.int32)
    x_scale = (10.0 ** random.uniform(-5, -2, (7, 1))).astype(np.float32)
    w_scale, bias = random.uniform(1e-3, 1e-2, (2, length)).astype(np.float32)
    reals = numerics.elementary.gelu(numerics.dynamic_dequantize(sums, x_scale, w_scale) + bias)
    scale = numerics.dynamic_scale(reals, axes=[1])
    expected = {"reals": reals, "scale": scale, "codes": numerics.dynamic_quantize(reals, scale)}
    rows, floats = RowCodes((7, length), STEPS, ("channel0",), outputs), FloatSteps(STEPS, {"channel0": bias}, None)
    kernel = row_codes(rows, isa_named(level), w_scale, floats)
    got = outputs_of(kernel, rows, (sums, x_scale), level)
    assert got == [expected[name].tobytes() for name in outputs]
