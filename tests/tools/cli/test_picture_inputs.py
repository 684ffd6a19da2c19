"""A saved model keeps how its pictures were prepared: run, verify, bench and compare take pictures."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits, write_pictures
from tvmq.demo import load_demo
from tvmq.errors import DataError
from tvmq.runtime.highest_classes import highest_classes

pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
WORDS = "zero one two three four five six seven eight nine".split()
SORTED = [f"{label}_{word}" for label, word in enumerate(WORDS)]
FAST = ("--calibrate-mode", "minmax", "--no-bench", "-q")
COUNT = 100


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    example = load_demo()
    (folder / "digits.onnx").write_bytes(linear_digits(example))
    write_pictures(example, folder / "pictures", SORTED, COUNT)
    write_pictures(example, folder / "words", WORDS, COUNT)  # in another order than the classes
    return folder


@pytest.fixture
def here(place, monkeypatch, cli):
    """The folder, with a model that was quantized from pictures."""
    monkeypatch.chdir(place)
    if not (place / "m.tvmq").exists():
        result = cli("quantize", "digits.onnx", "--data", "pictures", *FAST, "-o", "m.tvmq")
        assert result.code == 0, result.err
    return place


def picture_of(here, name):
    return next(iter(sorted((here / "pictures" / name).iterdir())))


def test_a_picture_gets_the_names_of_its_classes(cli, here):
    path = picture_of(here, "7_seven")
    result = cli("run", "m.tvmq", "--data", path)
    assert result.code == 0, result.err
    assert "data: 1 of 1 pictures; pictures of 16x16 (stretch), pixel / 255, NCHW" in result.err
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0] == [path.name] and lines[1][1] == "7_seven" and len(lines[1:6]) == 5
    top = json.loads(cli("run", "m.tvmq", "--data", path, "--json", "-q").out)["top"]
    assert top[path.name][0]["class"] == "7_seven" and top[path.name][0]["score"] > top[path.name][1]["score"]


def test_a_folder_of_pictures(cli, here):
    result = cli("run", "m.tvmq", "--data", "pictures", "-o", "scores.npz")
    assert result.code == 0 and f"and {COUNT - 8} pictures more; --json has all" in result.out
    assert np.load("scores.npz")["scores"].shape == (COUNT, 10)
    assert cli("verify", "m.tvmq", "--data", "pictures", "--samples", 3).out.startswith("exact: yes (30 values of 3 ")
    assert cli("bench", "m.tvmq", "--data", "pictures", "--repeat", 3).code == 0
    assert "1 of 1 pictures" in cli("compare", "digits.onnx", "m.tvmq", "--data", picture_of(here, "1_one")).err


def test_python_has_the_same_preprocessing(here):
    exe, path = tvmq.load("m.tvmq"), picture_of(here, "3_three")
    from PIL import Image

    assert exe.labels == tuple(SORTED)
    x = exe.preprocessing(path)
    assert x.shape == (1, 1, 16, 16) and x.dtype == np.float32 and x.max() <= 1
    np.testing.assert_array_equal(exe.preprocessing(np.asarray(Image.open(path))), x)
    np.testing.assert_array_equal(exe.preprocessing(np.asarray(Image.open(path).convert("RGB"))), x)
    assert exe.preprocessing(np.zeros((40, 30, 3), np.uint8)).shape == (1, 1, 16, 16)
    assert SORTED[int(exe(x).argmax())] == "3_three"
    exe.save("again.tvmq")
    assert tvmq.load("again.tvmq").preprocessing == exe.preprocessing


def test_folders_in_another_order_name_no_classes(cli, here):
    result = cli("quantize", "digits.onnx", "--data", "words", "--normalize", "unit", *FAST, "-o", "w.tvmq")
    assert result.code == 4 and "labels number 3 classes otherwise than the model" in result.err
    assert "so accuracy says nothing (class folders, sorted by name, must be in the order of its classes)" in result.err
    assert tvmq.load("w.tvmq").labels == () and tvmq.load("w.tvmq").preprocessing is not None
    assert "class " in cli("run", "w.tvmq", "--data", picture_of(here, "1_one"), "-q").out


def test_two_folders_in_another_order_name_no_classes(cli, here, example):
    names = ["a", "b", "c", "d", "f_four", "g", "e_six", "h", "i", "j"]  # sorted, four and six change places
    write_pictures(example, here / "swapped", names, 3 * COUNT)
    result = cli("quantize", "digits.onnx", "--data", "swapped", "--normalize", "unit", *FAST, "-o", "s.tvmq")
    assert result.code == 4 and "near chance" not in result.err, result.err
    assert tvmq.load("s.tvmq").labels == ()


def test_what_is_refused(cli, here):
    shutil.copy("digits.onnx", "plain.onnx")
    assert cli("quantize", "plain.onnx", "--random-data", *FAST, "--no-compare").code == 0
    assert tvmq.load("plain.tvmq").preprocessing is None and tvmq.load("plain.tvmq").labels == ()
    keeps = "and the model keeps no preprocessing of pictures; quantize it with --data FOLDER, or give an .npz"
    refusals = {
        ("plain.tvmq", "pictures"): f"'pictures' holds pictures, {keeps}",
        ("plain.tvmq", picture_of(here, "1_one")): f"is a picture, {keeps}",
        ("m.tvmq", "none.png"): "data: there is no file 'none.png'; check the path",
    }
    for (model, data), message in refusals.items():
        result = cli("run", model, "--data", data)
        assert result.code == 1 and message in result.err, result.err


@pytest.mark.parametrize(("picture", "message"), [
    (np.zeros((4, 4), np.float32), r"must be uint8 of shape .* Got float32 of shape \(4, 4\) instead"),
    (np.zeros((4, 4, 2), np.uint8), r"Got uint8 of shape \(4, 4, 2\) instead"),
    (np.zeros((0, 4, 3), np.uint8), r"the picture of shape \(0, 4, 3\) has no pixels"),
    ("digits.onnx", "preprocessing: 'digits.onnx' cannot be read as a picture"),
])  # fmt: skip
def test_what_is_no_picture(here, picture, message):
    with pytest.raises(DataError, match=message):
        tvmq.load("m.tvmq").preprocessing(picture)


def test_scores_that_are_no_classes():
    assert highest_classes(np.zeros((2, 3, 4), np.float32), ()) == []
    assert highest_classes(np.zeros((2, 3), np.int64), ()) == []
    assert highest_classes(np.zeros((2, 1), np.float32), ()) == []
    assert highest_classes(np.zeros((2, 3), np.float32), ("a", "b")) == []
    assert highest_classes(np.zeros((1, 2, 1, 1), np.float32), ("a", "b")) == [[("a", 0.0), ("b", 0.0)]]
