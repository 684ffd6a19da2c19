"""benchmarks/serving.py: a served model under load gives no error and no wrong answer; bad requests are refused."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net

for name in ("starlette", "uvicorn", "onnxruntime"):
    pytest.importorskip(name)


@pytest.fixture
def serving(script: Any) -> Any:
    return script("serving")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A saved integer model."""
    net = Net((1, 8, 6, 6))
    module, params = tvmq.from_onnx(net.model(net.conv("x", 8, 16, kernel=3)))
    feeds = [{"x": np.random.default_rng(i).standard_normal((1, 8, 6, 6)).astype(np.float32)} for i in range(4)]
    tvmq.build(tvmq.quantize(module, params, feeds)).save(tmp_path / "m.tvmq")
    return tmp_path / "m.tvmq"


@pytest.mark.slow
def test_answers_under_load_are_those_of_the_definition(serving: Any, path: Path) -> None:
    feeds = [{"x": np.random.default_rng(i).standard_normal((1, 8, 6, 6)).astype(np.float32)} for i in range(4)]
    questions, answers = [serving.pack(feed) for feed in feeds], serving.definition(path, feeds)
    with serving.Server(path, questions, answers) as server:
        server.ask(4, 1.0)
        found = server.figures()
        assert (found["errors"], found["differing"]) == (0, 0) and found["requests"] > 20
        assert 0 < found["p50"] <= found["p99"] and found["resident"] > 20
        server.answers = [[answer + 1 for answer in one] for one in answers]  # what differs is seen
        server.ask(1, 0.2)
        assert server.differing > 0
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for body, message in (
            (serving.pack({"x": np.zeros((2, 2))}), b"has shape"),
            (b"no arrays", b""),
            (b"PK\x03\x04", b"zip"),
        ):
            connection.request("POST", "/run", body)
            response = connection.getresponse()
            assert response.status == 400 and message in response.read()
        connection.request("GET", "/v2/models/model")
        assert b'"shape": [1, 8, 6, 6]' in connection.getresponse().read()


def test_bounds(serving: Any) -> None:
    row = {"task": "t", "runtime": "tvmq", "requests": 5, "errors": 0, "differing": 0}
    assert not serving.missed([row])
    assert serving.missed([{**row, "errors": 1}]) == ["t tvmq: 1 errors, 0 answers differ of 5"]
    assert serving.missed([{**row, "differing": 2}]) == ["t tvmq: 0 errors, 2 answers differ of 5"]
    assert serving.missed([{**row, "requests": 0}]) == ["t tvmq: 0 errors, 0 answers differ of 0"]


def test_equal_is_bit_for_bit(serving: Any) -> None:
    zero = np.zeros(2, np.float32)
    assert serving.same([zero], [zero.copy()])
    for other in ([-zero], [zero.astype(np.float64)], [zero[:1]], []):
        assert not serving.same([zero], other)
