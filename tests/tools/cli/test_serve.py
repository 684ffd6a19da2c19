"""`tvmq serve`: what is wrong is said before a server starts; worker processes answer, and count together."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits
from tvmq.integrations.serving.array_bodies import pack, unpack
from tvmq.integrations.serving.worker_processes import open_listening_socket

for package in ("starlette", "uvicorn"):
    pytest.importorskip(package, reason="an extra: pip install 'tvmq[serve]'")


@pytest.fixture(scope="module")
def path(tmp_path_factory, example):
    """A saved model with a dynamic batch, whose samples are apart."""
    mod, params = tvmq.from_onnx(linear_digits(example))
    qmod = tvmq.quantize(mod, params, example.test[:16], config=tvmq.qconfig(calibrate_mode="minmax"))
    path = tmp_path_factory.mktemp("served") / "digits.tvmq"
    tvmq.build(qmod).save(path)
    return path


def start_server(path, *, workers: int, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
    """A server in a process of its own, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tvmq", "serve", str(path), "--workers", str(workers), "--port", str(port), "-q"]
    return subprocess.Popen(command, env={**os.environ, **environment}), f"http://127.0.0.1:{port}"


def wait_for(server: subprocess.Popen[bytes], url: str) -> None:
    """Wait until a server answers, and ask it for its metrics."""
    for _ in range(300):
        try:
            assert json.load(urllib.request.urlopen(f"{url}/healthz")) == {"ready": True}
            urllib.request.urlopen(f"{url}/metrics").read()
            return
        except OSError:
            assert server.poll() is None
            time.sleep(0.1)


@pytest.mark.parametrize(("arguments", "message"), [
    (("none.tvmq",), "model: there is no file 'none.tvmq'; check the path"),
    (("here.onnx",), "'here.onnx' is a float model, and this takes a saved one: `tvmq quantize here.onnx --data ...` makes it"),
    (("{model}", "--sha256", "0" * 64), "it is not the file that was saved"),
])  # fmt: skip
def test_what_is_refused(cli, path, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.onnx").write_bytes(b"no model")
    monkeypatch.setattr("tvmq.tools.cli.serve.run_server", lambda *_: pytest.fail("it started"))
    result = cli("serve", *(word.format(model=path) for word in arguments))
    assert result.code == 1 and message in result.err and result.err.count("\n") == 1


def test_what_it_says_and_hands_on(cli, path, monkeypatch):
    seen = []
    monkeypatch.setattr("tvmq.tools.cli.serve.run_server", lambda *arguments: seen.append(arguments))
    result = cli("serve", path, "--workers", 4, "--port", 0, "--max-bytes", "1MB", "--json")
    settings, waiting, workers = seen[0]
    assert result.code == 0 and workers == 4 and waiting.proto == socket.IPPROTO_TCP  # see `open_listening_socket`
    assert (settings.name, settings.most_bytes, settings.as_json, settings.batch) == ("digits", 10**6, True, 16)
    assert "serving 'digits' on http://127.0.0.1:" in result.err
    assert "with 4 workers; requests share runs of up to 16" in result.err
    assert "each request runs alone" in cli("serve", path, "--port", 0, "--batch", 1).err
    assert cli("serve", path, "--port", 0, "-q").err == ""


def test_a_port_that_is_taken_is_a_sentence(cli, path):
    with open_listening_socket("127.0.0.1", 0) as taken:
        taken.listen()
        result = cli("serve", path, "--port", taken.getsockname()[1])
    assert result.code == 1 and "of '127.0.0.1' cannot be used (Address already in use); choose another by" in result.err
    assert cli("serve", path, "--host", "999.1.1.1").code == 1


@pytest.mark.slow
def test_workers_answer_and_count_together(path, example):
    server, url = start_server(path, workers=2)
    try:
        wait_for(server, url)
        begin = time.monotonic()
        for _ in range(50):
            urllib.request.urlopen(f"{url}/v2").read()
        assert time.monotonic() - begin < 50 * 0.03, "an answer waits for the word of its client"
        exact = tvmq.load(path).run({"image": example.test[:3]})[0]
        for _ in range(20):
            answer = urllib.request.urlopen(f"{url}/run", pack({"image": example.test[:3]})).read()
            assert unpack(answer)["scores"].tobytes() == exact.tobytes()
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(f"{url}/run", pack({"image": np.zeros(2)}))
        text = urllib.request.urlopen(f"{url}/metrics").read().decode()
        assert 'tvmq_requests_total{outcome="ok"} 20' in text and 'tvmq_requests_total{outcome="refused"} 1' in text
        assert "tvmq_samples_total 60" in text
    finally:
        server.terminate()
        assert server.wait(30) == 0


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_it_ends_as_it_is_told_to_and_leaves_nothing(path, tmp_path, name, workers):
    server, url = start_server(path, workers=workers, TMPDIR=str(tmp_path))
    try:
        wait_for(server, url)
        assert any(tmp_path.glob("tvmq_serve_*/*.counts"))
        server.send_signal(getattr(signal, name))
        assert server.wait(30) == 0
        assert not list(tmp_path.iterdir())
    finally:
        server.kill()
