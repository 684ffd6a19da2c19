"""to_onnx: standard ONNX that onnxruntime runs, and that comes back as the same integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.formats.importing.frontend_models import run_onnxruntime
from tests.support.models.networks import Net, feeds_of
from tests.support.models.quantized_models import Maker, random_feed, results
from tests.support.random.graphs import random_inputs, random_model
from tvmq.errors import OutputError, StageError, UnsupportedOpError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.operators.value_functions import table
from tvmq.graph.rewrite import rewrite
from tvmq.graph.view import View, op_name


def exported(module: tvm.IRModule, folder: Path) -> onnx.ModelProto:
    """The file, as ONNX's checker accepts it."""
    path = folder / "model.onnx"
    tvmq.to_onnx(module, path)
    assert [p.name for p in folder.iterdir()] == ["model.onnx"]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    return model


def come_back(model: onnx.ModelProto) -> tvm.IRModule:
    """Imported again and quantized, without data."""
    return tvmq.quantize(*tvmq.from_onnx(model))


def assert_same_results(a: tvm.IRModule, b: tvm.IRModule, feeds: list[dict[str, Any]]) -> None:
    """By the definition, bit for bit."""
    first, second = tvmq.reference.Reference(a), tvmq.reference.Reference(b)
    for feed in feeds:
        for x, y in zip(first.run(feed), second.run(feed), strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_digits(digits: Any, tmp_path: Path) -> None:
    """The embedded network: same score in onnxruntime, same integers on the way back, names of layers kept."""
    model = exported(digits.quantized, tmp_path)
    pictures = {"image": digits.example.test[:200]}
    session = onnx_session(model)
    theirs = np.concatenate([session.run(None, {"image": p[None]})[0] for p in pictures["image"]])
    ours = np.concatenate([digits.exe.run({"image": p[None]})[0] for p in pictures["image"]])
    assert np.mean(theirs.argmax(1) == ours.argmax(1)) > 0.99
    assert_same_results(digits.quantized, come_back(model), [digits.pictures(1)])
    names = {node.name for node in model.graph.node}
    kept = [layer["layers"][0] for layer in get_ledger(digits.quantized).layers.values()]
    assert kept and names.issuperset(kept)


def onnx_session(model: onnx.ModelProto) -> Any:
    """onnxruntime with the model loaded."""
    import onnxruntime

    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("ceil", [0, 1])
def test_padding_that_counts_in_an_average(ceil: int, tmp_path: Path) -> None:
    net = Net((1, 4, 9, 12))
    y = net.op("Relu", net.op("Conv", "x", net.constant(net.weight(8, 4, 1, 1))))
    options = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4, "count_include_pad": 1, "ceil_mode": ceil}
    y = net.op("AveragePool", y, **options)
    source = net.model(y)
    feeds = feeds_of(source, 2)
    quantized = tvmq.quantize(*tvmq.from_onnx(source), feeds, guard=None)
    model = exported(quantized, tmp_path)
    (pool,) = [node for node in model.graph.node if node.op_type == "AveragePool"]
    written = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in pool.attribute}
    assert written["count_include_pad"] == 1 and written["pads"] == [1] * 4
    assert_same_results(quantized, come_back(model), feeds)


@pytest.mark.slow
@pytest.mark.thinned(12)
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 9, 11, 18, 40, 44, 49, 59])
def test_random_graphs(seed: int, tmp_path: Path) -> None:
    """Integers are equal for any graph, and onnxruntime loads the file."""
    source = random_model(seed)
    with tvmq.qconfig(weight_scale="max"):  # products of other scales may be rounded otherwise, to be dequantized by
        module = tvmq.quantize(*tvmq.from_onnx(source), random_inputs(source, 0, 8), guard=None)
    model = exported(module, tmp_path)
    feeds = random_inputs(source, 1, 2)
    assert_same_results(module, come_back(model), feeds)
    for mine, theirs in zip(tvmq.reference.run(module, feeds[0]), run_onnxruntime(model, feeds[0]), strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype


@pytest.mark.slow
def test_form_of_the_file(tmp_path: Path) -> None:
    """Weights int8 and biases int32 behind DequantizeLinear with an axis, names as onnxruntime gives them."""
    maker = Maker()
    scale = np.float32([0.01, 0.02, 0.005, 0.01, 0.01, 0.03])
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 3)
    conv = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), scale), maker.bias(6, np.float32(0.04) * scale)], "/conv")
    y = maker.rounded(maker.node("Relu", [conv], "/relu"), 0.1, 0)
    source = maker.model(y, types=["float32"])
    module, _ = results(source, random_feed(source))
    model = exported(module, tmp_path)
    nodes = {node.name: node for node in model.graph.node}
    assert [node.op_type for node in model.graph.node] == [
        "QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Conv",
        "QuantizeLinear", "DequantizeLinear",
    ]  # fmt: skip
    assert nodes["/conv.weight_DequantizeLinear"].input[0] == "/conv.weight_quantized"
    assert [a.i for a in nodes["/conv.weight_DequantizeLinear"].attribute] == [0]
    stored = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    original = {t.name: onnx.numpy_helper.to_array(t) for t in source.graph.initializer}
    by_shape = {(a.dtype.name, a.shape): a for a in original.values()}
    np.testing.assert_array_equal(stored["/conv.weight_quantized"], by_shape["int8", (6, 4, 3, 3)])
    np.testing.assert_array_equal(stored["/conv.bias_quantized"], by_shape["int32", (6,)])
    assert (stored["/conv.weight_scale"] == scale).all() and stored["/conv.bias_scale"].dtype == np.float32
    assert [i.name for i in model.graph.input] == ["x"] and [o.name for o in model.graph.output] == [y]
    assert model.opset_import[0].version == 17


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fixed_point", "power_of_two"])
def test_other_ways_to_requantize(mode: str, tmp_path: Path) -> None:
    """Scales come back from their constants too."""
    source = random_model(3)
    config = tvmq.qconfig(requantize=mode, weight_scale="max")
    module = tvmq.quantize(*tvmq.from_onnx(source), random_inputs(source, 0, 8), config=config, guard=None)
    model = exported(module, tmp_path)
    again = tvmq.quantize(*tvmq.from_onnx(model), config=config)
    assert_same_results(module, again, random_inputs(source, 1, 2))


@pytest.mark.slow
def test_large_biases_keep_their_codes(tmp_path: Path) -> None:
    """float32 does not hold all int32; the codes of the file come back all the same."""
    maker = Maker()
    x = maker.rounded(maker.input("x", (1, 4, 9, 7)), 0.04, 3)
    scale = np.float32([0.011, 0.0237, 0.0053, 0.0171, 0.0139, 0.0311])
    codes = np.int32([2**28 + 12345, -(2**27) - 1, 2**25 + 3, 2**24 + 1, 2**23 + 7, 5])
    real = np.float32(0.04) * scale
    bias = maker.node("DequantizeLinear", [maker.constant(codes), maker.constant(real)], axis=0)
    conv = maker.node("Conv", [x, maker.weight((6, 4, 3, 3), scale), bias], "conv")
    source = maker.model(conv, types=["float32"])
    module, _ = results(source, random_feed(source))
    stored = {t.name: onnx.numpy_helper.to_array(t) for t in exported(module, tmp_path).graph.initializer}
    np.testing.assert_array_equal(stored["conv.bias_quantized"], codes)


def test_only_realized_modules(digits: Any, tmp_path: Path) -> None:
    """Modules that are not realized are refused."""
    with pytest.raises(StageError, match="^to_onnx: the module is 'imported'; export the module that tvmq.quantize returns$"):
        tvmq.to_onnx(digits.mod, tmp_path / "model.onnx")


def test_tables_of_unknown_functions(digits: Any, tmp_path: Path) -> None:
    """A table that no pass of ours made names its layer."""

    def visit(_rewriter: Any, var: Any, value: Any) -> Any:
        if op_name(value) != "tvmq.quantize":
            return None
        unknown = table(value, tvm.relax.const(np.arange(256, dtype=np.uint8)), function="secret")
        return unknown

    module = rewrite(digits.quantized, visit)
    with pytest.raises(UnsupportedOpError, match="^to_onnx, layer '.*': a table of an unknown function has no equivalent in ONNX"):
        tvmq.to_onnx(module, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(digits: Any, tmp_path: Path) -> None:
    """The path is named and nothing is left behind."""
    with pytest.raises(OutputError, match="to_onnx: cannot write .*nowhere.*choose another path"):
        tvmq.to_onnx(digits.quantized, tmp_path / "nowhere" / "model.onnx")


def norms(net: Net) -> str:
    """A convolution, a group norm, an instance norm, one of channels, an rms norm, a log-softmax, and products between."""
    gamma, beta = (net.constant(net.random.uniform(0.5, 2, 6).astype(np.float32)) for _ in range(2))
    y = net.conv("x", 4, 6)
    rows = net.op("Reshape", y, net.constant(np.int64([0, 3, -1])))
    unit = [net.constant(np.full(3, value, np.float32)) for value in (1, 0)]
    y = net.op("Reshape", net.op("InstanceNormalization", rows, *unit), net.constant(np.int64([1, 6, 5, 5])))
    y = net.conv(y, 6, 6)
    y = net.conv(net.op("InstanceNormalization", y, gamma, beta), 6, 6)
    y = net.op("Div", y, net.op("ReduceL2", y, axes=[1]))
    return net.op("LogSoftmax", net.conv(y, 6, 6), axis=1)


@pytest.mark.slow
def test_norms(tmp_path: Path) -> None:
    """Norms that opset 17 has not are written out, and are recognized on the way back."""
    net = Net((1, 4, 5, 5))
    source = net.model(norms(net))
    feeds = feeds_of(source)
    module = tvmq.quantize(*tvmq.from_onnx(source), feeds, guard=None)
    model = exported(module, tmp_path)
    found, true = onnx_session(model).run(None, feeds[0])[0], tvmq.reference.Reference(module).run(feeds[0])[0]
    np.testing.assert_allclose(found, true, atol=0.05)
    again = come_back(model)
    assert_same_results(module, again, feeds[:2])
    for mod in (module, again):
        names = [op_name(value) for _, value in View(mod).bindings]
        assert names.count("tvmq.group_norm") == 2 and {"tvmq.rms_norm", "tvmq.log_softmax"}.issubset(names)


def test_a_prelu_of_one_slope_and_a_constant_result(tmp_path: Path) -> None:
    """The slope is part of a table, which knows no axis."""
    net = Net((1, 3, 6, 6))
    y = net.op("PRelu", net.conv("x", 3, 4), net.constant(np.float32([0.25])))
    source = net.model(net.conv(y, 4, 2))
    anchors = onnx.helper.make_tensor_value_info("anchors", onnx.TensorProto.FLOAT, [2])
    source.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([1, 2]), "anchors"))
    source.graph.output.append(anchors)
    module = tvmq.quantize(*tvmq.from_onnx(source), feeds_of(source), guard=None)
    model = exported(module, tmp_path)
    assert "PRelu" in {node.op_type for node in model.graph.node}
    assert_same_results(module, come_back(model), feeds_of(source)[:2])
