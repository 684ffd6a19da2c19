"""Helpers of the front end tests: run them in float, compare with onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import tvm
from tvm import relax

from tests.support.models.onnx_models import make_model  # noqa: F401 -- the models that these helpers run
from tvmq.codegen.target.cpu import resolve_target
from tvmq.formats.onnx.importer.from_onnx import from_onnx

TOLERANCE = 1e-4  # of max |difference| / max |reference|: float sums in another order


def normal_floats(seed: int) -> Callable[..., np.ndarray]:
    """A function of a shape, for float32 values of a normal distribution."""
    random = np.random.default_rng(seed)
    return lambda *shape: random.standard_normal(shape).astype(np.float32)


def run_float(mod: tvm.IRModule, params: Mapping[str, np.ndarray], feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of an imported module under TVM's own pipeline; feed by parameter name."""
    target = resolve_target().as_tvm()
    executable = tvm.compile(mod, target, relax_pipeline=relax.get_default_pipeline(target))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    values = {**feed, **params}
    result = machine["main"](*[tvm.runtime.tensor(values[p.name]) for p in mod["main"].params])
    results = [result] if isinstance(result, tvm.runtime.Tensor) else list(result)
    return [value.numpy() for value in results]


def run_onnxruntime(model: onnx.ModelProto | str, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of onnxruntime, float32, one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, str) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"]).run(None, dict(feed))


def assert_close(actual: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Same count, shapes, dtypes, and values within TOLERANCE (equal for integers)."""
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, a.dtype, b.shape, b.dtype)
        if b.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
        elif b.size:
            worst = np.max(np.abs(a.astype(np.float64) - b)) / max(np.max(np.abs(b)), 1e-30)
            assert worst < TOLERANCE, f"max |a - b| / max |b| = {worst:.3g}"


def check(model: onnx.ModelProto, feed: Mapping[str, np.ndarray], **options: Any) -> tvm.IRModule:
    """Import, run, compare with onnxruntime; returns the imported module."""
    mod, params = from_onnx(model, **options)
    relax.analysis.well_formed(mod)
    named = {p.name: value for p, value in zip(mod["main"].params, feed.values(), strict=False)}
    assert_close(run_float(mod, params, named), run_onnxruntime(model, feed))
    return mod
