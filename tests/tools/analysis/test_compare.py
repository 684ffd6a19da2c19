"""`tvmq.compare`: layers with known errors, and an independent evaluation of a small network."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
import tvm

import tvmq
from tests.support.models.dynamic_models import encoder, texts
from tests.support.models.networks import Net, feeds_of, parse, text_of
from tests.tools.analysis.changed_modules import change_constant
from tvmq.errors import ConfigError, DataError, ModelError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import INPUTS, with_names
from tvmq.graph.view import View, const_value
from tvmq.numerics.deviation import Deviation
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference
from tvmq.tools.analysis.comparison import module_of
from tvmq.tools.analysis.comparison_table import Comparison
from tvmq.tools.analysis.layer_weights import LayerWeights

CHAIN = text_of(
    'x: R.Tensor((1, 4), "float32"), w: R.Tensor((4, 4), "float32"), v: R.Tensor((4, 4), "float32")',
    "one = R.matmul(x, w)\ntwo = R.nn.relu(one)\nthree = R.matmul(two, v)\nfour = R.nn.relu(three)",
    inputs=1,
)
SOURCES = {"one": ["first"], "two": ["first_act"], "three": ["second"], "four": ["second_act"]}


def chain(second: float = 1.0) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """Two products with positive weights, the second multiplied by a number."""
    mod = parse(CHAIN)
    mod["main"] = with_names(mod["main"], SOURCES)
    random = np.random.default_rng(0)
    w, v = random.uniform(0.5, 1.0, (2, 4, 4)).astype(np.float32)
    return mod, {"w": w, "v": np.float32(second) * v}


def rows(comparison: Comparison) -> dict[str, Any]:
    return {layer.names[0]: layer for layer in comparison.layers}


@pytest.fixture(scope="module")
def net() -> Any:
    """A small network in its three forms, weights rounded to nearest; a rule keeps "/conv_5" float."""
    net = Net((1, 3, 6, 6))
    x = net.op("Relu", net.conv(net.inputs[0], 3, 4))
    y = net.conv(x, 4, 4)
    y = net.op("MaxPool", net.op("Add", x, y), kernel_shape=[2, 2], strides=[2, 2])
    y = net.op("Sigmoid", net.conv(y, 4, 4))
    y = net.op("Flatten", y, axis=1)
    y = net.op("Relu", net.dense(y, 36, 5))
    model = net.model(net.dense(y, 5, 3))
    feeds = feeds_of(model, 8)
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(rules=[tvmq.Rule("/conv_5", None)], weight_rounding="nearest"):
        integer = tvmq.quantize(mod, params, feeds, guard=None)
        with tvmq.qconfig(do_simulation=True):
            simulated = tvmq.quantize(mod, params, feeds, guard=None)
    whole = SimpleNamespace(model=model, float=(mod, params), simulated=simulated, integer=integer, data=feeds[:3])
    whole.beside_float = tvmq.compare(whole.float, integer, whole.data)
    return whole


@pytest.mark.slow
def test_a_weight_doubled_is_found_where_it_is():
    x = np.random.default_rng(1).uniform(0, 1, (5, 1, 4)).astype(np.float32)
    found = rows(tvmq.compare(chain(), chain(2.0), list(x)))
    assert [layer.sqnr for layer in (found["first"].local, found["first"].accumulated)] == [math.inf, math.inf]
    assert found["first"].weight.sqnr == math.inf
    # a = y, b = 2 y: the error is as large as the signal
    for figures in (found["second"].local, found["second"].accumulated, found["second"].weight):
        assert figures.sqnr == pytest.approx(0.0, abs=1e-5)
        assert figures.cosine == pytest.approx(1.0)
        assert figures.lsb is None
    # relu computes what it is given; what it is given is wrong
    assert found["second_act"].local.sqnr == math.inf
    assert found["second_act"].accumulated.sqnr == pytest.approx(0.0, abs=1e-5)
    assert found["second_act"].weight is None and found["second_act"].accumulated.values == 20


@pytest.mark.slow
def test_outputs_end_the_comparison():
    x = np.ones((1, 4), np.float32)
    comparison = tvmq.compare(chain(), chain(2.0), x)
    (figures,) = comparison.outputs.values()
    mod, params = chain()
    expected = np.maximum(np.maximum(x @ params["w"], 0) @ params["v"], 0)
    assert figures.mse == pytest.approx(float(np.mean(expected**2)), rel=1e-6)
    assert figures.largest == pytest.approx(float(expected.max()), rel=1e-6)
    assert str(comparison).splitlines()[-3].startswith("output output_0")


@pytest.mark.slow
def test_integers_of_a_known_scale():
    """Identities: the only error is that of the input, whose codes are known; nothing is lost behind it."""
    identity = np.eye(4, dtype=np.float32)
    model = chain()[0], {"w": identity, "v": identity}
    with tvmq.qconfig(calibrate_mode="global_scale", global_scale=127.5, bias_correction=False):
        integer = tvmq.quantize(*model)
    scale, zero = (const_value(arg) for arg in View(integer).value["x_q"].args[1:3])
    x = np.float32([[3.0, 7.25, 100.0, 300.0]])
    codes = np.clip(np.rint(x / scale) + zero, 0, 255)
    error = np.abs(x - (codes - zero) * scale)
    comparison = tvmq.compare(model, integer, [x])
    given = comparison.layer("x")
    assert given.local == given.accumulated and given.weight is None
    assert given.local.largest == pytest.approx(error.max(), rel=1e-6)
    assert given.local.lsb == pytest.approx(error.max() / scale, rel=1e-6)
    assert given.local.sqnr == pytest.approx(10 * np.log10((x**2).sum() / (error**2).sum()), abs=1e-4)
    last = comparison.layer("second_act")
    assert last.weight.largest < 1e-6
    assert last.local.largest < 0.51 * scale
    assert last.accumulated.largest == pytest.approx(error.max(), abs=float(scale))


def watched(mod: Any, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All variables, by the NumPy definition."""
    seen: dict[str, np.ndarray] = {}
    Reference(mod).run(feed, watch=seen.__setitem__)
    return seen


def real(codes: np.ndarray, meaning: Any) -> np.ndarray:
    """Codes as numbers, by hand."""
    return np.asarray((codes.astype(np.float64) - meaning["zero_point"]) * meaning["scale"])


@pytest.mark.slow
def test_accumulated_errors_equal_the_definition(net):
    """Both modules in NumPy, the codes dequantized by hand."""
    data = net.data[:1]
    comparison = tvmq.compare(net.simulated, net.integer, data)
    ledger = get_ledger(net.integer).layers
    coded = {key: entry for key, entry in ledger.items() if isinstance(entry.get("output"), dict)}
    sums = {key: Deviation(entry["output"]["scale"]) for key, entry in coded.items()}
    for feed in data:
        simulated, integer = watched(net.simulated, feed), watched(net.integer, feed)
        for key, deviation in sums.items():
            deviation.add(simulated.get(f"{key}_sq", simulated[key]), real(integer[key], coded[key]["output"]))
    assert len(sums) >= 4
    for key, deviation in sums.items():
        found, expected = comparison.layer(coded[key]["layers"][-1]).accumulated, deviation.figures()
        assert found.values == expected.values
        assert (found.lsb or 0.0) == pytest.approx(expected.lsb, abs=1e-3), key
        assert found.mse == pytest.approx(expected.mse, rel=1e-3, abs=1e-12), key


@pytest.mark.slow
def test_local_errors_equal_the_float_layer_on_the_codes(net):
    """A dense layer by hand: the float weights on the dequantized codes that the integer layer reads."""
    key, entry = next(
        (key, entry) for key, entry in get_ledger(net.integer).layers.items() if "/relu_9" in entry["layers"]
    )
    floats = View(prepare(*net.float))
    weight, bias = (const_value(floats.value[name].args[1]).astype(np.float64) for name in entry["members"][:2])
    deviation = Deviation(entry["output"]["scale"])
    for feed in net.data:
        codes = watched(net.integer, feed)
        given = real(codes[entry["inputs"][0]], entry["input"][0])
        deviation.add(np.maximum(given @ weight + bias, 0), real(codes[key], entry["output"]))
    found = net.beside_float.layer("/relu_9").local
    assert found.sqnr == pytest.approx(deviation.figures().sqnr, abs=1e-3)
    assert found.lsb == pytest.approx(deviation.figures().lsb, abs=1e-3)


@pytest.mark.slow
def test_weight_errors_equal_the_rounding_of_the_weights(net):
    """Half a code at most, and the same whether read from the rounded floats or from the integers."""
    simulated = tvmq.compare(net.float, net.simulated, net.data[:1])
    weighted = [layer for layer in net.beside_float.layers if layer.weight is not None]
    assert len(weighted) == 5
    for layer in weighted:
        other = simulated.layer(layer.names[0]).weight
        assert layer.weight.sqnr == pytest.approx(other.sqnr, abs=1e-3)
        if layer.precision[1] == "int8":
            assert 0.4 < layer.weight.lsb <= 0.5 + 1e-4 and layer.weight.sqnr < 60


def upsampling(groups: int) -> tuple[tuple[tvm.IRModule, dict[str, np.ndarray]], list[dict[str, np.ndarray]]]:
    """x -> convolution -> transposed convolution with a bias, as (module, params), and data."""
    random = np.random.default_rng(0)
    n = Net((1, 4, 6, 6))
    weight = n.constant(random.standard_normal((4, 6 // groups, 2, 2)).astype(np.float32))
    bias = n.constant(random.standard_normal(6).astype(np.float32))
    up = n.op("ConvTranspose", n.op("Relu", n.conv("x", 4, 4)), weight, bias, strides=[2, 2], group=groups)
    model = n.model(n.op("Relu", up))
    return tvmq.from_onnx(model), feeds_of(model)


@pytest.mark.slow_cases(
    "1-{'per_channel': False}", "1-{'requantize': 'fixed_point'}", "2-{}", "2-{'per_channel': False}",
    "2-{'requantize': 'fixed_point'}",
)  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"per_channel": False}, {"requantize": "fixed_point"}], ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_weights_of_transposed_convolutions_of_integers(groups: int, options: dict[str, Any]) -> None:
    """Weights of the integer module equal those of the simulated one, with the scale of each group."""
    model, data = upsampling(groups)
    made = [
        tvmq.quantize(
            *model, data, config=tvmq.qconfig(bias_correction=False, do_simulation=simulated, **options), guard=None
        )
        for simulated in (False, True)
    ]
    views = [(View(mod := module_of(one)), get_ledger(mod)) for one in made]
    names = next(e["layers"] for e in views[0][1].layers.values() if e["op"] == "conv_transpose")
    (integer,), (simulated,) = (LayerWeights(view, ledger.layers).of(names) for view, ledger in views)
    np.testing.assert_allclose(integer.values, simulated.values, rtol=1e-6)
    assert np.ptp(integer.values) > 1


def test_a_layer_behind_a_split() -> None:
    """Its input is a part of a tuple, which no operator gives."""
    weight = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    nodes = [
        onnx.helper.make_node("Split", ["x"], ["first", "second"], axis=1, num_outputs=2),
        onnx.helper.make_node("MatMul", ["first", "w"], ["y"], name="/product"),
        onnx.helper.make_node("Relu", ["second"], ["z"]),
    ]
    x, y, z = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, size])
        for name, size in (("x", 8), ("y", 3), ("z", 4))
    )
    graph = onnx.helper.make_graph(nodes, "split", [x], [y, z], [onnx.numpy_helper.from_array(weight, "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    mod, params = tvmq.from_onnx(model)
    feeds = [{"x": np.random.default_rng(seed).standard_normal((2, 8)).astype(np.float32)} for seed in range(4)]
    result = tvmq.compare((mod, params), tvmq.quantize(mod, params, feeds, guard=None), feeds)
    assert isinstance(result, Comparison) and "/product" in str(result)


@pytest.mark.slow
def test_scales_made_at_run_time() -> None:
    """A bias is an operator of its own behind the product, under the same name; it counts as part of the layer."""
    model, data = upsampling(2)
    found = tvmq.compare(model, tvmq.quantize(*model, config=tvmq.qconfig(activations="dynamic")), data)
    shown = {layer.operator: layer for layer in found.layers}
    assert all(layer.local.sqnr > 30 for layer in found.layers)
    assert shown["add"].weight is not None and shown["add"].weight.sqnr > 30


def test_layers_that_a_rule_keeps_float_are_exact_by_themselves(net):
    layer = net.beside_float.layer("/conv_5")
    assert layer.precision == ("float", "float")
    assert layer.weight.sqnr == math.inf
    assert layer.local.sqnr > 100 and layer.accumulated.sqnr < 60 and layer.local.lsb is None


def test_names_of_one_layer_only(net):
    """Every layer once, in order, nothing that only converts."""
    names = [layer.names for layer in net.beside_float.layers]
    assert len(set(names)) == len(names)
    assert names[0] == ("x",) and ("/maxpool_4",) in names
    assert not any(layer.operator.startswith("tvmq.") for layer in net.beside_float.layers)


@pytest.mark.slow
def test_executables_and_batches(net, tmp_path):
    """A loaded file, a model of batch 2 (the sample that fills up the last batch does not count), dynamic dimensions."""
    tvmq.build(net.integer).save(tmp_path / "m.tvmq")
    progress: list[int] = []
    one = tvmq.compare(net.float, tvmq.load(tmp_path / "m.tvmq"), net.data, advance=progress.append)
    assert progress == [1, 1, 1] and one == net.beside_float
    dynamic = onnx.ModelProto()
    dynamic.CopyFrom(net.model)
    dynamic.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    del dynamic.graph.value_info[:]
    assert tvmq.compare(tvmq.from_onnx(dynamic), net.integer, iter(net.data)) == one
    two = tvmq.from_onnx(dynamic, shape={"x": (2, 3, 6, 6)})
    same = tvmq.compare(two, tvmq.from_onnx(dynamic), net.data)
    assert same.samples == 3 and next(iter(same.outputs.values())).values == 9


@pytest.mark.slow
def test_json_has_no_infinities():
    comparison = tvmq.compare(chain(), chain(), np.ones((1, 4), np.float32))
    data = comparison.to_dict()
    assert data["layers"][0]["local"]["sqnr"] is None and data["samples"] == 1
    assert "exact" in str(comparison) and "worst on their own: none" in str(comparison)


def test_worst_layers():
    comparison = tvmq.compare(chain(), chain(2.0), np.ones((1, 4), np.float32))
    assert comparison.worst(1)[0].names == ("second",)
    assert comparison.worst(1, by="weight")[0].names == ("second",)
    with pytest.raises(ConfigError, match="by must be one of local, accumulated, weight. Got 'size'"):
        comparison.worst(1, by="size")
    with pytest.raises(ConfigError, match="none of 4 layers is called 'third'"):
        comparison.layer("third")


def renamed(model: Any, names: dict[str, list[str]], param: str = "x") -> Any:
    mod, params = model
    mod["main"] = with_names(mod["main"], names)
    return mod, params


def test_refusals(net):
    x = np.ones((1, 4), np.float32)
    with pytest.raises(DataError, match="compare: the data gave 0 samples"):
        tvmq.compare(chain(), chain(), [])
    with pytest.raises(ModelError, match=r"inputs of different shapes, \{'x': \(1, 4\)\} and \{'x': \(1, 3, 6, 6\)\}"):
        tvmq.compare(chain(), net.integer, x)
    mod, params = chain()
    named = mod.clone()
    named["main"] = mod["main"].with_attr(INPUTS, json.dumps(["pixels"]))
    with pytest.raises(ModelError, match=r"the models take different inputs, \['x'\] and \['pixels'\]"):
        tvmq.compare(chain(), (named, params), x)
    other = renamed(chain(), {name: [f"other_{name}"] for name in SOURCES})
    with pytest.raises(
        ModelError, match="no layer of the same name.*5 names .x, first, first_act, ...., the second 5 names"
    ):
        tvmq.compare(chain(), other, x)


def test_equal_infinities_are_no_error():
    deviation = Deviation()
    deviation.add(np.float32([np.inf, np.nan, 1.0]), np.float32([np.inf, np.nan, 1.0]))
    assert deviation.figures().sqnr == math.inf and deviation.figures().cosine == 1.0
    deviation.add(np.float32([1.0]), np.float32([np.inf]))
    assert deviation.figures().sqnr == -math.inf and deviation.figures().mse == math.inf


def test_nothing_was_seen():
    deviation = Deviation(1.0)
    deviation.add(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
    assert (deviation.figures().values, deviation.figures().mse) == (0, 0.0)


@pytest.mark.slow
def test_a_broken_integer_layer_is_the_only_one_that_errs(net):
    """Every bias of a layer raised by one: it differs, and what follows computes on as before."""
    key, entry = next((k, e) for k, e in get_ledger(net.integer).layers.items() if "/relu_9" in e["layers"])
    broken = change_constant(net.integer, f"{entry['root']}_bias", lambda bias: bias + np.int32(1000))
    comparison = tvmq.compare(net.integer, broken, net.data)
    wrong = {layer.names[-1] for layer in comparison.layers if layer.local.sqnr != math.inf}
    assert wrong == {"/relu_9"} and key in View(broken).var
    assert comparison.layer("/relu_9").accumulated == comparison.layer("/relu_9").local
    assert next(iter(comparison.outputs.values())).sqnr < 60


@pytest.mark.slow
def test_models_of_dynamic_sizes_are_compared_at_the_size_of_the_data() -> None:
    """The batch is one; data of another length than the first are refused by name."""
    mod, params = tvmq.from_onnx(encoder())
    integer = tvmq.quantize(mod, params, [texts(2, 6)], guard=None)
    result = tvmq.compare((mod, params), integer, [texts(2, 9, seed) for seed in range(2)])
    (output,) = result.outputs.values()
    assert output.sqnr > 25 and len(result.layers) > 10
    with pytest.raises(DataError, match=r"input 'ids' has shape \(1, 7\), the model takes batchx9"):
        tvmq.compare((mod, params), integer, [texts(1, 9), texts(1, 7)])


def test_an_activation_that_is_called_twice_has_a_row_for_each_use() -> None:
    mod, params = chain()
    mod["main"] = with_names(mod["main"], {**SOURCES, "two": ["act"], "four": ["act"]})
    samples = [{"x": x} for x in np.random.default_rng(1).uniform(0, 1, (16, 1, 4)).astype(np.float32)]
    module = tvmq.quantize(mod, params, samples, guard=None)
    comparison = tvmq.compare((mod, params), module, samples[:4])
    assert [layer.names for layer in comparison.layers] == [("x",), ("first", "act"), ("second", "act")]
    assert comparison.unpaired == ()
    exe, float_run = tvmq.build(module), tvmq.build(mod, params=params)
    noise = signal = 0.0
    for sample in samples[:4]:
        wanted, ours = (np.float64(one.run(sample)[0]) for one in (float_run, exe))
        signal, noise = signal + (wanted**2).sum(), noise + ((wanted - ours) ** 2).sum()
    assert comparison.layers[-1].accumulated.sqnr == pytest.approx(10 * np.log10(signal / noise), abs=1e-6)
    assert list(tvmq.activations((mod, params), samples[:1])) == ["x", "first", "act", "second", "act#2"]


def test_a_layer_without_a_counterpart_is_said() -> None:
    mod, params = chain()
    mod["main"] = with_names(mod["main"], {**SOURCES, "two": ["act"], "four": ["act"]})
    samples = [{"x": x} for x in np.random.default_rng(1).uniform(0, 1, (16, 1, 4)).astype(np.float32)]
    other = parse(CHAIN.replace("one", "m").replace("two", "n").replace("three", "o").replace("four", "q"))
    other["main"] = with_names(other["main"], {"m": ["first"], "n": ["act"], "o": ["second"], "q": ["act"]})
    comparison = tvmq.compare((mod, params), tvmq.quantize(other, params, samples, guard=None), samples[:4])
    assert comparison.unpaired == (("first", "act"), ("second", "act"))
    assert "2 layers have no counterpart in the first model and no row: first, act, second, act" in str(comparison)
