"""The doctor on models: it names the cause of each fault in a network, and finds none in a healthy one."""

from __future__ import annotations

import time

import numpy as np
import pytest
from onnx import helper, numpy_helper

import tests.support.models.doctor_faults as faults
import tvmq
from tvmq.tools.doctor import float_model
from tvmq.tools.doctor.check_context import CheckContext, accuracy
from tvmq.tools.doctor.findings import Finding
from tvmq.tools.doctor.float_model import check_import, check_labels, check_layers
from tvmq.tools.doctor.loss import check_loss
from tvmq.tools.doctor.model_checks import note_if_late, stages_to_run
from tvmq.tools.doctor.preprocessing import Evidence, check_preprocessing, judge_by_outputs
from tvmq.tools.doctor.preprocessing_candidates import FROM_UNIT
from tvmq.tools.doctor.samples import check_samples, match_layouts
from tvmq.tools.doctor.weights import check_weights


def examined(context: CheckContext) -> dict[str, Finding]:
    """Findings of all stages by subject, the gravest of each."""
    order = {"ok": 0, "note": 1, "problem": 2}
    found: dict[str, Finding] = {}
    for _, stage in stages_to_run(context):
        for finding in stage(context):
            if finding.subject not in found or order[finding.status] >= order[found[finding.subject].status]:
                found[finding.subject] = finding
    return found


@pytest.mark.slow
def test_a_healthy_model_is_called_healthy():
    found = examined(faults.context())
    assert {finding.status for finding in found.values()} == {"ok"}, found
    assert found["float model"].figures["sqnr"] > 90 and found["int8"].figures["sqnr"] > 25
    assert found["blame"].figures["culprit"] is None and "mending" not in found
    assert found["preprocessing"].figures["distance"] < 0.1


@pytest.mark.slow_cases("swapped channels")
@pytest.mark.parametrize("prepare, code", [
    (lambda x: x * 255, "x / 255"), (lambda x: x[:, ::-1], "x[:, ::-1]"), (lambda x: 2 * x - 1, "(x + 1) / 2"),
], ids=["0..255 for 0..1", "swapped channels", "-1..1 for 0..1"])  # fmt: skip
def test_wrong_preprocessing_by_batch_norms(prepare, code):
    (found,) = check_preprocessing(faults.context(prepare=prepare))
    assert (found.status, found.figures["code"]) == ("problem", code), found
    assert "batch norms" in found.what and code in found.remedy


@pytest.mark.parametrize(("shape", "is_said"), [((32, 3, 16, 16), True), ((32, 1, 512), False), ((32, 20), False)])
def test_outputs_alone_judge_pictures_alone(shape, is_said):
    """A louder sound has surer outputs, and is none that was prepared better."""
    own, louder = (Evidence(None, None, nats, 0.1, np.arange(32) % classes) for nats, classes in ((0.1, 1), (2.0, 10)))
    finding = judge_by_outputs(shape, own, [(FROM_UNIT[0], louder)])
    assert (finding is not None) == is_said


def test_wrong_preprocessing_by_labels(monkeypatch):
    """Without batch norms the labels decide: the float model predicts those of the right samples."""
    monkeypatch.setattr("tvmq.tools.doctor.preprocessing.TrainingStatistics", lambda context: type("None", (), {"norms": []}))
    right = faults.context()
    labels = right.outputs(right.float_run, right.arrays)[0].argmax(axis=1)
    (found,) = check_preprocessing(faults.context(prepare=lambda x: x[:, ::-1], labels=labels))
    assert (found.status, found.figures["code"]) == ("problem", "x[:, ::-1]") and "accuracy with the samples as given" in found.what
    (found,) = check_preprocessing(faults.context(labels=labels))
    assert found.status == "ok" and found.figures["score"] == 1.0
    (found,) = check_preprocessing(faults.context(labels=np.full(32, 77)))  # labels of something else
    assert found.status == "ok" and "labels" not in found.what


@pytest.mark.slow
def test_labels_in_another_order():
    right = faults.context()
    classes = right.outputs(right.float_run, right.arrays)[0].argmax(axis=1)
    two = np.argsort(np.bincount(classes))[-2:]  # those that most samples have
    swapped = np.select([classes == two[0], classes == two[1]], [two[1], two[0]], classes)
    (found,) = check_labels(faults.context(labels=swapped))
    assert found.status == "problem" and found.figures["numbers"] == {str(a): int(b) for a, b in (two, two[::-1])}
    assert "labels number 2 classes otherwise than the model" in found.what and "number labels as" in found.remedy
    assert list(check_labels(faults.context(labels=classes))) == [] == list(check_labels(faults.context()))


def test_samples_of_another_scale_that_nobody_uses():
    (found,) = check_preprocessing(faults.context(prepare=lambda x: x * 3000 - 1000))
    assert found.status == "problem" and "norm" in found.what


def test_channels_last_are_turned():
    x = faults.pictures()
    turned, (found,) = match_layouts({"x": np.moveaxis(x, 1, -1)}, {"x": (None, 3, faults.SIZE, faults.SIZE)})
    assert np.array_equal(turned["x"], x)
    assert found.status == "problem" and found.remedy.startswith("x = numpy.moveaxis(x, -1, 1)")
    assert match_layouts({"x": x}, {"x": (None, 3, faults.SIZE, faults.SIZE)}) == ({"x": x}, [])
    assert match_layouts({"x": x}, {"x": None})[1] == []


@pytest.mark.slow
def test_an_outlying_weight():
    context = faults.context(faults.outlying_weight)
    (noted,) = check_weights(context)
    assert noted.status == "note" and noted.figures["layers"][0] == "middle"
    found = {finding.subject: finding for finding in check_loss(context)}
    assert found["int8"].status == "problem" and found["int8"].figures["sqnr"] < 10
    assert found["blame"].figures["culprit"] == "weights" and "the weights are to blame" in found["blame"].what
    assert found["worst layers"].figures["layers"][0] == "middle"
    assert "times the median of its channel" in found["worst layers"].what
    remedy = found["mending"]
    assert remedy.figures["option"] == "--rule 'middle=float'" and remedy.figures["after"]["sqnr"] > 25
    assert "tvmq.qconfig(rules=[tvmq.Rule('middle', None)])" in remedy.remedy


@pytest.mark.slow
def test_an_outlying_activation():
    context = faults.context(faults.outlying_activation)
    notes = [finding for finding in check_layers(context) if finding.subject == "activations"]
    assert notes and "channel 2" in notes[0].what
    found = {finding.subject: finding for finding in check_loss(context)}
    assert found["int8"].status == "problem"
    assert found["blame"].figures["culprit"] == "activations"
    assert found["mending"].figures["after"]["sqnr"] > found["mending"].figures["before"]["sqnr"] + 10
    assert "middle" in found["mending"].figures["option"]


def test_with_a_nan_no_model_is_run():
    context = faults.context(faults.nan_weight)
    found = examined(context)
    assert list(found) == ["weights", "samples"] and found["weights"].status == "problem"
    assert found["weights"].figures == {"layer": "middle", "weight": "middle.w", "count": 1, "first": [3, 1, 0, 2]}


def test_each_weight_that_is_wrong_is_one_finding():
    """Others are still looked at: an infinity elsewhere, outliers, the samples."""

    def several(arrays: faults.Weights) -> None:
        faults.nan_weight(arrays)
        faults.outlying_weight(arrays)
        arrays["head.w"][2, 3] = -np.inf
        arrays["middle.w"][3, 1, 0, 2] = 0.1
        arrays["stem.w"][0, 0, 0, 0] = np.nan

    context = faults.context(several)
    found = [finding for _, stage in stages_to_run(context) for finding in stage(context)]
    assert [(finding.status, finding.subject) for finding in found] == [
        ("problem", "weights"), ("problem", "weights"), ("note", "weights"), ("ok", "samples"),
    ]  # fmt: skip
    assert [finding.figures.get("weight") for finding in found[:2]] == ["stem.w", "head.w"]
    assert "these reach other operators" in found[1].remedy and "these reach" not in found[0].remedy


@pytest.mark.slow
def test_infinities_that_an_operator_defines_are_healthy():
    """The lower bound that JAX and TensorFlow write as maximum(x, -inf), as an initializer, a Constant and of Clip."""
    proto = faults.network()
    low = numpy_helper.from_array(np.float32(-np.inf), "low")
    proto.graph.initializer.append(numpy_helper.from_array(np.full((1, 8, 1, 1), -np.inf, np.float32), "bounds"))
    at = next(index for index, node in enumerate(proto.graph.node) if node.name == "act")
    proto.graph.node[at].output[0] = "r"
    for node in (
        helper.make_node("Clip", ["m2", "low", ""], ["c"], "clip"), helper.make_node("Max", ["m", "bounds"], ["m2"], "max2"),
        helper.make_node("Max", ["r", "low"], ["m"], "max"), helper.make_node("Constant", [], ["low"], "lowest", value=low),
    ):  # fmt: skip
        proto.graph.node.insert(at + 1, node)
    mod, params = tvmq.from_onnx(proto, shape={"x": (1, 3, faults.SIZE, faults.SIZE)})
    context = CheckContext(proto, mod, params, {"x": faults.pictures()})
    found = [finding for _, stage in stages_to_run(context) for finding in stage(context)]
    assert {finding.status for finding in found} == {"ok"}, found
    assert "all finite but 9 infinities that bound or mask" in found[0].what


@pytest.mark.slow
def test_a_dead_layer():
    found = [finding for finding in check_layers(faults.context(faults.dead_layer)) if finding.subject == "layers"]
    assert found[0].status == "problem" and "'act' 7 of 8" in found[0].what


def test_gates_are_no_outliers():
    found = float_model.ChannelRanges(type("Layer", (), {"operator": "sigmoid", "names": ("gate",)})())
    found.add(np.array([[1e-9, 1e-9, 1e-9, 1e-9, 1.0]]), -1)
    assert list(float_model._check_spikes([found])) == [] and found.spike()[1] > 1e8
    found.layer.operator = "matmul"
    assert "'gate' channel 4" in next(iter(float_model._check_spikes([found]))).what


def test_an_overflow_is_named_where_it_begins():
    def overflow(arrays: faults.Weights) -> None:
        arrays["middle.w"][:] = 3e38

    context = faults.context(overflow)
    (found,) = check_layers(context)
    assert found.status == "problem" and found.figures["layer"] == "middle" and context.is_fatal


@pytest.mark.slow
def test_outputs_that_never_change():
    def constant(arrays: faults.Weights) -> None:
        arrays["head.w"][:] = 0

    found = [finding for finding in check_layers(faults.context(constant)) if finding.subject == "outputs"]
    assert found[0].status == "problem" and "output [0]" in found[0].what


def test_an_import_that_is_wrong():
    context = faults.context()
    good = context.float_run
    for factor, status in ((1.0, "ok"), (1.005, "note"), (2.0, "problem")):
        context.float_run = lambda feed, factor=factor: [y * np.float32(factor) for y in good(feed)]
        assert next(check_import(context)).status == status


def test_without_onnxruntime(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    found = next(check_import(faults.context()))
    assert found.status == "ok" and found.figures["peer"] == "onnx's evaluator"
    monkeypatch.setattr(float_model, "SMALL", 0)
    assert next(check_import(faults.context())).status == "note"


@pytest.mark.parametrize("spoil, words", [
    (lambda x: np.repeat(x[:1], len(x), axis=0), "all 32 samples are the same"),
    (lambda x: x * np.where(np.arange(32) == 5, 500, 1)[:, None, None, None], "sample 5 reaches"),
    (lambda x: np.where(np.arange(32)[:, None, None, None] == 3, np.nan, x), "the first in sample 3"),
    (lambda x: np.broadcast_to(x[:, :1, :1, :1], x.shape), "one number repeated"),
])  # fmt: skip
def test_broken_samples(spoil, words):
    found = [finding for finding in check_samples(faults.context(prepare=spoil)) if finding.status == "problem"]
    assert words in found[0].what and found[0].remedy


@pytest.mark.slow
def test_few_samples_and_little_time():
    context = faults.context()
    context.arrays["x"] = context.arrays["x"][:4]
    assert next(check_samples(context)).status == "note"
    assert list(note_if_late(context)) == []
    context.deadline = time.monotonic() - 1
    assert [finding.subject for finding in check_loss(context)] == ["int8"]
    assert next(note_if_late(context)).status == "note"


def test_accuracy_asks_for_labels_that_fit():
    scores = [np.eye(3, dtype=np.float32)]
    assert accuracy(scores, np.array([0, 1, 1])).tolist() == [1, 1, 0]
    assert accuracy(scores, np.array([0, 1])) is None and accuracy(scores, np.array([0.0, 1.0, 2.0])) is None
