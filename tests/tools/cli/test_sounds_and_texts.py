"""Sounds and texts on the command line: quantized from files, and run on files."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tests.support.sounds_and_texts import RATE, LetterTokenizer, write_wav
from tvmq.calibration.data.sounds import SoundPreprocessing
from tvmq.calibration.data.texts import TextPreprocessing
from tvmq.tools.cli.doctor import read_model_and_data
from tvmq.tools.cli.doubts import doctor_command
from tvmq.tools.cli.quantize import data_options
from tvmq.tools.cli.run import _is_embedding
from tvmq.tools.cli.summary import next_steps

FAST = ("--calibrate-mode", "minmax", "--no-bench", "-q", "--guard", "none")
LENGTH = 16


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sounds(here):
    """A model that tells loud low notes from high ones, and a folder of both."""
    random, time = np.random.default_rng(0), np.arange(LENGTH)
    waves = np.stack([np.cos(np.pi * time / 2), np.cos(np.pi * time / 16)], axis=1).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["scores"], name="head")]
    for label, name in enumerate(("high", "low")):
        for number in range(30):
            values = 8000 * waves[:, label] + random.normal(0, 500, LENGTH)
            write_wav(here / "notes" / name / f"{number}.wav", np.clip(values, -32768, 32767))
    model = make_model(nodes, {"x": ["n", LENGTH]}, ["scores"], {"w": waves}, 17)
    (here / "notes.onnx").write_bytes(model.SerializeToString())
    return here


def test_sounds(cli, sounds):
    result = cli("quantize", "notes.onnx", "--data", "notes", *FAST, "-o", "m.tvmq", "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert facts["comparison"]["metric"] == "top1" and facts["comparison"]["int8"] > 0.9
    exe = tvmq.load("m.tvmq")
    assert exe.preprocessing == SoundPreprocessing("x", 2, LENGTH, RATE) and exe.labels == ("high", "low")
    shown = cli("run", "m.tvmq", "--data", "notes/low/3.wav")
    assert shown.code == 0 and shown.out.splitlines()[1].split()[1] == "low"
    assert cli("verify", "m.tvmq", "--data", "notes", "--samples", 2, "-q").out.startswith("exact: yes")
    assert cli("bench", "m.tvmq", "--data", "notes", "--repeat", 3).code == 0
    refused = cli("run", "m.tvmq", "--data", "notes/low/3.txt")
    assert refused.code == 1 and "there is no file" in refused.err
    write_wav(sounds / "fast.wav", [1], rate=44100)
    refused = cli("run", "m.tvmq", "--data", "fast.wav")
    assert refused.code == 1 and "none of 1 sounds can be read" not in refused.err and "has 44100 Hz" in refused.err


@pytest.fixture
def texts(here, monkeypatch):
    """A model of letters, a table of texts, and a tokenizer that needs no package."""
    monkeypatch.setattr("tvmq.calibration.data.texts.read_tokenizer", lambda path: (f"hash of {path}", LetterTokenizer()))
    random = np.random.default_rng(0)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"], name="words"),
        helper.make_node("ReduceMean", ["rows"], ["mean"], name="pool", axes=[1], keepdims=0),
        helper.make_node("MatMul", ["mean", "w"], ["scores"], name="head"),
    ]
    constants = {"table": random.normal(size=(128, 8)).astype(np.float32), "w": random.normal(size=(8, 2)).astype(np.float32)}
    model = make_model(nodes, {"input_ids": ("int64", ["n", 12])}, ["scores"], constants, 17)
    (here / "letters.onnx").write_bytes(model.SerializeToString())
    lines = ["".join(map(chr, random.integers(97, 123, 8))) for _ in range(60)]
    (here / "texts.txt").write_text("\n".join(lines))
    return here


def test_texts(cli, texts):
    missing = cli("quantize", "letters.onnx", "--data", "texts.txt", *FAST)
    assert missing.code == 1 and "holds texts; add --tokenizer tokenizer.json" in missing.err
    result = cli("quantize", "letters.onnx", "--data", "texts.txt", "--tokenizer", "t.json", *FAST, "-o", "m.tvmq")
    assert result.code == 0, result.err
    exe = tvmq.load("m.tvmq")
    assert exe.preprocessing == TextPreprocessing({"input_ids": "ids"}, 12, "hash of t.json")
    shown = cli("run", "m.tvmq", "--data", "texts.txt", "--tokenizer", "t.json", "--json", "-q")
    facts = json.loads(shown.out)
    assert shown.code == 0 and facts["outputs"]["scores"]["shape"] == [60, 2] and len(facts["top"]) == 60
    assert cli("verify", "m.tvmq", "--data", "texts.txt", "--tokenizer", "t.json", "-q").code == 0
    refused = cli("run", "m.tvmq", "--data", "texts.txt")
    assert refused.code == 1 and "add --tokenizer" in refused.err
    other = cli("run", "m.tvmq", "--data", "texts.txt", "--tokenizer", "o.json")
    assert other.code == 1 and "is another tokenizer than the" in other.err
    wrong = cli("quantize", "letters.onnx", "--data", "texts.txt", "--tokenizer", "t.json", "--normalize", "unit", *FAST)
    assert wrong.code == 1 and "apply to a folder of pictures" in wrong.err


def test_the_doctor_reads_texts(texts):
    context, findings = read_model_and_data(
        texts / "letters.onnx", "texts.txt", None, 4, (), tvmq.QConfig(), tokenizer=Path("t.json")
    )
    assert context.arrays["input_ids"].shape == (4, 12) and not findings
    assert doctor_command("m.onnx", "texts.txt", "my t.json").endswith("--data texts.txt --tokenizer 'my t.json'")


def test_the_next_commands_have_the_same_samples():
    preparation = TextPreprocessing({"input_ids": "ids"}, 12, "hash")
    of_texts = data_options(SimpleNamespace(preprocessing=preparation), "my texts.txt", Path("t.json"))
    assert of_texts == "--data 'my texts.txt' --tokenizer t.json"
    of_sounds = SimpleNamespace(preprocessing=SoundPreprocessing("x", 2, LENGTH, RATE))
    assert data_options(of_sounds, "notes", None) == "--data notes" and data_options(of_sounds, None, None) == ""
    assert data_options(SimpleNamespace(preprocessing=None), "samples.npz", None) == ""
    steps = next_steps({"layers": {}, "int8_share": 1.0}, Path("m.onnx"), Path("m.tvmq"), "my texts.txt", of_texts)
    for command in ("verify", "run"):
        assert any(f"  tvmq {command} m.tvmq {of_texts} " in step for step in steps)


def test_an_embedding_of_a_text_has_no_classes():
    preparation = TextPreprocessing({"input_ids": "ids"}, 12, "hash")
    embedding, scores = np.zeros((2, 384), np.float32), np.zeros((2, 3), np.float32)
    assert _is_embedding(SimpleNamespace(preprocessing=preparation, labels=()), embedding)
    assert not _is_embedding(SimpleNamespace(preprocessing=preparation, labels=()), scores)
    assert not _is_embedding(SimpleNamespace(preprocessing=preparation, labels=("a",) * 384), embedding)
    assert not _is_embedding(SimpleNamespace(preprocessing=None, labels=()), embedding)
