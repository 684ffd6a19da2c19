"""Agreement of two models over batches, and metrics."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tvmq.errors import ConfigError
from tvmq.quantization.meaning.value_readings import ClassReading
from tvmq.tools.cli.bound import parse_kinds, report_trials
from tvmq.tools.cli.judge import Agreement, judge
from tvmq.tools.cli.metrics import usual_metric
from tvmq.tools.cli.samples import Samples, split
from tvmq.tools.cli.summary import _agreement, _is_far_from_float

COUNT, CLASSES = 7, 5


def executable(shift: float):
    """Scores of classes: that of x is the greatest, or the one behind it where x is odd and `shift` is not zero."""

    def run(feed):
        x = feed["x"][:, 0].astype(int)
        return [np.eye(CLASSES)[(x + (shift != 0) * (x % 2)) % CLASSES] + shift]

    return SimpleNamespace(run=run, output_info=[SimpleNamespace(name="y", shape=(2, CLASSES), dtype="float32")])


@pytest.fixture
def samples():
    return Samples({"x": np.arange(COUNT, dtype=np.float32).reshape(-1, 1) % CLASSES}, "arrays")


def judged(samples, shift, index=None, **options):
    given = {"metric": None, "labels": None, "advance": lambda: None, "classes": {0: "scores"}, **options}
    return judge(executable(shift), executable(0.0), samples, np.arange(COUNT) if index is None else index, 2, **given)


def test_equal_models(samples):
    found = judged(samples, 0.0)
    assert found == {"samples": 7, "outputs": {"y": {"sqnr_db": None, "equal": True, "same_class": 1.0}}}


def test_the_filling_of_the_last_batch_does_not_count(samples):
    """Classes 0, 1, 2, 3, 4, 0, 1: three are odd; the eighth place of four batches of two is filling."""
    labels = (np.arange(COUNT) % CLASSES).astype(np.int64)
    found = judged(samples, 0.5, metric="top1", labels=labels)
    assert found["outputs"]["y"]["same_class"] == pytest.approx(4 / 7)
    assert (found["float"], found["int8"]) == (1.0, pytest.approx(4 / 7))
    one, other = np.eye(CLASSES)[labels], np.eye(CLASSES)[(labels + labels % 2) % CLASSES] + 0.5
    assert found["outputs"]["y"]["sqnr_db"] == pytest.approx(10 * np.log10(COUNT / ((one - other) ** 2).sum()))


def test_values_that_are_no_classes(samples):
    found = judged(samples, 0.5, classes={})["outputs"]["y"]
    one, other = np.eye(CLASSES)[[0, 1]], np.eye(CLASSES)[[0, 2]] + 0.5
    even, odd = (float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(one, other, strict=True))
    assert "same_class" not in found and found["cosine"] == pytest.approx((4 * even + 3 * odd) / 7)


def test_indices_of_classes_are_compared_as_they_are():
    sums = Agreement("index")
    sums.add(np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]))
    assert sums.to_dict()["same_class"] == 0.75


@pytest.mark.parametrize("labels, classes, shape, reason", [
    ([0, 4], (), (1, 5), ""), (None, (), (1, 5), "no labels"), ([0, 5], (), (1, 5), "labels range from 0 to 5"),
    ([0, 1], ("a", "b"), (1, 5), "2 folders, but the model has 5 classes"), ([0, 4], ("0", "4"), (1, 5), ""),
    ([0.5, 1.0], (), (1, 5), "not class numbers"), ([0, 1], (), (1, 2, 8, 8), "not one score per class"),
])  # fmt: skip
def test_when_top1_is_told(labels, classes, shape, reason):
    found = usual_metric(None if labels is None else np.array(labels), classes, shape)
    assert reason in found and bool(reason) == bool(found)


@pytest.mark.parametrize("count, calibrate, held_out, expected", [
    (10, None, None, (10, 10, False)), (49, None, None, (49, 49, False)), (50, None, None, (40, 10, True)),
    (300, None, None, (240, 60, True)), (2000, None, None, (256, 500, True)), (100, 30, None, (30, 70, True)),
    (100, None, 0, (100, 100, False)), (100, 90, 20, (80, 20, True)), (10, 4, 3, (4, 3, True)),
])  # fmt: skip
def test_which_samples_are_kept_apart(count, calibrate, held_out, expected):
    found = split(count, calibrate, held_out)
    assert (len(found.calibration), len(found.comparison), found.apart) == expected
    both = np.intersect1d(found.calibration, found.comparison)
    assert bool(len(both)) != found.apart
    assert found.calibration.max() < count and found.comparison.max() < count


def test_outputs_are_judged_as_they_are_read(samples):
    """Scores read as classes: those of another class count by how far they are apart."""
    found = judged(samples, 0.5, classes={}, readings=[ClassReading((0,))])
    (read,) = found["read"]
    assert read["outputs"] == ["y"] and read["text"] == "classes"
    assert read["decibels"]["classes"] == pytest.approx(10 * np.log10(7 / 3))
    assert read["summary"] == "classes 3.7 dB (classes)"
    assert "read" not in judged(samples, 0.5, readings=[])


def test_summary_and_next_steps_go_by_what_is_read():
    output = {"sqnr_db": 4.0, "equal": False}
    read = {"outputs": ["y"], "summary": "box F1 1.0000, boxes 30.0 dB", "decibels": {"boxes": 30.0, "scores": None}}
    comparison = {"samples": 8, "data": "held out", "outputs": {"y": output}, "read": [read]}
    assert _agreement(comparison) == [
        "'y': box F1 1.0000, boxes 30.0 dB", "signal to error 4.0 dB of 8 held-out samples",
    ]  # fmt: skip
    assert not _is_far_from_float(comparison)
    assert _is_far_from_float({**comparison, "read": [{**read, "decibels": {"boxes": 9.0}}]})
    assert _is_far_from_float({**comparison, "read": []})


def test_kinds_of_outputs_on_the_command_line():
    assert parse_kinds(["a=b=detections", "y=mask"]) == {"a=b": "detections", "y": "mask"}
    with pytest.raises(ConfigError, match="--outputs: 'boxes' names no kind; write --outputs NAME=KIND"):
        parse_kinds(["boxes"])


def test_progress_of_the_guard_says_how_many_modules_there_are_at_most(capsys):
    report_trials(quiet=False)(2, 8)
    report_trials(quiet=True)(3, 8)
    assert capsys.readouterr().err == "guard: 8 bits are not enough, or just so; tried 2 of at most 8 more precise variants\n"
