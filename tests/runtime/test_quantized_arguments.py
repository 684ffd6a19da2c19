"""tvmq.runtime.quantized_arguments: the integer core takes and gives quantized tensors, activations gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.errors import DataError
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.runtime.inputs import TensorInfo
from tvmq.runtime.quantized_arguments import as_tensors, take_codes

INFO = TensorInfo("x", (3,), "uint8", 0.5, 3)
FLOATS, SUMS = TensorInfo("y", (3,), "float32"), TensorInfo("z", (3,), "int32", [0.5, 0.25, 1.0], 0)
TENSOR = tvmq.QTensor(np.uint8([1, 2, 3]), QParams(0.5, 3, QuantSpec()))


def test_codes_go_in_and_come_out() -> None:
    other = np.zeros(3, np.float32)
    taken = take_codes({"x": TENSOR, "y": other, "w": TENSOR}, [INFO, FLOATS])
    assert taken["x"] is TENSOR.codes and taken["y"] is other and taken["w"] is TENSOR
    tensor, floats, sums = as_tensors([TENSOR.codes, other, np.int32([1, 2, 3])], [INFO, FLOATS, SUMS])
    np.testing.assert_array_equal(np.asarray(tensor), [-1.0, -0.5, 0.0])
    assert type(floats) is type(sums) is np.ndarray


@pytest.mark.parametrize(
    ("qparams", "text"),
    [
        (QParams(0.25, 3, QuantSpec()), "input 'x' has the scale 0.5 and the zero point 3. Got a tensor of the scale 0.25"),
        (QParams(0.5, 4, QuantSpec()), "Got a tensor of the scale 0.5 and the zero point 4 instead"),
        (QParams([0.5] * 3, 3, QuantSpec(per_channel=True), 0), "Got a tensor of 3 scales instead"),
    ],
)
def test_tensors_of_other_scales_are_refused(qparams: QParams, text: str) -> None:
    with pytest.raises(DataError, match=text):
        take_codes({"x": tvmq.QTensor(TENSOR.codes, qparams)}, [INFO])
    with pytest.raises(DataError, match=r"input 'y' takes float32, no codes; give tensor.dequantize\(\)"):
        take_codes({"y": TENSOR}, [FLOATS])


@pytest.fixture(scope="module")
def parts() -> Any:
    """A product whose codes leave the core, and a sigmoid in float behind it."""
    w = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["one"], name="first"),
        helper.make_node("Relu", ["one"], ["two"], name="act"),
        helper.make_node("Sigmoid", ["two"], ["three"], name="squash"),
    ]
    x = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
    with tvmq.qconfig(partition_conversions="enabled"):
        model = tvmq.from_onnx(make_model(nodes, {"x": [8, 4]}, ["three"], {"w": w}, 17))
        return tvmq.quantize(*model, x, guard=None), {"x": x}


def test_a_chain_of_functions_by_tensors_equals_main(parts: Any) -> None:
    module, feed = parts
    exe = tvmq.build(module)
    (codes,) = exe["quantize_inputs"].run_tensors(feed)
    assert isinstance(codes, tvmq.QTensor) and "quantization_scheme=per_tensor_affine" in repr(codes)
    (result,) = exe["quantized_main"].run_tensors({"x": codes})
    assert isinstance(result, tvmq.QTensor)
    name = exe["dequantize_outputs"].input_info[0].name
    (y,) = exe["dequantize_outputs"].run_tensors({name: result})
    np.testing.assert_array_equal(y, exe.run(feed)[0])
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-result.dequantize())), atol=1e-6)


def test_activations_as_codes(parts: Any) -> None:
    module, feed = parts
    tensors = tvmq.activations(module, [feed], as_codes=True)
    floats = tvmq.activations(module, [feed])
    quantized = {name: one for name, one in tensors.items() if isinstance(one, tvmq.QTensor)}
    assert quantized and tensors.keys() == floats.keys()
    for name, values in floats.items():
        np.testing.assert_array_equal(np.asarray(tensors[name]), values)
    table = tvmq.compare(module, module, [{"x": quantized_input(tensors)}])
    assert table.outputs["three"].sqnr == np.inf


def quantized_input(tensors: Any) -> Any:
    """The input as codes: data may be quantized tensors, of which real values count."""
    return next(one for one in tensors.values() if isinstance(one, tvmq.QTensor) and one.shape == (8, 4))
