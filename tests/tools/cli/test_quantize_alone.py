"""`tvmq quantize model.onnx`: every kind of data, its output and measurements, refusals."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits, write_pictures
from tests.support.models.onnx_models import make_model
from tvmq.demo import load_demo
from tvmq.tools.cli.quantize import backend_for
from tvmq.tools.cli.summary import next_steps, summary_lines

Image = pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
FAST = ("--calibrate-mode", "minmax", "--no-bench")
COUNT = 80  # the first of all classes


@pytest.fixture(scope="module")
def example():
    """Digits of 0..1, of all classes."""
    found = load_demo()
    return SimpleNamespace(model=found.model, test=found.test, labels=found.labels)


@pytest.fixture(scope="module")
def place(tmp_path_factory, example):
    """A folder of a user with a space and letters of elsewhere in its name: a model, pictures by class."""
    folder = tmp_path_factory.mktemp("my models ä")
    (folder / "my digits.onnx").write_bytes(linear_digits(example))
    write_pictures(example, folder / "pictures", [str(label) for label in range(10)], COUNT)
    (folder / "pictures" / "3" / "broken.png").write_bytes(b"no picture")
    return folder


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


@pytest.mark.slow
def test_pictures_by_class(cli, here):
    """Output named after the model, normalization found from the outputs, accuracy from the folders."""
    result = cli("quantize", "my digits.onnx", "--data", "pictures", "--calibrate-mode", "minmax")
    assert result.code == 0, result.err
    assert (here / "my digits.tvmq").exists() and "output: my digits.tvmq" in result.err
    assert "80 of 81 pictures of 10 classes (subfolders); NCHW, 1 channels, 16x16 (not resized)" in result.err
    assert "1 pictures could not be read" in result.err and "broken.png" in result.err
    assert "samples: 64 calibrate, 16 others are held out" in result.err
    assert "inputs: pixel / 255" in result.err and "--normalize" in result.err
    assert "same class on" in result.out and "16 held-out samples" in result.out
    assert "top1: float 100.00%, int8 100.00%" in result.out
    assert any(word in result.out for word in ("x faster", "x SLOWER", "not measurable now"))
    assert "of multiply-accumulates" in result.out and "1 thread of" in result.out
    assert "tvmq explain 'my digits.tvmq'" in result.err


@pytest.mark.slow
def test_json_has_the_same_facts(cli, here):
    result = cli("quantize", "my digits.onnx", "--data", "pictures", *FAST, "--json", "-q", "-o", "j.tvmq")
    assert (result.code, result.err) == (0, "")
    printed = json.loads(result.out)
    assert printed["samples"]["calibration"] == 64 and printed["samples"]["held_out"] == 16
    assert len(printed["samples"]["skipped"]) == 1 and len(printed["samples"]["classes"]) == 10
    assert printed["normalization"]["name"] == "unit" and printed["normalization"]["scores"]["raw"] >= 0
    found = printed["comparison"]
    assert (found["metric"], found["data"], found["samples"]) == ("top1", "held out", 16)
    assert found["float"] > 0.9 and found["outputs"]["scores"]["same_class"] > 0.9
    assert "speed" not in printed and printed["next"][0].startswith("tvmq explain j.tvmq")


def test_what_weights_are_for(cli, here):
    """Portable weights by default; those of this machine where nothing else is named."""
    assert backend_for(None, "llvm") is None and backend_for(None, "llvm", "portable") is None
    assert backend_for(None, "llvm", "this-machine") == "llvm"
    files = ("quantize", "my digits.onnx", "--random-data", *FAST, "--no-compare", "-q", "-o", "w.tvmq")
    result = cli(*files)
    assert "weights    8 bits, for every CPU; CPUs without VNNI make " in result.out
    for named in (("--target", "x86-64-v3"), ("--backend", "cpu")):
        refused = cli(*files, "--for", "this-machine", *named)
        assert refused.code == 1 and f"--for: this-machine chooses weights for this CPU, and {named[1]!r}" in refused.err


@pytest.mark.slow
def test_what_was_given_is_not_guessed(cli, here):
    options = ("--mean", "0.5", "--std", "0.25", "--layout", "NCHW", "--resize", "stretch", "--no-compare")
    result = cli("quantize", "my digits.onnx", "--data", "pictures", *FAST, "-o", "g.tvmq", *options)
    assert "inputs: (pixel / 255 - 0.5) / 0.25: sure, as given (--scale 0.00392157 --mean 0.5 --std 0.25)" in result.err
    assert "agreement" not in result.out


@pytest.mark.slow
def test_samples_that_judged_can_be_kept(cli, here):
    files = ("my digits.onnx", "--data", "pictures", *FAST, "-o", "s.tvmq", "--save-samples", "held.npz")
    assert cli("quantize", *files, "-q").code == 0
    with np.load("held.npz") as saved:
        assert saved["image"].shape == (16, 1, 16, 16) and saved["labels"].shape == (16,)
    assert cli("verify", "s.tvmq", "--data", "held.npz", "--samples", 2).code == 0


@pytest.mark.slow
def test_arrays_of_other_names_are_taken_by_their_shape(cli, here, example):
    np.savez("named.npz", images=example.test[:20], labels=example.labels[:20])
    result = cli("quantize", "my digits.onnx", "--data", "named.npz", *FAST, "-o", "n.tvmq")
    assert result.code == 0, result.err
    assert "matched by shape: 'images' for input 'image'" in result.err
    assert "too few to hold some out" in result.err and "the same that calibrated it" in result.out
    assert "top1: float" in result.out
    np.savez("two.npz", a=example.test[:20], b=example.test[:20])
    refused = cli("quantize", "my digits.onnx", "--data", "two.npz", *FAST, "-o", "n.tvmq")
    assert refused.code == 1 and "lacks input 'image' and holds 'a', 'b'" in refused.err


def test_channels_in_another_place_are_refused(cli, here, example):
    np.savez("nhwc.npz", image=example.test[:20].transpose(0, 2, 3, 1))
    result = cli("quantize", "my digits.onnx", "--data", "nhwc.npz", *FAST, "-o", "n.tvmq", "-q")
    assert result.code == 1 and "save np.transpose(array, (0, 3, 1, 2))" in result.err


@pytest.mark.slow
def test_a_function_and_a_metric_of_ones_own(cli, here, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("my_data.py").write_text(
        "import numpy as np\nfrom tvmq.demo import load_demo\n"
        "def batches():\n    e = load_demo()\n"
        "    for i in range(0, 64, 16):\n        yield e.test[i:i + 16], e.labels[i:i + 16]\n"
        "def wrong(outputs, labels):\n    return float((outputs.argmax(1) != labels).sum())\n"
    )
    files = ("my digits.onnx", "--data", "my_data.py:batches", "--metric", "my_data.py:wrong", *FAST, "-o", "f.tvmq")
    result = cli("quantize", *files, "--json")
    assert result.code == 0, result.err
    printed = json.loads(result.out)
    assert printed["samples"]["read"] == 64 and printed["comparison"]["metric"] == "my_data.py:wrong"
    assert printed["comparison"]["float"] <= 1
    assert "64 samples of my_data.py:batches, with labels" in result.err


@pytest.mark.slow
def test_random_data_is_said_and_only_when_asked(cli, here):
    refused = cli("quantize", "my digits.onnx", "--nbit-input", 4)
    assert refused.code == 1 and "add --data" in refused.err and "--random-data" in refused.err
    assert "no alternative ('nbit_input' asks for calibrated ones)" in refused.err
    for form in (
        "tvmq quantize 'my digits.onnx' --data pictures/",
        "--data samples.npz",
        "np.savez('samples.npz', image=array)",
    ):
        assert form in refused.err
    made = cli("quantize", "my digits.onnx", "--random-data", *FAST, "-o", "r.tvmq")
    assert made.code == 0 and "chosen from noise" in made.err and "random inputs, which say little" in made.out
    both = cli("quantize", "my digits.onnx", "--random-data", "--data", "pictures")
    assert both.code == 1 and "give only one of them" in both.err


@pytest.mark.slow
def test_without_data_scales_are_made_at_run_time(cli, here):
    """Said, with the ways to give data; the same as --activations dynamic."""
    made = cli("quantize", "my digits.onnx", "-o", "d.tvmq")
    assert made.code == 0, made.err
    assert made.err.count("no calibration data: Scales of activations are made at run time") == 1
    assert "tvmq quantize 'my digits.onnx' --data pictures/" in made.err
    asked = cli("quantize", "my digits.onnx", "-o", "a.tvmq", "--activations", "dynamic")
    assert asked.code == 0 and "no calibration data" not in asked.err
    assert str(tvmq.load("d.tvmq").module) == str(tvmq.load("a.tvmq").module)
    tuned = cli("quantize", "my digits.onnx", "--tune", 1, "-o", "t.tvmq")
    assert tuned.code == 1 and "no alternative (--tune measures layers with calibrated scales)" in tuned.err


@pytest.mark.parametrize("command, arguments, message", [
    ("quantize", ("--data", "none.npz"), "data: there is no file 'none.npz'"),
    ("quantize", ("--data", "none.py:batches"), "data: there is no file 'none.py'"),
    ("quantize", ("--labels", "none.npy"), "--labels: 'none.npy' cannot be read"),
    ("quantize", ("--labels", "words.txt"), "--labels: 'words.txt' cannot be read as labels ('cat' is no number"),
    ("quantize", ("--target", "avx1024"), "'avx1024' is no target; use"),
    ("quantize", ("--target", "avx2", "--target", "avx1024"), "'avx1024' is no target; use"),
    ("quantize", ("--metric", "top2"), "--metric: must be one of"),
    ("quantize", ("--save-samples", "nowhere/s.npz"), "output: there is no folder"),
    ("quantize", ("--onnx", "nowhere/s.onnx"), "output: there is no folder"),
    ("doctor", ("--data", "none.npz"), "data: there is no file 'none.npz'"),
    ("doctor", ("--data", "pictures", "--labels", "none.npy"), "--labels: 'none.npy' cannot be read"),
    ("compare", ("none.tvmq", "--data", "none.npz"), "data: there is no file 'none.npz'"),
    ("verify", ("--data", "none.npz"), "data: there is no file 'none.npz'"),
    ("run", ("--data", "none.npz"), "data: there is no file 'none.npz'"),
    ("bench", ("--data", "none.npz"), "data: there is no file 'none.npz'"),
])  # fmt: skip
def test_files_are_looked_at_before_the_model(cli, here, command, arguments, message):
    """The model is not there either, and that is not what is said."""
    Path("words.txt").write_text("cat\n")
    result = cli(command, "no model.onnx" if command != "verify" else "no model.tvmq", *arguments)
    assert result.code == 1 and message in result.err and "no model.onnx" not in result.err
    assert command == "quantize" or (result.err.startswith("tvmq: ") and result.err.count("\n") == 1)


@pytest.mark.parametrize("data, message", [
    ("empty", "'empty' is empty"), ("nowhere", "'nowhere' does not exist; give a folder"), ("none.npz", "there is no file 'none.npz'"),
    ("my digits.onnx", "is not an .npz or .npy file; give a folder of pictures"), ("no_such:f", "'no_such' cannot be loaded"),
])  # fmt: skip
def test_data_that_is_none(cli, here, data, message):
    Path("empty").mkdir(exist_ok=True)
    result = cli("quantize", "my digits.onnx", "--data", data, "-q")
    assert result.code == 1 and message in result.err and result.err.count("\n") == 1


@pytest.mark.slow_cases("arguments2*")
@pytest.mark.parametrize("arguments, message", [
    (("--metric", "top2"), "--metric: must be one of top1, top5, mse, map50, map, or"),
    (("--labels", "none.npy"), "--labels: 'none.npy' cannot be read"),
    (("--labels", "three.txt"), "holds 3 labels for 80 samples"),
    (("--mean", "a,b"), "--mean: 'a,b' is not a list of numbers"),
])  # fmt: skip
def test_options_that_do_not_fit(cli, here, arguments, message):
    Path("three.txt").write_text("1\n2\n3\n")
    result = cli("quantize", "my digits.onnx", "--data", "pictures", *FAST, "-q", "-o", "o.tvmq", *arguments)
    assert result.code == 1 and message in result.err


def test_picture_options_are_for_pictures(cli, here, example):
    np.savez("right.npz", image=example.test[:4])
    result = cli("quantize", "my digits.onnx", "--data", "right.npz", "--mean", "0.5", "-q")
    assert result.code == 1 and "apply to a folder of pictures" in result.err


@pytest.mark.slow
def test_labels_from_a_table_of_files(cli, here, example):
    rows = [f"{label}/{index}.png,{label}" for index, label in enumerate(example.labels[:COUNT])]
    Path("labels.csv").write_text("\n".join(rows))
    files = ("my digits.onnx", "--data", "pictures", *FAST, "-q", "--json", "-o", "l.tvmq", "--labels", "labels.csv")
    result = cli("quantize", *files)
    assert result.code == 0, result.err
    assert json.loads(result.out)["comparison"]["float"] > 0.9
    Path("labels.csv").write_text("\n".join(rows[:5]))
    refused = cli("quantize", *files)
    assert refused.code == 1 and "has no row for" in refused.err


@pytest.mark.slow
def test_files_that_are_not_ours_are_kept(cli, here):
    Path("precious.tvmq").write_bytes(b"my thesis")
    refused = cli("quantize", "my digits.onnx", "--random-data", "-o", "precious.tvmq")
    assert refused.code == 1 and "exists and is not a model saved by tvmq" in refused.err
    assert Path("precious.tvmq").read_bytes() == b"my thesis"
    forced = cli("quantize", "my digits.onnx", "--random-data", "-o", "precious.tvmq", "--force", "--no-compare", *FAST)
    assert forced.code == 0 and tvmq.load("precious.tvmq")
    again = cli("quantize", "my digits.onnx", "--random-data", "-o", "precious.tvmq", "--no-compare", *FAST)
    assert again.code == 0


@pytest.mark.parametrize("name, message", [
    ("net.pt", "a torch checkpoint, which holds weights and no network"), ("net.safetensors", "weights without a network"),
    ("net.h5", "tf2onnx"), ("net.tflite", "--tflite"), ("net.xml", "an OpenVINO model"),
    ("net.tvmq", "quantized and compiled already"),
])  # fmt: skip
def test_models_of_other_kinds(cli, here, name, message):
    Path(name).write_bytes(b"")
    result = cli("quantize", name, "--random-data", "-o", "x.tvmq", "-q")
    assert result.code == 1 and message in result.err


@pytest.mark.slow
def test_labels_that_cannot_be_classes_are_left_out_with_the_reason(cli, here, example):
    np.savez("far.npz", image=example.test[:20], labels=example.labels[:20] + 100)
    result = cli("quantize", "my digits.onnx", "--data", "far.npz", *FAST, "-o", "n.tvmq", "-q")
    assert result.code == 0 and "accuracy   not measured: labels range from 10" in result.out


@pytest.mark.slow
def test_a_target_that_cannot_run_here_is_not_compared(cli, here):
    files = ("my digits.onnx", "--random-data", *FAST, "-o", "a.tvmq")
    result = cli("quantize", *files, "--target", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1")
    assert result.code == 0, result.err
    assert "not compared:" in result.out and "neoverse" in result.out


@pytest.mark.slow
def test_an_interrupt_leaves_no_file(cli, here, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setitem(vars(tvmq), "build", interrupted)
    before = sorted(os.listdir())
    result = cli("quantize", "my digits.onnx", "--data", "pictures", "-o", "i.tvmq", "--normalize", "unit", *FAST)
    assert result.code == 130 and sorted(os.listdir()) == before


@pytest.mark.slow
def test_a_model_with_dynamic_pictures(cli, here):
    """Sizes are those of the pictures, and that is said."""
    weight = np.random.default_rng(0).normal(size=(4, 1, 3, 3)).astype("f")
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1, 1, 1, 1])
    onnx.save(make_model([node], {"x": ["n", 1, "h", "w_"]}, ["y"], {"w": weight}, 17), "dynamic.onnx")
    result = cli("quantize", "dynamic.onnx", "--data", "pictures", *FAST)
    assert result.code == 0, result.err
    assert "the model takes pictures of any size: using 16x16, the size of these (--shape)" in result.err
    assert "not sure, usual, and nothing tells more" in result.err and "if this is wrong" in result.err
    assert "accuracy   not measured: the first output is not one score per class" in result.out


FACTS = {
    "model": "m.onnx", "output": "m.tvmq", "model_bytes": 4_000_000, "output_bytes": 1_000_000, "seconds": 3.0,
    "layers": {"a": {"op": "conv2d", "precision": "int8", "why": "default"},
               "b": {"op": "erf", "precision": "float", "why": "limit: no integer form"}},
    "int8_share": 0.9,
}  # fmt: skip
SPEED = {
    "ratio": 0.8, "float_seconds": 1e-3, "int8_seconds": 1.25e-3, "threads": 1, "rounds": 9, "spread": 1.2, "steady": True,
    "peers": {}, "cores": 2, "cpu": "some CPU", "load": 9.0,
}  # fmt: skip


def test_slower_than_float_is_said_with_what_to_do():
    facts = {**FACTS, "speed": SPEED}
    text = "\n".join(summary_lines(facts))
    assert "1.25x SLOWER (float 1.0 ms, int8 1.2 ms per run, the least of 9 alternating rounds)" in text
    assert "1 x erf: limit: no integer form" in text and "25% of the model" in text
    steps = next_steps(facts, Path("m.onnx"), Path("m.tvmq"), "samples.npz")
    assert steps[0].startswith("  tvmq quantize m.onnx --data samples.npz --tune 60")
    assert any("tvmq verify m.tvmq --data samples.npz" in step for step in steps)


def test_far_from_float_is_said_with_what_to_do():
    outputs = {"y": {"sqnr_db": 8.0, "equal": False, "same_class": 0.7}}
    facts = {**FACTS, "comparison": {"samples": 20, "data": "held out", "outputs": outputs}}
    steps = next_steps(facts, Path("m.onnx"), Path("m.tvmq"), "samples.npz")
    assert steps[0].startswith("  tvmq doctor m.onnx --data samples.npz")
    assert steps[1].startswith("  tvmq compare m.onnx m.tvmq --data samples.npz --worst 5")
    of_pictures = next_steps(facts, Path("m.onnx"), Path("m.tvmq"), "my pictures")
    assert of_pictures[0].startswith("  tvmq doctor m.onnx --data 'my pictures'")
    assert of_pictures[1].startswith("  tvmq quantize m.onnx --data 'my pictures' --save-samples samples.npz")


def test_less_than_half_in_int8_is_said_with_what_to_do():
    """A conversion back to float is no success, unless the user asked for it."""
    layer = {"op": "conv2d", "precision": "float", "macs": 9}
    layers = {"a": {**layer, "why": "guard: float: 12.0 dB in 8 bits, 20.1 dB so"}, "b": {**layer, "why": "limit: sums"}}
    facts = {**FACTS, "layers": {**FACTS["layers"], **layers}, "int8_share": 0.3}
    text = "\n".join(summary_lines(facts))
    assert "LESS THAN HALF of the work is in int8: 1 layers by the guard, 1 layers by a limit; tvmq doctor" in text
    steps = next_steps(facts, Path("m.onnx"), Path("m.tvmq"), "samples.npz")
    assert steps[0].startswith("  tvmq doctor m.onnx --data samples.npz")
    assert "--calibrate-mode percentile" in steps[1]
    by_rule = {**facts, "layers": {"a": {**layer, "why": "rule '*'"}, "b": {**layer, "why": "option activations=None"}}}
    assert "LESS THAN HALF" not in "\n".join(summary_lines(by_rule))


def test_long_paths_have_next_steps_too():
    steps = next_steps(FACTS, Path("m.onnx"), Path(f"{'x' * 90}.tvmq"), None)
    assert len(steps) == 2 and all("  # " in step for step in steps)
