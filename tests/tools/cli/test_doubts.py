"""Faults that make figures worthless are said before the work, with the doctor's command and an exit code."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.linear_digits import linear_digits
from tests.support.models.onnx_models import make_model
from tvmq.tools.doctor.label_order import find_other_numbers

FAST = ("--calibrate-mode", "minmax", "--no-bench", "-q")
COUNT = 60
MEAN, STD = (np.float32(v).reshape(3, 1, 1) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))


def normalizing(example):
    """The ONNX file of the classifier for colour pictures that are normalized with ImageNet's mean and deviation."""
    weight = onnx.numpy_helper.to_array(onnx.load_from_string(linear_digits(example)).graph.initializer[0])
    nodes = [
        helper.make_node("Mul", ["x", "std"], ["scaled"]), helper.make_node("Add", ["scaled", "mean"], ["pixels"]),
        helper.make_node("Clip", ["pixels", "zero", "one"], ["clipped"]),
        helper.make_node("Flatten", ["clipped"], ["flat"], name="flatten"),
        helper.make_node("MatMul", ["flat", "w"], ["scores"], name="head"),
    ]  # fmt: skip
    ends = {"zero": np.float32(0), "one": np.float32(1)}
    constants = {"w": np.concatenate([weight / 3] * 3), "std": STD[None], "mean": MEAN[None], **ends}
    return make_model(nodes, {"x": ["n", 3, 16, 16]}, ["scores"], constants, 17).SerializeToString()


def quantize(cli, here, name="digits.onnx", **arrays):
    np.savez("samples.npz", **arrays)
    return cli("quantize", name, "--data", "samples.npz", *FAST, "-o", "m.tvmq", "--json")


def test_right_samples_raise_no_doubt(cli, here, example):
    result = quantize(cli, here, image=example.test[:COUNT], labels=example.labels[:COUNT])
    assert result.code == 0 and json.loads(result.out)["doubts"] == [] and "WARNING" not in result.err


def test_another_order_of_labels(cli, here, example):
    result = quantize(cli, here, image=example.test[:COUNT], labels=(example.labels[:COUNT] + 3) % 10)
    assert result.code == 4 and "near chance" in result.err
    assert "To find out: tvmq doctor digits.onnx --data samples.npz" in result.err
    facts = json.loads(result.out)
    assert len(facts["doubts"]) == 1 and facts["next"][0] == "tvmq doctor digits.onnx --data samples.npz"
    assert (here / "m.tvmq").exists()


def test_some_classes_with_other_numbers(cli, here, example):
    numbers = np.array([0, 1, 2, 3, 7, 5, 6, 4, 9, 8])
    result = quantize(cli, here, image=example.test[:300], labels=numbers[example.labels[:300]])
    assert result.code == 4 and "near chance" not in result.err
    # held out are two samples that the model calls 8: too few to tell
    assert "labels number 3 classes otherwise than the model: what it finds as 4 is labelled 7, 7 is" in result.err
    assert "so accuracy says nothing; to find out: tvmq doctor digits.onnx --data samples.npz" in result.err


def test_a_model_that_takes_one_class_for_another_has_its_own_numbers():
    scores = np.eye(3)[[0] * 5 + [1] * 5 + [2] * 5]
    labels = np.array([0] * 5 + [2] * 5 + [2] * 5)
    assert find_other_numbers(scores, labels) == {}


@pytest.mark.parametrize(("prepare", "code"), [
    (lambda x: x, "(x - MEAN) / STD, with MEAN = np.reshape([0.485, 0.456, 0.406], (3, 1, 1)) and STD = "),
    (lambda x: np.rint(255 * x).astype(np.uint8), "(x / 255 - MEAN) / STD, with MEAN"),
])  # fmt: skip
def test_normalization_that_is_missing(cli, here, example, prepare, code):
    (here / "colour.onnx").write_bytes(normalizing(example))
    pictures, labels = np.repeat(example.test[:COUNT], 3, axis=1), example.labels[:COUNT]
    result = quantize(cli, here, "colour.onnx", x=prepare(pictures), labels=labels)
    assert result.code == 4 and "accuracy with the samples as given" in result.err, result.err
    assert f"prepare samples as: {code}" in result.err
    assert quantize(cli, here, "colour.onnx", x=(pictures - MEAN) / STD, labels=labels).code == 0


def test_without_labels_outputs_make_a_note_and_no_doubt(cli, here, example):
    (here / "colour.onnx").write_bytes(normalizing(example))
    np.save("x.npy", np.repeat(example.test[:COUNT], 3, axis=1))
    result = cli("quantize", "colour.onnx", "--data", "x.npy", *FAST[:-1], "-o", "m.tvmq", "--json")
    assert result.code == 0 and json.loads(result.out)["doubts"] == []
    assert "note: the outputs carry" in result.err and "if labels are there, they would tell (--labels)" in result.err
    quiet = cli("quantize", "colour.onnx", "--data", "x.npy", *FAST, "-o", "m.tvmq")
    assert quiet.code == 0 and quiet.err == ""


@pytest.mark.parametrize(("samples", "words"), [
    (lambda x: np.repeat(x[:1], COUNT, axis=0), f"all {COUNT} samples are the same"),
    (lambda x: np.tile(x[:6], (COUNT // 6, 1, 1, 1)), f"6 of {COUNT} samples differ, the others repeat them"),
    (lambda x: np.broadcast_to(x[:, :, :1, :1] + np.arange(COUNT).reshape(-1, 1, 1, 1), x.shape), "one number repeated"),
])  # fmt: skip
def test_samples_that_hardly_differ(cli, here, example, samples, words):
    np.save("samples.npy", np.float32(samples(example.test[:COUNT])))
    result = cli("quantize", "digits.onnx", "--data", "samples.npy", *FAST, "--no-compare", "-o", "m.tvmq")
    assert result.code == 4 and "WARNING: samples: " in result.err and words in result.err
    assert "DOUBT" in result.out


def test_a_detector_that_finds_none_of_the_labelled_boxes(cli, here):
    random = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["maps"], name="head", pads=[1, 1, 1, 1]),
        helper.make_node("Reshape", ["maps", "shape"], ["y"], name="rows"),
    ]
    constants = {"w": random.normal(size=(6, 3, 3, 3)).astype("float32"), "shape": np.array([1, 6, 64])}
    model = make_model(nodes, {"x": [1, 3, 8, 8]}, ["y"], constants, 17)
    (here / "boxes.onnx").write_bytes(model.SerializeToString())
    labels = np.tile(np.float32([1, 2, 2, 7, 7]), (16, 1, 1))
    np.savez("samples.npz", x=random.normal(size=(16, 3, 8, 8)).astype("float32"), labels=labels)
    options = ("--data", "samples.npz", "--metric", "map50", "--max-drop", "1", *FAST, "-o", "m.tvmq")
    result = cli("quantize", "boxes.onnx", *options)
    assert result.code == 4 and "WARNING: the float model has map50 0.0" in result.err, result.err
    assert "are labels rows of class, x1, y1, x2, y2 in pixels of the input" in result.err


def test_labels_of_one_class(cli, here, example):
    result = quantize(cli, here, image=example.test[:COUNT], labels=np.full(COUNT, 3))
    assert result.code == 4 and f"labels: all {COUNT} samples have the class 3" in result.err


def test_python_says_it_in_the_summary(here, example, capfd):
    data = {"image": example.test[:COUNT], "labels": (example.labels[:COUNT] + 3) % 10}
    result = tvmq.quantize_model("digits.onnx", data, config=tvmq.qconfig(calibrate_mode="minmax"), bench=False)
    assert "DOUBT" in str(result) and "near chance" in result.facts["doubts"][0]
    assert "near chance" in capfd.readouterr().err


@pytest.mark.parametrize(("array", "message"), [
    (np.zeros((1, 16, 16), np.float32), "takes ?x1x16x16, and the array is one sample of shape (1, 16, 16) without an axis of samples"),
    (np.zeros((60, 1, 20, 20), np.float32), "takes ?x1x16x16 (? is any), the array is 60x1x20x20; resize the samples as in"),
    (np.zeros((60, 16, 16, 1), np.float32), "its channels are on another axis; save np.transpose(array, (0, 3, 1, 2))"),
])  # fmt: skip
def test_shapes_that_do_not_fit_are_refused_before_the_import(cli, here, array, message, monkeypatch):
    np.save("x.npy", array)
    monkeypatch.setattr("tvmq.tools.cli.opening.import_source", lambda *_, **__: pytest.fail("it was imported"))
    result = cli("quantize", "digits.onnx", "--data", "x.npy", *FAST, "-o", "m.tvmq")
    assert result.code == 1 and message in result.err, result.err
