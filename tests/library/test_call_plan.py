"""Plans of functions, and results that no kernel writes: inputs, constants, results that are given twice."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import load_library

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")


def results_module() -> tvm.IRModule:
    """Results: an input, relu, the same again, its first form, a constant."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.relu(x))
            z = builder.emit_output(relax.op.reshape(y, (6,)))
        builder.emit_func_output(relax.Tuple([x, y, z, y, relax.const(np.arange(5), "int32")]))
    return builder.get()


def test_results_that_no_kernel_writes(tmp_path):
    tvmq.export_library(results_module(), tmp_path / "results")
    x = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)
    model = load_library(tmp_path / "results")
    relu, numbers = np.maximum(x, 0), np.arange(5, dtype=np.int32)
    for result, expected in zip(model(x), (x, relu, relu.ravel(), relu, numbers), strict=True):
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


def test_equal_constants_stand_once(tmp_path):
    table = np.arange(4096, dtype=np.float32)
    sizes = []
    for factor in (1, 2):
        builder = relax.BlockBuilder()
        x = relax.Var("x", relax.TensorType((4096,), "float32"))
        with builder.function("main", [x]):
            with builder.dataflow():
                a = builder.emit(relax.op.multiply(x, relax.const(table)))
                b = builder.emit(relax.op.cumsum(a, axis=0))
                y = builder.emit_output(relax.op.multiply(b, relax.const(factor * table)))
            builder.emit_func_output(y)
        sizes.append(tvmq.export_library(builder.get(), tmp_path / f"m{factor}").constant_bytes)
    assert sizes == [table.nbytes, 2 * table.nbytes]
