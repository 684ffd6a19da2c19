"""The guard of `quantize`: it leaves networks that 8 bits represent unchanged, and repairs or refuses the others."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.guarded_networks import healthy, leveled, levels, samples, small_variance, spectrogram, sqnr
from tests.support.models.networks import Net
from tvmq.errors import AccuracyWarning
from tvmq.quantization.guard.bound import Guard
from tvmq.quantization.guard.rehearsal import Precision, Rehearsal
from tvmq.quantization.static_quantization import model_hash


@pytest.mark.thinned(2)
@pytest.mark.parametrize("make", [small_variance, spectrogram])
@pytest.mark.slow
def test_a_network_that_8_bits_destroy_is_mended_with_products_in_int8(make):
    model = make()
    broken = tvmq.quantize(*tvmq.from_onnx(model), samples(model), guard=None)
    mended = tvmq.quantize(*tvmq.from_onnx(model), samples(model))
    assert sqnr(model, broken) < 19 < 20 <= sqnr(model, mended)
    explanation = tvmq.explain(mended)
    products = [
        entry["precision"] for entry in explanation.ledger.layers.values() if entry["op"] in ("dense", "conv1d")
    ]
    assert "int8" in products
    whys = [entry["why"] for entry in explanation.ledger.layers.values() if entry["precision"] == "float"]
    assert any(why.startswith("guard: float: ") and " dB so, forecast " in why for why in whys)
    notes = explanation.ledger.notes
    assert notes[0].startswith("guard: in 8 bits: ") and notes[-1].startswith("guard: so: ")


@pytest.mark.slow
def test_a_healthy_network_has_the_same_bytes_with_and_without_guard():
    model = healthy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_guard, without = (
            tvmq.quantize(*tvmq.from_onnx(model), samples(model), guard=guard) for guard in ("sqnr >= 20", None)
        )
    assert model_hash(with_guard) == model_hash(without)
    assert not tvmq.explain(with_guard).ledger.notes


@pytest.mark.slow
def test_the_same_bytes_for_any_number_of_threads(monkeypatch):
    model, found = small_variance(), []
    for threads in ("1", "2"):
        monkeypatch.setenv("TVM_NUM_THREADS", threads)
        found.append(model_hash(tvmq.quantize(*tvmq.from_onnx(model), samples(model))))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_trial_reads_no_data_that_was_read_before():
    model, reads = small_variance(), []

    class Data:
        def __iter__(self):
            reads.append(len(reads))
            return iter(samples(model))

    tvmq.quantize(*tvmq.from_onnx(model), Data(), guard=None)
    without = len(reads)
    tvmq.quantize(*tvmq.from_onnx(model), Data())
    # once for the tensors that only float operators read in 8 bits, once for the weights of the module handed out
    assert len(reads) - without <= without + 2


@pytest.mark.slow
def test_what_was_asked_for_is_reported_and_left():
    model = small_variance()
    with tvmq.qconfig(nbit_weight=3), pytest.warns(AccuracyWarning) as caught:
        found = tvmq.quantize(*tvmq.from_onnx(model), samples(model))
    text = str(caught[0].message)
    assert "int8 keeps" in text and "sqnr >= 20" in text and "nbit_weight=3 was asked for" in text
    with tvmq.qconfig(nbit_weight=3):
        plain = tvmq.quantize(*tvmq.from_onnx(model), samples(model), guard=None)
    assert model_hash(found) == model_hash(plain)


@pytest.mark.slow
def test_a_model_of_which_nothing_is_left_in_8_bits_is_told_apart():
    model = healthy()
    mod, params = tvmq.from_onnx(model)
    with pytest.warns(
        AccuracyWarning, match="none with a convolution or product in 8 bits keeps the bound: this is the"
    ):
        module = tvmq.quantize(mod, params, samples(model), guard="sqnr >= 70")
    feed = samples(model)[0]
    assert np.array_equal(tvmq.build(module).run(feed)[0], tvmq.build(mod, params=params).run(feed)[0])


@pytest.mark.slow
def test_a_metric_with_a_drop_judges_instead():
    model = healthy()
    mod, params = tvmq.from_onnx(model)
    asked: list[Any] = []

    def metric(outputs: Any, labels: Any) -> float:
        asked.append((len(outputs[0]), labels))
        return 1.0 if len(asked) == 1 else 0.9  # float first

    data = samples(model)
    loose = tvmq.quantize(mod, params, data, guard=Guard(metric=metric, max_drop=0.2, data=data[:6], labels="labels"))
    assert asked == [(6, "labels")] * 2
    assert not tvmq.explain(loose).ledger.notes
    with pytest.warns(AccuracyWarning, match="0.9 of 1 of float's outputs, the guard asks for drop <= 0.05"):
        tvmq.quantize(mod, params, data, guard=Guard(metric=lambda y, _: _drops(asked), max_drop=0.05, data=data[:6]))


def _drops(asked: list[Any]) -> float:
    asked.append(None)
    return 1.0 if len(asked) == 3 else 0.9


@pytest.mark.slow
def test_what_an_ordering_reads_is_judged_in_place_of_its_results():
    model = small_variance()
    y = model.graph.output[0].name
    places = onnx.helper.make_node("ArgMax", [y], ["place"], axis=1)
    del model.graph.output[:]
    model.graph.node.append(places)
    model.graph.output.append(onnx.helper.make_tensor_value_info("place", onnx.TensorProto.INT64, None))
    mod, params = tvmq.from_onnx(model)
    data = samples(model)
    module = tvmq.quantize(mod, params, data)
    assert any(note.startswith("guard: only products in 8 bits") for note in tvmq.explain(module).ledger.notes)
    exe, wanted = tvmq.build(module), tvmq.build(mod, params=params)
    assert [result.dtype for result in exe.run(data[0])] == [np.int64]
    same = [exe.run(feed)[0] == wanted.run(feed)[0] for feed in samples(model, seed=1)]
    assert np.mean(same) > 0.9


@pytest.mark.slow
def test_a_healthy_network_of_places_is_left_alone():
    net = Net((1, 8))
    model = net.model(net.op("ArgMax", net.dense(net.op("Relu", net.dense("x", 8, 16)), 16, 6), axis=1))
    mod, params = tvmq.from_onnx(model)
    module = tvmq.quantize(mod, params, samples(model))
    assert model_hash(module) == model_hash(tvmq.quantize(mod, params, samples(model), guard=None))


@pytest.mark.slow
def test_a_rehearsal_says_what_the_integer_module_does():
    model, seen = spectrogram(), []

    class Spy(Rehearsal):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            seen.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tvmq.quantization.guard.Rehearsal", Spy)
        tvmq.quantize(*tvmq.from_onnx(model), samples(model))
    (rehearsal,) = seen
    judge, layers = rehearsal._judge, list(rehearsal.groups)
    first, between = layers[:1], [key for key, group in rehearsal.groups.items() if not group.macs]
    for precision in (
        Precision(), Precision(frozenset(between)), Precision(frozenset([*between, *first])),
        Precision(frozenset(between), frozenset(first)), Precision(frozenset(layers)),
    ):  # fmt: skip
        with tvmq.qconfig(rules=precision.rules(), weight_rounding="nearest", bias_correction=False):
            module = tvmq.quantize(*tvmq.from_onnx(model), samples(model), guard=None)
        wanted, found = judge.measure(tvmq.build(module).run, roughly=True).sqnr, rehearsal.figure(precision).sqnr
        assert min(wanted, 60) == pytest.approx(min(found, 60), abs=1.5), precision


@pytest.mark.slow
def test_codes_made_at_run_time_are_a_rung():
    model = levels()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["tvmq.quantization.guard.regions"], "MACS", 1e9)  # float products are dear
        module = tvmq.quantize(*tvmq.from_onnx(model), leveled())
    first = next(e for e in tvmq.explain(module).ledger.layers.values() if e["op"] == "matmul" or e.get("macs"))
    assert first.get("dynamic") and first["precision"] == "int8"
    assert first["why"].startswith("guard: codes made at run time: ")


SCRIPT = """
import json, sys
sys.path.insert(0, {tests!r})
import tvmq
from tests.support.models.guarded_networks import samples, {name}
model = {name}()
ledger = tvmq.explain(tvmq.quantize(*tvmq.from_onnx(model), samples(model))).ledger
print(json.dumps([ledger.notes, [[key, entry["precision"], entry["why"]] for key, entry in ledger.layers.items()]]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small_variance", "spectrogram"])
def test_the_same_decisions_and_figures_with_the_float_kernels_of_other_cpus(name):
    found = {}
    for cpu in ("", "haswell", "x86-64"):
        with_cpu = {**os.environ, "TVMQ_CPU": cpu} if cpu else dict(os.environ)
        script = SCRIPT.format(tests=str(Path(__file__).parents[3]), name=name)
        run = subprocess.run([sys.executable, "-c", script], env=with_cpu, capture_output=True, text=True, check=True)
        found[cpu] = run.stdout.splitlines()[-1]
    assert len(set(found.values())) == 1, found
