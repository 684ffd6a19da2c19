"""`quantize(..., tune=)`: layers that are faster in float stay float, with the reason in the ledger."""

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import ConfigError
from tvmq.graph.ledger import get_ledger
from tvmq.quantization import float_or_int8 as faster


def islands():
    """A large convolution, then a tiny one between two float operators."""
    n = Net((1, 16, 24, 24))
    y = n.op("Trilu", n.op("MaxPool", n.conv("x", 16, 64), kernel_shape=[8, 8], strides=[8, 8]))
    model = n.model(n.op("Trilu", n.conv(y, 64, 4, 1)))
    return model, feeds_of(model)


@pytest.fixture
def clock(monkeypatch):
    """Times by number of integer layers instead of measured ones: {integer layers: seconds}; what was built."""
    seconds, built = {}, []

    def beside(executables, _feed):
        counts = {
            name: sum(e["precision"] == "int8" for e in exe.ledger.layers.values()) for name, exe in executables.items()
        }
        built.append(counts)
        return {name: seconds[count] for name, count in counts.items()}

    monkeypatch.setattr(faster, "_time_in_turns", beside)
    return seconds, built


@pytest.mark.slow
def test_a_region_that_is_faster_in_float_stays_float(clock, monkeypatch):
    seconds, built = clock
    model, feeds = islands()
    mod, params = tvmq.from_onnx(model)
    usual = get_ledger(tvmq.quantize(mod, params, feeds)).layers
    whole = sum(entry["precision"] == "int8" for entry in usual.values())
    seconds.update({0: 9.0, whole: 5.0, whole - 1: 4.0})
    monkeypatch.setattr(faster, "HOPELESS", 0.0)
    monkeypatch.setattr(faster, "_by_layer", lambda exe, mod, feed: {"conv_3": 1e-6, "": 1e-6})
    quantized = tvmq.quantize(mod, params, feeds, tune=3600)
    ledger = get_ledger(quantized)
    entry = next(e for e in ledger.layers.values() if e["layers"] == ["/conv_3"])
    assert (
        entry["precision"] == "float"
        and entry["why"].startswith("measured: ")
        and "with its conversions" in entry["why"]
    )
    assert sum(e["precision"] == "int8" for e in ledger.layers.values()) == whole - 1
    note = ledger.notes[-1]
    assert note.startswith("measured on ") and "int8 5000.0 ms, chosen 4000.0 ms" in note
    assert "measured: " in str(tvmq.explain(quantized))
    exe = tvmq.build(quantized)
    assert tvmq.verify(exe, feeds[:2]).exact


def test_a_slower_whole_says_so(clock):
    seconds, _ = clock
    net = Net((1, 4))
    model = net.model(net.dense("x", 4, 3))
    seconds.update({0: 1.0, 1: 2.0})
    with pytest.warns(
        UserWarning, match="quantize: measured on .* int8 is slower than float here; keep the float model"
    ):
        quantized = tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), tune=0)
    assert "int8 is slower than float here" in get_ledger(quantized).notes[-1]


@pytest.mark.slow
def test_real_measurements_decide():
    model, feeds = islands()
    quantized = tvmq.quantize(*tvmq.from_onnx(model), feeds, tune=1)
    note = get_ledger(quantized).notes[-1]
    assert note.startswith("measured on ") and "a run in float " in note
    outputs = tvmq.build(quantized).run(feeds[0])
    assert all(np.isfinite(output).all() for output in outputs)


def test_regions_are_layers_that_hand_each_other_codes():
    layers = {
        "a": {"precision": "int8", "inputs": ["x"]}, "b": {"precision": "int8", "inputs": ["a"]},
        "f": {"precision": "float"}, "c": {"precision": "int8", "inputs": ["f"], "members": ["m", "c"]},
        "d": {"precision": "int8", "inputs": ["m", "f"]}, "e": {"precision": "int8", "inputs": ["f"]},
    }  # fmt: skip
    assert sorted(faster._regions(layers)) == [["a", "b"], ["c", "d"], ["e"]]


def test_refusals():
    net = Net((1, 4))
    model = net.model(net.dense("x", 4, 3))
    mod, params = tvmq.from_onnx(model)
    with pytest.raises(ConfigError, match="quantize: tune must be a number of seconds of at least 0. Got -1"):
        tvmq.quantize(mod, params, feeds_of(model), tune=-1)
    with tvmq.qconfig(activations="dynamic"), pytest.raises(ConfigError, match="tune= decides for this CPU"):
        tvmq.quantize(mod, params, tune=1)
