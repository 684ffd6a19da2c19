"""The guard of `quantize`: what 8 bits hold stays as it is, what they destroy is mended or refused."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from tvm import relax

import tvmq
from tests.support.models.networks import Net
from tvmq.backends import backend_named
from tvmq.errors import AccuracyWarning, ConfigError
from tvmq.quantization.guard import why_not
from tvmq.quantization.guard.bound import Figure, Guard, guard_of
from tvmq.quantization.guard.calibration_cache import Batch, CalibrationCache
from tvmq.quantization.guard.evidence import drop_largest_errors, judged_outputs, looked_up_outputs
from tvmq.quantization.guard.judge import Judge
from tvmq.quantization.guard.raising import CODES_AT_RUN_TIME, Search, _give_last_products_back, _steps, raise_precision
from tvmq.quantization.guard.regions import kinds, regions
from tvmq.quantization.guard.rehearsal import Precision, Rehearsal
from tvmq.quantization.guard.trials import Trials
from tvmq.quantization.static_quantization import model_hash

SAMPLES = 32


def healthy() -> onnx.ModelProto:
    """Two convolutions and a head."""
    net = Net((1, 3, 8, 8))
    y = net.op("Relu", net.conv(net.op("Relu", net.conv("x", 3, 8)), 8, 8))
    return net.model(net.dense(net.op("Flatten", y), 512, 5))


def small_variance() -> onnx.ModelProto:
    """Two dense layers and between them a product with E[x^2] - E[x]^2, of values far from zero; no norm."""
    net = Net((1, 16))
    x = net.op("Add", net.dense("x", 16, 32), net.constant(np.full(32, 30.0, np.float32)))
    mean = net.op("ReduceMean", x, axes=[-1], keepdims=1)
    square = net.op("ReduceMean", net.op("Mul", x, x), axes=[-1], keepdims=1)
    variance = net.op("Relu", net.op("Sub", square, net.op("Mul", mean, mean)))
    return net.model(net.dense(net.op("Mul", net.op("Sub", x, mean), variance), 32, 10))


def spectrogram() -> onnx.ModelProto:
    """Filters of sines, powers, a logarithm, and a convolution that reads it."""
    net = Net((1, 1, 512))
    time = np.arange(64) / 64
    waves = [wave(2 * np.pi * k * time) * np.hanning(64) for wave in (np.cos, np.sin) for k in range(1, 17)]
    filters = net.constant(np.float32(waves)[:, None])
    both = net.op("Conv", "x", filters, strides=[32])
    power = net.op("Mul", both, both)
    halves = [net.op("Slice", power, *(net.constant(np.int64([v])) for v in (a, a + 16, 1))) for a in (0, 16)]
    log = net.op("Log", net.op("Add", net.op("Add", *halves), net.constant(np.float32([1e-4]))))
    kernel = np.random.default_rng(3).normal(size=(8, 16, 3)).astype(np.float32) / 7
    return net.model(net.op("Conv", log, net.constant(kernel)))


def samples(model: onnx.ModelProto, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Noise, for the spectrogram over four orders of magnitude."""
    random = np.random.default_rng(seed)
    shape = tuple(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)
    size = 10.0 ** random.uniform(-3, 1, SAMPLES) if shape[-1] == 512 else np.ones(SAMPLES)
    return [{"x": (size[i] * random.normal(size=shape)).astype(np.float32)} for i in range(SAMPLES)]


def sqnr(model: onnx.ModelProto, module: Any) -> float:
    """Of the first output on other samples than those that calibrated."""
    exe, exact = tvmq.build(module), tvmq.build(tvmq.from_onnx(model)[0], params=tvmq.from_onnx(model)[1])
    signal = noise = 0.0
    for feed in samples(model, seed=1):
        wanted, found = exact.run(feed)[0].astype(np.float64), exe.run(feed)[0]
        signal, noise = signal + float((wanted**2).sum()), noise + float(((wanted - found) ** 2).sum())
    return 10 * np.log10(signal / noise)


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


def test_an_output_of_places_is_not_judged():
    net = Net((1, 8))
    y = net.dense("x", 8, 6)
    model = net.model(y, net.op("ArgMax", y, axis=1))
    mod, _ = tvmq.from_onnx(model)
    assert judged_outputs(mod) == [0] and looked_up_outputs(mod) == []


def test_floats_that_an_argmax_looks_up_are_judged_but_for_a_quarter():
    net = Net((4, 8))
    y = net.dense("x", 8, 6)
    place = net.op("ArgMax", y, axis=1)
    best = net.op("GatherElements", y, place, axis=1)
    mod, _ = tvmq.from_onnx(net.model(best, place))
    assert judged_outputs(mod) == [] and looked_up_outputs(mod) == [0]
    wanted, got = drop_largest_errors(np.arange(8.0), np.array([9.0, 1, 2, 3, 4, 5, 6, -7]))
    assert np.array_equal(wanted, got) and wanted.tolist() == [1, 2, 3, 4, 5, 6]


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


@pytest.mark.parametrize(
    "options, words",
    [
        ({"sqnr": float("nan")}, "sqnr must be a finite number of dB"),
        ({"metric": len}, "metric= and max_drop= go together"),
        ({"max_drop": 0.5}, "metric= and max_drop= go together"),
        ({"metric": len, "max_drop": -1}, "max_drop must be a number of at least 0"),
        ({"metric": len, "max_drop": 1}, "needs data="),
    ],
)
def test_bounds_that_are_none_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        Guard(**options)


def test_texts_of_bounds():
    assert guard_of("sqnr >= 17.5 dB") == Guard(17.5) and guard_of(None) is None
    assert str(Guard(metric=len, max_drop=0.5, data=[])) == "drop <= 0.5"
    with pytest.raises(ConfigError, match="'psnr > 3' is no bound; write 'sqnr >= 20'"):
        guard_of("psnr > 3")


def test_figures():
    by_metric = Guard(metric=len, max_drop=0.01, data=[])
    assert Figure(5.0, (0.995, 1.0)).holds(by_metric) and not Figure(50.0, (0.98, 1.0)).holds(by_metric)
    assert Figure(5.0, (0.9, 1.0)).beats(Figure(50.0, (0.8, 1.0))) and Figure(9.0).beats(Figure(8.9))
    assert str(Figure(float("inf"))) == "equal to float"


def test_why_precision_is_not_raised():
    cpu = backend_named("cpu")
    assert why_not(tvmq.QConfig(), cpu) is None
    integral = tvmq.QConfig(partition_conversions="fully_integral")
    assert why_not(integral, cpu) == "partition_conversions 'fully_integral' asks for no floats"
    chip = tvmq.Backend("chip", floats=False, requantize=("fixed_point",))
    assert why_not(tvmq.QConfig(), chip) == "backend chip has no floats"


def _layer(key: str, op: str, inputs: list[str], macs: int = 0) -> dict[str, Any]:
    return {
        "op": op, "family": op, "precision": "int8", "macs": macs, "members": [key], "inputs": inputs, "layers": [key],
        "root": key,
    }  # fmt: skip


def test_regions_end_at_products_and_streams_and_kinds_join_them():
    names = ["multiply", "average", "conv2d", "multiply", "average", "add"]
    inputs = [["x"], ["l0"], ["l1"], ["l2"], ["l3"], ["l4", "l1"]]
    layers = {f"l{i}": _layer(f"l{i}", op, inputs[i], 9 * (op == "conv2d")) for i, op in enumerate(names)}
    assert regions(layers) == [["l0", "l1"], ["l3", "l4"], ["l5"]]
    found = kinds(layers, _view(layers))
    assert sorted(part.keys for part in found) == [("l0", "l1", "l3", "l4"), ("l5",)]
    assert found[0].seconds >= found[1].seconds > 0


def _view(layers: dict[str, Any], size: int = 64) -> Any:
    """As much of a View as forecasts read: every tensor has `size` numbers, every layer is read."""
    ty = SimpleNamespace(ty=relax.TensorType((size,), "float32"))
    names = [*layers, "x"]
    return SimpleNamespace(value={}, var=dict.fromkeys(names, ty), readers=dict.fromkeys(names, ["result"]))


def test_steps_raise_precision_until_all_is_float():
    layers = {name: _layer(name, "dense", ["x"], macs=10**6) for name in ("a", "b", "c")}
    layers["norm"] = _layer("norm", "multiply", ["a"])
    found = dict(_steps(["norm"], ["a", "b", "c"], ["b"], layers, _view(layers)))
    assert list(found) == [
        "only products in 8 bits", CODES_AT_RUN_TIME, "the first product in float too",
        "the first 2 products in float too", "all in float",
    ]  # fmt: skip
    assert found["all in float"] == Precision(frozenset(layers))
    assert found[CODES_AT_RUN_TIME] == Precision(frozenset(["norm"]), frozenset(["b"]))
    dear = dict(_steps(["norm"], ["a", "b", "c"], ["b"], layers, _view(layers, size=10**6)))
    assert list(dear).index(CODES_AT_RUN_TIME) > 1  # conversions of much cost more than a product in float
    assert list(dict(_steps([], ["a"], [], layers, _view(layers)))) == ["all in float"]


def test_one_trial_too_many_is_none_and_equal_ones_are_measured_once():
    class Rehearsal:
        def effective_precision(self, precision: Precision) -> Precision:
            return Precision(precision.floats - {"reshape"})

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            return Figure(float(len(precision.floats)))

    trials = Trials(Rehearsal(), most=1)  # type: ignore[arg-type]
    for names in (["a"], ["a", "reshape"]):
        trial = trials.attempt(Precision(frozenset(names)))
        assert trial is not None and trial.figure == Figure(1.0)
    assert trials.tried == 1 and trials.is_over
    assert trials.attempt(Precision(frozenset(["b"]))) is None


def test_the_last_of_the_first_products_go_back_by_halves():
    class Rehearsal:
        def effective_precision(self, precision: Precision) -> Precision:
            return precision

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            return Figure(40.0 if precision.floats.issuperset(("lv0", "lv1", "lv2", "lv3", "lv4")) else 12.0)

    layers = {f"lv{i}": {"precision": "int8", "macs": 10} for i in range(9)}
    trials = Trials(Rehearsal())  # type: ignore[arg-type]
    before, eight = (trials.attempt(Precision(frozenset(list(layers)[:count]))) for count in (0, 8))
    search = Search(layers, before, eight)
    _give_last_products_back(search, trials, Guard())
    assert sorted(search.best.precision.floats) == ["lv0", "lv1", "lv2", "lv3", "lv4"]
    assert [text for text, _ in search.steps] == [
        "the last 2 of these products back to 8 bits",
        "the last 1 of these products back to 8 bits",
    ]


@pytest.mark.parametrize(
    "needed, floats, steps, tried",
    [
        (99, "", ["only products in 8 bits", "the first 4 products in float too"], 3),  # and the norm back to 8 bits
        (1, "a", ["only products in 8 bits", "the first 4 products in float too",
                  "the last 2 of these products back to 8 bits", "the last 1 of these products back to 8 bits"], 5),
    ],
)  # fmt: skip
def test_first_products_in_float_beyond_the_bound(needed: int, floats: str, steps: list[str], tried: int):
    """As many as are little work at once; those that it does without go back."""

    class Rehearsal:
        dynamic = ()
        view = None

        def effective_precision(self, precision: Precision) -> Precision:
            return precision

        def figure(self, precision: Precision, least: float = -math.inf) -> Figure:
            if "norm" not in precision.floats:
                return Figure(5.0)
            return Figure(40.0 if precision.floats.issuperset("abcdefghijklmnopqrst"[:needed]) else 22.0)

    layers = {name: _layer(name, "dense", ["x"], macs=10) for name in "abcdefghijklmnopqrst"}
    layers["norm"] = _layer("norm", "multiply", ["a"])
    trials = Trials(Rehearsal())  # type: ignore[arg-type]
    trials.rehearsal.view = _view(layers)
    search = raise_precision(layers, Figure(3.0), trials, Guard())
    assert search.best.precision.floats == {"norm", *floats}
    assert [text for text, _ in search.steps][: len(steps)] == steps
    assert trials.tried == tried


def test_a_choice_that_is_below_stops_at_the_samples_that_show_it():
    net = Net((1, 4))
    mod, _ = tvmq.from_onnx(net.model(net.dense("x", 4, 4)))
    random = np.random.default_rng(0)
    signal = [random.normal(size=(1, 4)).astype(np.float32) for _ in range(8)]
    batches = [Batch({"x": np.full((1, 4), i, np.float32)}, 1, [y]) for i, y in enumerate(signal)]
    judge, runs = Judge(mod, mod, batches, lambda _: lambda _feed: [], Guard()), list[int]()

    def noisy(size: float, of: set[int] = frozenset(range(8))):  # type: ignore[assignment]
        def run(feed: Any) -> list[np.ndarray]:
            index = int(feed["x"][0, 0])
            runs.append(index)
            return [signal[index] * np.float32(1 + size * (index in of))]

        return run

    whole = judge.measure(noisy(0.1), roughly=True)
    assert whole == Figure(20.0) and judge.measure(noisy(0.1), roughly=True, least=20.0) == whole
    assert judge.measure(noisy(0.1), roughly=True, least=10.0) == whole and len(runs) == 3 * 8
    runs.clear()
    assert judge.measure(noisy(1.0), roughly=True, least=20.0).sqnr < 20 and len(runs) == 1
    for least in (10.0, 5.0):  # the sample that tells comes first where it was the worst before
        runs.clear()
        assert judge.measure(noisy(5.0, {6}), roughly=True, least=least).sqnr < least
    assert runs == [6]
    assert judge.measure(lambda _: [np.zeros(3)], roughly=True, least=10.0).sqnr == -math.inf
    assert judge.measure(lambda feed: [signal[int(feed["x"][0, 0])]], roughly=True, least=10.0).sqnr == math.inf


def levels() -> onnx.ModelProto:
    """A product of samples whose levels span four orders of magnitude, brought to one level; a second product."""
    net = Net((1, 16, 64))
    x = net.dense("x", 64, 32)
    power = net.op("ReduceMean", net.op("Mul", x, x), axes=[-1], keepdims=1)
    y = net.op("Div", x, net.op("Sqrt", net.op("Add", power, net.constant(np.float32([1e-9])))))
    return net.model(net.dense(net.op("Relu", y), 32, 256))


def leveled(seed: int = 0) -> list[dict[str, np.ndarray]]:
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-2, 2, SAMPLES)
    return [{"x": (size[i] * random.normal(size=(1, 16, 64))).astype(np.float32)} for i in range(SAMPLES)]


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


def test_samples_are_kept_from_all_over_the_data():
    kept, feeds = CalibrationCache(), [({"x": np.full((1, 2), i, np.float32)}, 1) for i in range(80)]
    assert len(list(kept._pass_batches(feeds))) == 80
    judging = [int(batch.feed["x"][0, 0]) for batch in kept.batches()]
    assert judging[:8] == [2, 7, 10, 15, 20, 23, 28, 31]
    assert {index % 2 for index in judging} == {0, 1} and {index % 3 for index in judging} == {0, 1, 2}
    few = CalibrationCache()
    list(few._pass_batches(feeds[:6]))
    assert len(few.batches()) == 6


SCRIPT = """
import json, sys
sys.path.insert(0, {tests!r})
import tvmq
from tests.quantization.guard.test_guard import samples, {name}
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
