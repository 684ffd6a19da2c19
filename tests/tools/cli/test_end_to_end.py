"""The commands on a real network, the embedded one: from the ONNX file to the executable and its results."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tvm

import tvmq
from tvmq.codegen.target.cpu import host_arch
from tvmq.demo import load_demo

PICTURES = 40


def tvmq_command(*arguments: object, folder) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a user starts it."""
    command = [sys.executable, "-m", "tvmq.tools.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the model, its data, and what `tvmq quantize` made of it."""
    path = tmp_path_factory.mktemp("digits")
    example = load_demo()
    (path / "digits.onnx").write_bytes(example.model)
    np.savez(path / "calibration.npz", image=example.calibration[:64])
    np.savez(path / "test.npz", image=example.test[:PICTURES], labels=example.labels[:PICTURES])
    return path


@pytest.fixture(scope="module")
def quantized(folder):
    """Result of `tvmq quantize` with --json."""
    files = ("digits.onnx", "--data", "calibration.npz", "--output", "digits.tvmq")
    return tvmq_command("quantize", *files, "--json", folder=folder)


@pytest.mark.slow
def test_quantize(folder, quantized):
    assert quantized.returncode == 0, quantized.stderr
    printed = json.loads(quantized.stdout)
    assert printed["output_bytes"] == (folder / "digits.tvmq").stat().st_size
    assert printed["int8_share"] > 0.95
    assert "dynamic dimensions fixed: image (1, 1, 16, 16)" in quantized.stderr
    assert "quantize ..." in quantized.stderr
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


@pytest.mark.slow
def test_run_gives_what_python_gives(folder, quantized, cli):
    result = cli("run", folder / "digits.tvmq", "--data", folder / "test.npz", "-o", folder / "scores.npz")
    assert result.code == 0, result.err
    example = load_demo()
    exe = tvmq.load(folder / "digits.tvmq")
    expected = np.concatenate([exe.run({"image": x[None]})[0] for x in example.test[:PICTURES]])
    with np.load(folder / "scores.npz") as saved:
        assert np.array_equal(saved["scores"], expected)
    assert (expected.argmax(axis=1) == example.labels[:PICTURES]).mean() > 0.9


@pytest.mark.slow
def test_verify(folder, quantized, cli):
    result = cli("verify", folder / "digits.tvmq", "--data", folder / "test.npz", "--samples", 4)
    assert result.code == 0, result.err
    assert result.out.startswith("exact: yes")


@pytest.mark.slow
def test_explain(folder, quantized, cli):
    assert "in int8" in cli("explain", folder / "digits.tvmq").out
    printed = json.loads(cli("explain", folder / "digits.tvmq", "--json").out)
    assert printed["layers"] == json.loads(quantized.stdout)["layers"]


@pytest.mark.slow
def test_bench_per_layer(folder, quantized, cli):
    result = cli("bench", folder / "digits.tvmq", "--repeat", 3, "--per-layer")
    assert result.code == 0, result.err
    assert "of peak" in result.out and "whole run" in result.out
    printed = json.loads(cli("bench", folder / "digits.tvmq", "--repeat", 3, "--per-layer", "--json").out)
    assert sum(row["share"] for row in printed["profile"]["layers"]) == pytest.approx(1)


@pytest.mark.slow
def test_bench(folder, quantized, cli):
    printed = json.loads(cli("bench", folder / "digits.tvmq", "--repeat", 5, "--json").out)
    assert 0 < printed["fastest"] <= printed["median"] < 1


@pytest.mark.slow
def test_rules_and_errors_speak_the_names_of_the_model(folder, cli):
    result = cli(
        "quantize", folder / "digits.onnx", "--data", folder / "calibration.npz", "-o", folder / "x.tvmq",
        "--rule", "*/no-such-layer=float",
    )  # fmt: skip
    assert result.code == 1
    assert "tvmq: rules, Rule('*/no-such-layer', None): matches none of" in result.err
    assert not (folder / "x.tvmq").exists()


@pytest.mark.slow
def test_bad_data_is_named(folder, cli):
    np.savez(folder / "nan.npz", image=np.full((4, 1, 16, 16), np.nan, np.float32))
    files = (folder / "digits.onnx", "--data", folder / "nan.npz", "-o", folder / "x.tvmq")
    result = cli("quantize", *files, "--quiet")
    assert (result.code, result.out) == (1, "")
    assert "'image'" in result.err and "NaN" in result.err
    assert not (folder / "x.tvmq").exists()


@pytest.mark.slow
def test_a_damaged_model_is_one_sentence(folder, quantized, cli):
    data = (folder / "digits.tvmq").read_bytes()
    (folder / "half.tvmq").write_bytes(data[: len(data) // 2])
    (folder / "text.tvmq").write_bytes(b"hello")
    for name in ("half.tvmq", "text.tvmq", "none.tvmq"):
        result = cli("explain", folder / name)
        assert result.code == 1
        assert name in result.err and result.err.count("\n") == 1


def test_another_hash_is_refused(folder, quantized, cli):
    result = cli("explain", folder / "digits.tvmq", "--sha256", "0" * 64)
    assert result.code == 1 and "sha256" in result.err.lower()


@pytest.mark.slow
def test_demo(tmp_path, cli):
    result = cli("demo", "--output", tmp_path / "d.tvmq", "--json", "--quiet")
    assert result.code == 0, result.err
    printed = json.loads(result.out)
    assert printed["exact"] is True
    assert printed["float_accuracy"] > 0.9
    assert abs(printed["float_accuracy"] - printed["int8_accuracy"]) <= 0.01
    assert printed["agreement"] > 0.97
    assert os.listdir(tmp_path) == ["d.tvmq"] and result.err == ""


@pytest.mark.slow
def test_a_file_for_another_architecture_is_explained_and_built_again(folder, quantized, cli):
    foreign, here = folder / "foreign.tvmq", folder / "here.tvmq"
    other = "arm-dotprod" if host_arch() == "x86" else "x86-64-v3"
    assert cli("build", folder / "digits.tvmq", "--target", other, "--output", foreign).code == 0
    refused = cli("run", foreign, "--data", folder / "test.npz", "--output", folder / "out.npz")
    assert refused.code == 1 and "build the module in it here: `tvmq build`" in refused.err
    assert "in int8" in cli("explain", foreign).out
    assert cli("build", foreign, "--output", here).code == 0
    assert here.read_bytes() == (folder / "digits.tvmq").read_bytes()


@pytest.mark.slow
def test_a_model_for_a_gpu_is_made_and_explained_anywhere(folder, cli):
    files = (folder / "digits.onnx", "--data", folder / "calibration.npz", "--output", folder / "gpu.tvmq")
    made = cli("quantize", *files, "--target", "cuda -arch=sm_90", "--calibrate-mode", "minmax")
    assert made.code == 0, made.err
    assert "__global__" in tvmq.load(folder / "gpu.tvmq").source
    assert cli("explain", folder / "gpu.tvmq").code == 0
    if not tvm.cuda(0).exist:
        refused = cli("run", folder / "gpu.tvmq", "--data", folder / "test.npz", "-o", folder / "none.npz")
        assert refused.code == 1 and "no NVIDIA GPU that TVM can use" in refused.err


@pytest.mark.slow
def test_labels_in_another_order_are_said_with_the_command_that_finds_out(folder):
    example = load_demo()
    np.savez(folder / "moved.npz", image=example.test[:PICTURES], labels=(example.labels[:PICTURES] + 3) % 10)
    done = tvmq_command(
        "quantize", "digits.onnx", "--data", "moved.npz", "-o", "moved.tvmq", "--no-bench", "--json", folder=folder
    )
    assert done.returncode == 4, done.stderr
    facts = json.loads(done.stdout)
    assert facts["comparison"]["near_chance"] and len(facts["doubts"]) == 1
    assert "classes otherwise than the model: what it finds as" in done.stderr and "so accuracy says nothing" in done.stderr
    assert "tvmq doctor digits.onnx --data moved.npz" in done.stderr
