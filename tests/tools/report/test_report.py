"""`tvmq report`: one page that fetches nothing, with all known figures and a sentence for each missing one."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of

pytest.importorskip("jinja2", reason="in the extra report")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A model, its data, the saved integers."""
    folder = tmp_path_factory.mktemp("report")
    net = Net((1, 3, 8, 8))
    model = net.model(net.dense(net.op("Flatten", net.op("Relu", net.conv("x", 3, 4))), 256, 5))
    onnx.save(model, folder / "net.onnx")
    np.savez(folder / "data.npz", x=np.concatenate([feed["x"] for feed in feeds_of(model, 64)]))
    tvmq.build(tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model))).save(folder / "net.tvmq")
    return folder / "net.onnx", folder / "data.npz", folder / "net.tvmq"


def fetches(page: str) -> list[str]:
    """Addresses that a browser would ask for."""
    return re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]+|@import|url\((?!data:)", page)


@pytest.mark.slow
def test_a_page_of_a_float_model(cli, files, tmp_path):
    model, data, _ = files
    done = cli("report", model, "--data", data, "-o", tmp_path / "r.html", "--quiet")
    assert done.code == 0, done.err
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!doctype html>") and fetches(page) == []
    assert "conv_0" in page and "<svg" in page and "prefers-color-scheme" in page
    assert "need the float model" not in page and 'name="viewport"' in page


def test_a_page_of_a_saved_model_says_what_is_missing(cli, files, tmp_path):
    done = cli("report", files[2], "-o", tmp_path / "r.html")
    assert done.code == 0 and "errors by layer and histograms need the float model" in done.err
    assert "errors by layer and histograms need the float model" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_a_page_about_a_saved_model_beside_its_float_one(cli, files, tmp_path):
    model, data, saved = files
    done = cli("report", model, "--quantized", saved, "--data", data, "-o", tmp_path / "r.html", "--json", "--quiet")
    told = json.loads(done.out)
    assert told["title"] == "net.tvmq" and any("conv_0" in json.dumps(row) for row in told["layers"])


def test_the_front_of_a_search_is_on_the_page(cli, files, tmp_path):
    point = {"name": "point-1", "drop": 0.001, "low": 0.0, "high": 0.002, "seconds": 1e-5, "bytes": 900, "recipe": {}}
    front = {"points": [point], "float": {"seconds": 3e-5, "bytes": 4000, "score": 0.9}, "goal": {"minimize": "size"}}
    (tmp_path / "front.json").write_text(json.dumps(front))
    done = cli("report", files[2], "--search", tmp_path / "front.json", "-o", tmp_path / "r.html", "--quiet")
    assert done.code == 0, done.err
    assert "point-1" in (tmp_path / "r.html").read_text()
    (tmp_path / "front.json").write_text(json.dumps({**front, "points": [{**point, "drop": None, "sqnr": 31.5}]}))
    done = cli("report", files[2], "--search", tmp_path / "front.json", "-o", tmp_path / "r.html", "--quiet")
    assert done.code == 0 and "31.5" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_names_cannot_write_code_into_the_page(cli, tmp_path):
    net = Net((1, 4))
    model = net.model(net.dense("x", 4, 3))
    model.graph.node[0].name = "</script><script>alert(1)</script>"
    onnx.save(model, tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32))
    done = cli("report", tmp_path / "net.onnx", "--data", tmp_path / "x.npy", "-o", tmp_path / "r.html", "--quiet")
    assert done.code == 0, done.err
    page = (tmp_path / "r.html").read_text()
    assert "<script>alert(1)" not in page and "&lt;/<wbr>script&gt;" in page  # a long name breaks at its slashes


def test_bad_input_gets_one_sentence(cli, files, tmp_path, monkeypatch):
    model, data, saved = files
    cases = [("{", "is not JSON"), ("[]", "front.json of a search"), ('{"points": [1]}', "point 0"),
             ('{"points": [{"name": "a", "seconds": "x"}]}', "must have a number")]  # fmt: skip
    for text, sentence in cases:
        (tmp_path / "front.json").write_text(text)
        done = cli("report", saved, "--search", tmp_path / "front.json", "-o", tmp_path / "r.html")
        assert done.code == 1 and sentence in done.err and done.err.count("\n") == 1, done.err
    done = cli("report", saved, "--search", tmp_path / "absent.json", "-o", tmp_path / "r.html")
    assert done.code == 1 and "absent.json" in done.err
    done = cli("report", saved, "--quantized", saved, "-o", tmp_path / "r.html")
    assert done.code == 1 and "a saved model already; give the float model as MODEL" in done.err
    assert not (tmp_path / "r.html").exists()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    done = cli("report", saved, "-o", tmp_path / "r.html")
    assert done.code == 1 and "tvmq[report]" in done.err
