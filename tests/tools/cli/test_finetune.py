"""`tvmq finetune`: the file that it writes at the end, after Ctrl-C and after kill -9, and refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tests.training.small_network import samples, small_network

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

COUNT = 60  # 48 are learned from (8 of them judge), 12 are held out
QUICKLY = (
    "--nbit-weight", "3", "--calibrate-mode", "minmax", "--weight-rounding", "nearest", "--no-outlier-channels",
    "--no-bias-correction",
)  # fmt: skip
ALONE = ("--no-compare", "--no-bench", "--quiet")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The model and its data."""
    folder = tmp_path_factory.mktemp("network")
    onnx.save(small_network(), folder / "net.onnx")
    np.savez(folder / "data.npz", x=samples(COUNT))
    return folder / "net.onnx", folder / "data.npz"


@pytest.mark.slow
def test_the_file_is_what_was_learned(cli, network, tmp_path):
    model, data = network
    output, exported = tmp_path / "net.tvmq", tmp_path / "integers.onnx"
    done = cli("finetune", model, "--data", data, *QUICKLY, "--steps", 24, "--seed", 3, "-o", output, "--onnx", exported,
               "--no-bench", "--json")  # fmt: skip
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    learned = facts["finetune"]
    assert learned["steps"] == 24 and learned["after"] < learned["before"] and not learned["interrupted"]
    assert facts["samples"]["held_out"] == facts["comparison"]["samples"] == 12
    assert any("finetuned in 24 steps" in note for note in facts["notes"])
    assert "finetune ..." in done.err and exported.exists()
    exe = tvmq.load(output)
    assert exe.input_info[0].shape == (1, 2, 8, 8)
    x = samples(5, seed=9)
    for one in x:
        expected = tvmq.reference.run(exe.module, {"x": one[None]})[0]
        np.testing.assert_array_equal(exe.run({"x": one[None]})[0], expected)
    again = cli("finetune", model, "--data", data, *QUICKLY, "--steps", 24, "--seed", 3, "-o", tmp_path / "again.tvmq",
                *ALONE)  # fmt: skip
    assert again.code == 0 and again.err == ""
    assert (tmp_path / "again.tvmq").read_bytes() == output.read_bytes()


@pytest.mark.slow
@pytest.mark.isa("avx2")
def test_within_accumulators(cli, network, tmp_path):
    from tvmq.training import LANES, prove_accumulators

    model, data = network
    output, options = tmp_path / "net.tvmq", QUICKLY[2:]
    target = ("--target", "llvm -mcpu=haswell")
    done = cli("finetune", model, "--data", data, *options, *target, "--accumulators", 16, "--steps", 4, "-o", output,
               *ALONE)  # fmt: skip
    assert done.code == 0, done.err
    assert all(layer.holds for layer in prove_accumulators(tvmq.load(output).module, LANES))
    refused = cli("finetune", model, "--data", data, *options, "--accumulators", 7, "-o", output, *ALONE)
    assert refused.code == 2 and "--accumulators" in refused.err


def test_ctrl_c_saves_the_best_so_far(cli, network, tmp_path, monkeypatch):
    from tvmq import training

    monkeypatch.setattr("tvmq.tools.cli.finetune.count_hundredths", lambda advance: _interrupt_at(3))
    model, data = network
    output = tmp_path / "net.tvmq"
    done = cli("finetune", model, "--data", data, *QUICKLY, "--minutes", 5, "-o", output, "--json", *ALONE[:2])
    assert done.code == 0, done.err
    assert json.loads(done.out)["finetune"]["interrupted"] and json.loads(done.out)["finetune"]["steps"] == 3
    assert "finetune: interrupted after 3 steps; the best state so far was saved" in done.err
    assert tvmq.load(output).run({"x": samples(1)})[0].shape == (1, 10)
    assert training.FinetuneProgress  # what is watched


def _interrupt_at(step):
    def watch(progress):
        if progress.step == step:
            signal.raise_signal(signal.SIGINT)

    return watch


@pytest.mark.slow
def test_a_killed_process_leaves_the_best_so_far(network, tmp_path):
    model, data = network
    output = tmp_path / "net.tvmq"
    command = [sys.executable, "-m", "tvmq.tools.cli", "finetune", model, "--data", data, *QUICKLY, "-o", output, *ALONE]
    with subprocess.Popen([*map(str, command), "--minutes", "1"]) as process:
        first, deadline = None, time.monotonic() + 300
        while process.poll() is None and time.monotonic() < deadline:
            now = output.read_bytes() if output.exists() else None
            first = first or now
            if now != first:  # a better one than that of the start
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL and first is not None
    assert os.listdir(tmp_path) == ["net.tvmq"]
    exe = tvmq.load(output)
    assert output.read_bytes() != first
    for one in samples(3, seed=9):
        expected = tvmq.reference.run(exe.module, {"x": one[None]})[0]
        np.testing.assert_array_equal(exe.run({"x": one[None]})[0], expected)


@pytest.mark.slow
def test_a_batch_that_was_asked_for(cli, network, tmp_path):
    model, data = network
    for options, shape in ((("--batch", 4), (4, 2, 8, 8)), (("--shape", "x=2,2,8,8"), (2, 2, 8, 8))):
        output = tmp_path / f"{shape[0]}.tvmq"
        done = cli("finetune", model, "--data", data, *QUICKLY, "--steps", 1, *options, "-o", output, *ALONE)
        assert done.code == 0, done.err
        assert tvmq.load(output).input_info[0].shape == shape


@pytest.mark.slow
def test_bad_input_gets_one_sentence(cli, network, tmp_path, monkeypatch):
    model, data = network
    output = tmp_path / "net.tvmq"
    quantized = tmp_path / "quantized.onnx"
    tvmq.to_onnx(tvmq.quantize(*tvmq.from_onnx(model), [samples(4)], guard=None), quantized)
    for arguments, sentence in (
        ((model, "--data", tmp_path / "none.npz"), "there is no file"),
        ((quantized, "--data", data), "finetune: the model is quantized already; give the float"),
        ((model, "--data", data, "--activations", "dynamic"), "have no scales to learn; use 'static'"),
        ((model, "--data", data, "--minutes", "0"), "seconds must be above 0. Got 0.0"),
    ):
        done = cli("finetune", *arguments, "-o", output, "--quiet")
        assert done.code == 1 and sentence in done.err and done.err.count("\n") == 1, done.err
    monkeypatch.setitem(sys.modules, "tvmq.training", None)
    done = cli("finetune", model, "--data", data, "-o", output)
    assert done.code == 1 and not output.exists() and done.err.startswith("tvmq: finetune: "), done.err
