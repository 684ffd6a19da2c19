"""Operators of onnxruntime with dynamic sizes: bits of the definition, any threads, sizes that are refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tvm import relax, tirx

import tvmq
from tests.library.test_dynamic_library import pictures
from tests.library.test_onnxruntime_operator import any_shapes, change_model, open_session
from tests.support.models import dynamic_models
from tvmq.runtime.artifact.native_library import runs_linux_x86

ort = pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only"),
    pytest.mark.skipif("emulated" in ort.InferenceSession.__module__, reason="libraries are not registered in an emulator"),
]
SIZES = [(1, 16, 16), (3, 8, 24), (2, 32, 20), (1, 8, 8), (5, 16, 40)]


@pytest.fixture(scope="module")
def of_pictures(tmp_path_factory):
    """A network for pictures of any number, rows and columns, and its library with an operator."""
    mod, params = tvmq.from_onnx(dynamic_models.pictures())
    fast = {"calibrate_mode": "minmax", "weight_rounding": "nearest", "bias_correction": False}
    with tvmq.qconfig(**fast, outlier_channels=False):
        module = tvmq.quantize(mod, params, [pictures(1, 16, 16)], guard=None)
    return module, tvmq.export_library(module, tmp_path_factory.mktemp("ort") / "pictures", onnxruntime=True)


@pytest.mark.slow
def test_results_of_any_size_in_any_thread(of_pictures):
    module, export = of_pictures
    session = open_session(export.onnx, export.library, threads=2)
    feeds = [pictures(*sizes) for sizes in SIZES]
    expected = [tvmq.reference.run(module, feed)[0] for feed in feeds]

    def run(number: int) -> bool:
        chosen = number % len(feeds)
        (result,) = session.run(None, feeds[chosen])
        return np.array_equal(result, expected[chosen])

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(run, range(40)))


def test_wrong_sizes_are_refused(of_pictures):
    _, export = of_pictures
    session = open_session(change_model(export, any_shapes), export.library)
    with pytest.raises(Exception, match=r"pictures: input 'x' has shape \[1, 16, 16\] and the model takes \[\?, 3, \?, \?\]"):
        session.run(None, {"x": np.zeros((1, 16, 16), np.float32)})
    with pytest.raises(Exception, match=r"has shape \[1, 4, 16, 16\] and the model takes \[1, 3, 16, 16\]"):
        session.run(None, {"x": np.zeros((1, 4, 16, 16), np.float32)})


def test_inputs_that_share_a_dimension(tmp_path):
    rows, columns = tirx.Var("rows", "int64"), tirx.Var("columns", "int64")
    x, z = (relax.Var(name, relax.TensorType((rows, columns), "float32")) for name in "xz")
    builder = relax.BlockBuilder()
    with builder.function("main", [x, z]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.add(x, z))
        builder.emit_func_output(y)
    export = tvmq.export_library(builder.get(), tmp_path / "sums", onnxruntime=True)
    session = open_session(export.onnx, export.library)
    values = np.arange(15, dtype=np.float32).reshape(3, 5)
    np.testing.assert_array_equal(session.run(None, {"x": values, "z": values})[0], values * 2)
    with pytest.raises(Exception, match=r"sums: input 'x' has shape \[3, 5\] and the model takes \[3, 4\]"):
        session.run(None, {"x": values, "z": values[:, :4]})
