"""to_onnx of models with dynamic sizes: the file takes the same sizes, and comes back as the same integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from tvm import relax, tirx

import tvmq
from tests.formats.onnx.exporter.test_to_onnx import exported
from tests.support.float_products import run_in_float
from tests.support.models.built_modules import build_module
from tests.support.models.dynamic_models import encoder, pictures, texts
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter.graph import OnnxGraph
from tvmq.numerics.deviation import unequal_bits


def images(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(sum(shape)).random(shape, np.float32)}


CASES: dict[str, tuple[onnx.ModelProto, list[Any], list[Any]]] = {
    "encoder": (encoder(), [texts(2, 9)], [texts(1, 3), texts(3, 20)]),
    "pictures": (pictures(), [images(2, 3, 8, 8)], [images(1, 3, 4, 6), images(2, 3, 10, 8)]),
}


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", CASES)
def test_sizes_stay_dynamic(name: str, tmp_path: Path) -> None:
    float_model, calibration, feeds = CASES[name]
    module = tvmq.quantize(*tvmq.from_onnx(float_model), calibration, guard=None)
    model = exported(module, tmp_path)
    given = [[d.dim_param for d in value.type.tensor_type.shape.dim] for value in model.graph.input]
    assert all(dims[0] == "batch" and (dims[1] or dims[2]) for dims in given), given
    exe = tvmq.build(module)
    again = tvmq.build(tvmq.quantize(*tvmq.from_onnx(model)))
    for feed in feeds:
        (ours,), (theirs,), (back,) = exe.run(feed), run_in_float(model, feed), again.run(feed)
        assert ours.shape == theirs.shape and not unequal_bits(ours, back).any()
        assert np.abs(ours - theirs).max() < 0.03 * np.abs(ours).max()


def test_a_value_in_a_dynamic_shape(tmp_path: Path) -> None:
    """Zeros that an LSTM of torch begins with have the batch of the run."""

    def body(builder: relax.BlockBuilder, x: relax.Var) -> relax.Expr:
        return relax.op.subtract(x, builder.emit(relax.op.full(x.ty.shape, relax.const(1.5, "float32"), "float32")))

    with tvmq.qconfig(activations=None):
        module = tvmq.quantize(*tvmq.from_relax(build_module({"x": ("batch", 3)}, body), {}), guard=None)
    feed = {"x": np.float32([[1, 2, 3], [4, 5, 6]])}
    (found,) = run_in_float(exported(module, tmp_path), feed)
    np.testing.assert_array_equal(found, feed["x"] - 1.5)


def test_sizes_without_an_onnx_form() -> None:
    graph = OnnxGraph([], {"n": ("x", 0)})
    n = tirx.Var("n", "int64")
    with pytest.raises(
        UnsupportedOpError, match="to_onnx, layer 'cut': the size .* has no equivalent in ONNX; fix the sizes"
    ):
        graph.dynamic_sizes.vector([n % 3], "cut", "shape")
    assert graph.dynamic_sizes.vector([n * 2 + 1, 4], "cut", "shape") == "shape"
    assert [node.op_type for node in graph.nodes] == ["Shape", "Gather", "Mul", "Add", "Concat"]
