"""Softmax, norms and sums of rows: one kernel where a row fits, the definition's bits in any order of the threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tvm import relax

from tests.cuda_emulator.model import EmulatedModel
from tests.support.devices.gpu import needs_gxx
from tests.support.models.built_modules import build_module
from tvmq.codegen.schedule.cuda.row_kernels import LONGEST
from tvmq.graph import ops
from tvmq.reference import Reference


def constant(size: int, seed: int = 0) -> relax.Expr:
    """A vector of numbers around 0."""
    return relax.const(np.random.default_rng(seed).standard_normal(size).astype(np.float32))


CASES: list[tuple[tuple[int, ...], Callable[[relax.Expr], relax.Expr], int]] = [
    ((2, 3, 50, 50), lambda x: ops.softmax(x, axis=-1), 1),
    ((1, 2, 37, 37), lambda x: ops.softmax(x, axis=-1), 1),  # no number of rows divides 37
    ((1, 10), lambda x: ops.softmax(x, axis=-1), 1),
    ((2, 7, 5), lambda x: ops.softmax(x, axis=1), 3),  # rows lie across: a kernel a step
    ((4, 10), lambda x: ops.log_softmax(x, axis=-1), 1),
    ((2, 9, 48), lambda x: ops.layer_norm(x, constant(48), constant(48, 1), axes=1), 1),
    ((3, 20), lambda x: ops.layer_norm(x, constant(20), constant(20, 1), axes=1), 1),
    ((2, 9, 64), lambda x: ops.rms_norm(x, constant(64), axes=1), 1),
    ((2, 8, 6, 6), lambda x: ops.group_norm(x, constant(8), constant(8, 1), groups=4), 1),
    ((4, 30), lambda x: ops.float_sum(x, axes=[1], mean=True), 1),
]


@pytest.mark.slow
@pytest.mark.thinned(3)
@needs_gxx
@pytest.mark.parametrize("shape, make, kernels", CASES, ids=[f"{i}_{shape}" for i, (shape, _, _) in enumerate(CASES)])
def test_rows_are_exact(shape, make, kernels):
    mod = build_module({"x": shape}, lambda _, x: make(x))
    x = (np.random.default_rng(0).standard_normal(shape) * 3).astype(np.float32)
    x.flat[:4] = np.nan, np.inf, -np.inf, -0.0
    emulated, expected = EmulatedModel(mod), np.asarray(Reference(mod).run({"x": x})[0])
    assert emulated.source.count("__global__ void") == 2 * kernels
    for order in range(3):
        found = emulated.run({"x": x}, order=order)[0]
        np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


@needs_gxx
@pytest.mark.slow
def test_elements_of_a_long_row_are_left_to_all_threads():
    length = 16 * LONGEST + 16
    mod = build_module({"x": (1, length)}, lambda _, x: ops.layer_norm(x, constant(length), constant(length, 1), axes=1))
    x = np.random.default_rng(0).standard_normal((1, length)).astype(np.float32)
    emulated = EmulatedModel(mod)
    assert emulated.source.count("__global__ void") > 2
    expected = np.asarray(Reference(mod).run({"x": x})[0])
    np.testing.assert_array_equal(emulated.run({"x": x})[0].view(np.uint32), expected.view(np.uint32))


@pytest.mark.slow
@needs_gxx
def test_a_product_is_no_step_of_a_row():
    """Each element is a thread's, not that of 16 which all compute it."""
    weight = relax.const(np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32))
    source = EmulatedModel(build_module({"x": (6, 40)}, lambda _, x: relax.op.matmul(x, weight))).source
    assert "__launch_bounds__(48)" in source and "threadIdx.y" not in source
