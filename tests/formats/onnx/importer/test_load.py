"""Reading models: paths, bytes, external data, opsets; and everything that can be wrong with a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import assert_close, check, make_model, normal_floats, run_float, run_onnxruntime
from onnx import helper

from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx

floats = normal_floats(3)


def dense(opset: int = 18) -> onnx.ModelProto:
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["g"], name="dense"), helper.make_node("Relu", ["g"], ["y"])]
    return make_model(nodes, {"x": ("float32", (2, 40))}, ["y"], {"w": floats(40, 30), "b": floats(30)}, opset)


def refuses(source: Any, *words: str, error: type[ModelError] = ModelError) -> None:
    """from_onnx raises one sentence with these words."""
    with pytest.raises(error) as caught:
        from_onnx(source)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message and "; " in message


def test_path_bytes_and_proto_give_the_same(tmp_path: Path) -> None:
    model = dense()
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    for source in (path, str(path), model.SerializeToString(), bytearray(model.SerializeToString()), model):
        mod, params = from_onnx(source)
        assert list(params) == ["w", "b"]
        assert [b.var.name for b in mod["main"].body.blocks[0].bindings] == ["dense_matmul", "dense", "Relu_1"]


@pytest.mark.slow
def test_external_data_is_found_beside_the_model(tmp_path: Path) -> None:
    model = dense()
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="model.data", size_threshold=16)
    assert (tmp_path / "model.data").stat().st_size > 4000
    mod, params = from_onnx(path)
    x = floats(2, 40)
    assert_close(run_float(mod, params, {"x": x}), run_onnxruntime(str(path), {"x": x}))

    refuses(path.read_bytes(), "external file", "pass the path")
    data = (tmp_path / "model.data").read_bytes()
    (tmp_path / "model.data").write_bytes(data[:100])
    refuses(path, "'w'", "model.onnx", "data files")
    (tmp_path / "model.data").unlink()
    refuses(path, "external data", "model.onnx", "beside the model")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    refuses(tmp_path / "absent.onnx", "there is no file", "absent.onnx", "check the path")
    refuses(tmp_path, "is a folder", ".onnx file")
    refuses(17, "got int")


@pytest.mark.parametrize("count", [0, 1, 10, 1000, 4000])
def test_truncated_file(tmp_path: Path, count: int) -> None:
    path = tmp_path / "cut.onnx"
    path.write_bytes(dense().SerializeToString()[:count])
    refuses(path, "cut.onnx", "again")


@pytest.mark.parametrize("data", [b"PK\x03\x04 zip", b"hello world\n" * 9, bytes(100), "text é".encode(), b"\x08\x07"])
def test_not_a_model(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "picture.onnx"
    path.write_bytes(data)
    refuses(path, "picture.onnx", "again")
    refuses(data, "model bytes", "again")


def test_weights_shorter_than_they_say() -> None:
    model = dense()
    weight = model.graph.initializer[0]
    weight.raw_data = weight.raw_data[:100]
    refuses(model, "weight 'w'", "damaged")


def test_damaged_graphs() -> None:
    unread = make_model([helper.make_node("Relu", ["nowhere"], ["y"], name="relu")], {"x": ("float32", (2,))}, ["y"])
    refuses(unread, "layer 'relu'", "reads 'nowhere'", "export it again")
    ungiven = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": ("float32", (2,))}, ["z"])
    refuses(ungiven, "output 'z'", "export it again")
    for value in ("x", "a"):
        nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["x"], [value], name="again")]
        twice = make_model(nodes, {"x": ("float32", (2,))}, ["a"])
        refuses(twice, "layer 'again'", f"produces '{value}'", "export it again")


def test_attribute_missing_is_refused_with_the_layers_name() -> None:
    node = helper.make_node("MaxPool", ["x"], ["y"], name="pool")
    model = make_model([node], {"x": ("float32", (1, 2, 4, 4))}, ["y"])
    refuses(model, "layer 'pool'", "MaxPool", "kernel_shape")


def test_input_types() -> None:
    text = make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": ("float32", (2,))}, ["y"])
    text.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.STRING
    refuses(text, "input 'x'", "string", "float32", error=UnsupportedOpError)
    sequence = make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": ("float32", (2,))}, ["y"])
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, (2,)))
    sequence.graph.input[0].type.CopyFrom(kind)
    refuses(sequence, "input 'x' is not a tensor")
    cast = helper.make_node("Cast", ["x"], ["y"], name="to_small", to=onnx.TensorProto.FLOAT8E4M3FN)
    small = make_model([cast], {"x": ("float32", (2,))}, ["y"], opset=19)
    refuses(small, "layer 'to_small'", "float8e4m3fn", error=UnsupportedOpError)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("opset", range(11, 24))
def test_opsets(opset: int) -> None:
    """A net of common operators in the form each opset has them."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["c", "zero", "six"], ["d"], name="relu6"),
        helper.make_node("MaxPool", ["d"], ["e"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Resize", ["e", "", "scales"], ["f"], name="up", mode="nearest"),
        helper.make_node("Add", ["d", "f"], ["g"], name="add"),
    ]
    weights = {"w": floats(4, 3, 3, 3), "zero": np.float32(0), "six": np.float32(6)}
    weights["scales"] = np.float32([1, 1, 2, 2])
    if opset < 13:
        nodes[3].input[1] = "roi"
        weights["roi"] = np.zeros(0, np.float32)
        nodes += [
            helper.make_node("ReduceMean", ["g"], ["h"], name="mean", axes=[2, 3], keepdims=0),
            helper.make_node("Unsqueeze", ["h"], ["i"], name="wide", axes=[1]),
        ]
    else:
        weights["axes"], weights["axis"] = np.array([2, 3]), np.array([1])
        mean = helper.make_node("ReduceMean", ["g", "axes"], ["h"], name="mean", keepdims=0)
        if opset < 18:
            mean = helper.make_node("ReduceMean", ["g"], ["h"], name="mean", axes=[2, 3], keepdims=0)
        nodes += [mean, helper.make_node("Unsqueeze", ["h", "axis"], ["i"], name="wide")]
    nodes += [helper.make_node("Softmax", ["i"], ["y"], name="softmax", axis=2)]
    model = make_model(nodes, {"x": ("float32", (1, 3, 4, 6))}, ["y"], weights, opset)
    mod = check(model, {"x": floats(1, 3, 4, 6)})
    assert [b.var.name for b in mod["main"].body.blocks[0].bindings] == [
        "conv", "relu6", "pool", "up", "add", "mean", "wide", "softmax"
    ]  # fmt: skip


@pytest.mark.slow_cases(
    "Upsample-7-nearest", "Upsample-7-linear", "Upsample-9-linear", "Resize-10-nearest", "Resize-10-linear",
)  # fmt: skip
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("op_type, opset", [("Upsample", 7), ("Upsample", 9), ("Resize", 10)])
def test_older_opsets_are_converted(op_type: str, opset: int, mode: str) -> None:
    scales = [1.0, 1.0, 3.0, 2.0]
    attributes, inputs, weights = {"scales": scales}, ["x"], {}
    if opset >= 9:
        attributes, inputs, weights = {}, ["x", "scales"], {"scales": np.float32(scales)}
    nodes = [
        helper.make_node(op_type, inputs, ["u"], name="up", mode=mode, **attributes),
        helper.make_node("Relu", ["u"], ["y"], name="relu"),
    ]
    x = floats(1, 2, 3, 4)
    mod = check(make_model(nodes, {"x": ("float32", x.shape)}, ["y"], weights, opset), {"x": x})
    assert [b.var.name for b in mod["main"].body.blocks[0].bindings] == ["up", "relu"]


def test_newer_opset_is_refused() -> None:
    model = dense()
    model.opset_import[0].version = 29
    refuses(model, "opset 29", "opset_version=28")


def test_old_opsets_are_refused() -> None:
    node = helper.make_node("Upsample", ["x"], ["y"], name="up", height_scale=2.0, width_scale=2.0)
    model = make_model([node], {"x": ("float32", (1, 1, 2, 2))}, ["y"], opset=1)
    refuses(model, "opset 1,", "oldest one that can be converted is 7", "export it")


def test_old_opset_that_cannot_be_converted() -> None:
    node = helper.make_node("Foo", ["x"], ["y"], name="foo")
    refuses(make_model([node], {"x": ("float32", (2,))}, ["y"], opset=9), "opset 9", "cannot be converted", "export it")
