"""benchmarks/serving.py: a served model under load gives no error and no wrong answer; bad requests are refused."""

from __future__ import annotations

import asyncio
import http.client
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net

for name in ("fastapi", "uvicorn", "onnxruntime"):
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
            assert response.status == 422 and message in response.read()
        connection.request("GET", "/model")
        assert b"x float32[1, 8, 6, 6]" in connection.getresponse().read()


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


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_bodies_are_bounded_before_they_are_inflated(script, monkeypatch, method):
    """Every packing has a bound: a zip states the size that its members unpack to."""
    serving_app = script("serving_app")
    assert list(serving_app.unpack(serving_app.pack({"x": np.zeros(3)}))) == ["x"]
    monkeypatch.setattr(serving_app, "MOST_BYTES", 2**16)
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", method) as archive:
        archive.writestr("x.npy", bytes(2**16 + 1))
    with pytest.raises(ValueError, match="the arrays would take 65537 bytes, at most 65536 are read"):
        serving_app.unpack(body.getvalue())


@pytest.mark.parametrize("header", [
    "(" * 8000, "-" * 9000 + "1", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (10**9, 10**9)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000,)}", "\0",
], ids=lambda header: header[-24:])  # fmt: skip
def test_bodies_of_other_headers(script, header):
    serving_app = script("serving_app")
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(
            "x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)
        )
    with pytest.raises(ValueError, match="the body is no .npz of arrays"):
        serving_app.unpack(body.getvalue())


def test_bodies_that_are_too_long_and_pages_of_elsewhere(script, monkeypatch, path):
    serving_app = script("serving_app")
    assert not {"/docs", "/redoc"} & {route.path for route in serving_app.app(path).routes}
    monkeypatch.setattr(serving_app, "MOST_BYTES", 100)

    class Endless:
        async def stream(self) -> Any:
            while True:
                yield b"x" * 60

    with pytest.raises(serving_app.HTTPException, match="more than 100 bytes"):
        asyncio.run(serving_app.body_of(Endless()))
