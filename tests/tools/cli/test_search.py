"""`tvmq search`: table, files, exit codes, and refusals."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

from tests.quantization.search.small_search import samples, unsteady_network
from tvmq.errors import ConfigError
from tvmq.tools.cli.search import is_uncertain, make_training_options

FAST = ("--options", "int8,float", "--rounds", "1", "--held-out", "24")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The model and its data, with labels."""
    folder = tmp_path_factory.mktemp("network")
    onnx.save(unsteady_network(), folder / "net.onnx")
    x = np.concatenate([feed["x"] for feed in samples(64, 1)])
    np.savez(folder / "data.npz", x=x, labels=np.arange(64) % 10)
    return folder / "net.onnx", folder / "data.npz"


@pytest.mark.slow
def test_a_search_by_decibels(cli, network, tmp_path):
    model, data = network
    done = cli("search", model, "--data", data, "--sqnr", "25", *FAST, "-o", tmp_path / "s")
    assert done.code == 0, done.err
    assert "least latency with sqnr >= 25" in done.out and "best" in done.out
    assert f"tvmq quantize {model} --data {data} --config {tmp_path / 's' / 'best.json'} --guard none" in done.out
    assert "search: all in 8 bits, 1 of" in done.err
    assert {path.name for path in (tmp_path / "s").iterdir()} >= {"best.tvmq", "best.json", "front.svg", "front.json"}
    again = cli("search", model, "--data", data, "--sqnr", "25", *FAST, "-o", tmp_path / "s", "--json", "--quiet")
    assert json.loads(again.out)["trials"] == 0 and again.err == ""
    taken = cli("quantize", model, "--data", data, "--config", tmp_path / "s" / "best.json", "--guard", "none",
                "-o", tmp_path / "q.tvmq", "--no-bench", "--quiet")  # fmt: skip
    assert taken.code == 4 and "near chance" in taken.err  # labels of nothing
    refused = cli("search", model, "--data", data, "--sqnr", "25", *FAST, "-o", tmp_path / "s", "--no-resume")
    assert refused.code == 1 and "exists already; --resume continues it" in refused.err
    merged = cli("search", model, "--data", data, "--sqnr", "25", *FAST, "-o", tmp_path / "m",
                 "--merge", tmp_path / "s" / "journal.sqlite", "--json")  # fmt: skip
    assert json.loads(merged.out)["trials"] == 0 and "results from" in merged.err


@pytest.mark.slow
def test_a_bound_that_nothing_holds(cli, network, tmp_path):
    model, data = network
    done = cli("search", model, "--data", data, "--sqnr", "190", *FAST, "-o", tmp_path / "s", "--quiet")
    assert done.code == 3
    assert "No model with 8-bit layers keeps the bound: stay with float, or loosen it" in done.out
    assert "misses the bound" in done.out


def test_finetuning_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "tvmq.training", None)
    with pytest.raises(ConfigError, match="search: --finetune-steps: "):
        make_training_options(3)


@pytest.mark.slow
def test_a_search_that_finetunes(cli, tmp_path):
    pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    from tests.training.small_network import samples, small_network

    onnx.save(small_network(), tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", x=samples(60))
    done = cli("search", tmp_path / "net.onnx", "--data", tmp_path / "data.npz", "--sqnr", "27", "--minimize", "size",
               "--options", "int8,weights4", "--rounds", 0, "--finetune-steps", 3, "-o", tmp_path / "s")  # fmt: skip
    assert done.code == 0, done.err
    assert "search: finetuning, 1 of" in done.err and (tmp_path / "s" / "best.tvmq").exists()


@pytest.mark.slow
def test_a_search_by_a_metric(cli, network, tmp_path):
    model, data = network
    done = cli("search", model, "--data", data, "--metric", "top1", "--max-drop", "100", *FAST, "-o", tmp_path / "s",
               "--minimize", "size", "--quiet")  # fmt: skip
    assert done.code == 0, done.err
    assert "least size with drop <= 1" in done.out and "drop" in done.out


def test_few_samples_are_said():
    """Sixty samples do not tell a drop of a hundredth of a point."""
    best = SimpleNamespace(drop=0.0, low=-0.05, high=0.05, samples=60)
    assert is_uncertain(best, 0.0001) and not is_uncertain(best, 0.06) and not is_uncertain(best, None)
    assert not is_uncertain(SimpleNamespace(drop=0.1, low=0.1, high=0.1, samples=60), 0.05)  # one score for all


def test_bad_input_gets_one_sentence(cli, network, tmp_path):
    model, data = network
    for arguments, sentence in (
        (("--metric", "top1"), "--metric and --max-drop go together. Got --metric alone"),
        (("--max-drop", "1"), "--metric and --max-drop go together. Got --max-drop alone"),
        (("--minimize", "speed"), "minimize must be 'latency' or 'size'. Got 'speed'"),
        (("--options", "int3"), "there is no option 'int3' of a layer"),
        (("--merge", tmp_path / "none.sqlite"), "there is no journal"),
    ):
        done = cli("search", model, "--data", data, *arguments, "-o", tmp_path / "s", "--quiet")
        assert done.code == 1 and sentence in done.err and done.err.count("\n") == 1, done.err
    np.savez(tmp_path / "bare.npz", x=np.zeros((64, 16), np.float32))
    bare = cli("search", model, "--data", tmp_path / "bare.npz", "--metric", "top1", "--max-drop", "1",
               "-o", tmp_path / "s", "--quiet")  # fmt: skip
    assert bare.code == 1 and "--metric needs labels" in bare.err


def test_a_cluster_that_does_not_answer(cli, network, tmp_path, monkeypatch):
    model, data = network
    monkeypatch.setitem(__import__("sys").modules, "dask.distributed", None)
    done = cli("search", model, "--data", data, "--dask", "tcp://nowhere:1", "-o", tmp_path / "s", "--quiet")
    assert done.code == 1 and "--dask needs Dask; pip install 'tvmq[dask]'" in done.err


def test_no_scheduler_answers(cli, network, tmp_path, monkeypatch):
    distributed = pytest.importorskip("dask.distributed", reason="in the extra dask")

    def refuse(address: str, timeout: float) -> None:
        raise OSError(f"Timed out trying to connect to {address} after {timeout} s")

    monkeypatch.setattr(distributed, "Client", refuse)
    model, data = network
    done = cli("search", model, "--data", data, "--dask", "tcp://nowhere:1", "-o", tmp_path / "s", "--quiet")
    assert done.code == 1 and "no Dask scheduler answers at 'tcp://nowhere:1'" in done.err
