"""The routes of the server: what they answer, and to whom they say no."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tvmq
from tests.support.models.linear_digits import linear_digits
from tvmq.demo import load_demo
from tvmq.errors import ConfigError
from tvmq.integrations.serving.array_bodies import pack, unpack
from tvmq.integrations.serving.model_server import (
    ModelService,
    ServerSettings,
    app_of_worker,
    load_service,
    make_app,
)

pytest.importorskip("starlette", reason="an extra: pip install 'tvmq[serve]'")
pytest.importorskip("PIL.Image", reason="pillow is an extra: pip install 'tvmq[images]'")
COUNT = 100


@pytest.fixture(scope="module")
def example():
    return load_demo()


@pytest.fixture(scope="module")
def path(tmp_path_factory, example):
    """A saved model of one sample that keeps how pictures are prepared."""
    from tests.support.models.linear_digits import write_pictures

    folder = tmp_path_factory.mktemp("served")
    (folder / "digits.onnx").write_bytes(linear_digits(example))
    write_pictures(example, folder / "pictures", [f"{digit} of ten" for digit in range(10)], COUNT)
    options = {"config": tvmq.qconfig(calibrate_mode="minmax"), "bench": False, "pictures": {"normalize": "unit"}}
    tvmq.quantize_model(folder / "digits.onnx", folder / "pictures", **options).save(folder / "digits.tvmq")
    return folder / "digits.tvmq"


@pytest.fixture(scope="module")
def service(path):
    return load_service(ServerSettings(str(path), "digits"))


@pytest.fixture(scope="module")
def app(service):
    return make_app(service)


def ask(app, method: str, route: str, body: bytes = b"") -> tuple[int, bytes, str]:
    """Status, content and type of the answer."""
    sent: list[dict] = []
    scope = {"type": "http", "method": method, "path": route, "headers": [], "query_string": b"", "http_version": "1.1",
             "scheme": "http", "root_path": "", "server": ("here", 80), "client": ("here", 1)}  # fmt: skip

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    headers = dict(sent[0]["headers"])
    return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:]), headers[b"content-type"].decode()


def test_arrays(app, path, example):
    exe = tvmq.load(path)
    status, content, _ = ask(app, "POST", "/run", pack({"image": example.test[:1]}))
    assert status == 200
    assert unpack(content)["scores"].tobytes() == exe.run({"image": example.test[:1]})[0].tobytes()
    status, content, _ = ask(app, "POST", "/run", pack({"image": example.test[:5]}))
    assert status == 200 and unpack(content)["scores"].tobytes() == exe.run_many({"image": example.test[:5]})[0].tobytes()


def test_kserve(app, path, example):
    status, content, kind = ask(app, "GET", "/v2/models/digits")
    described = json.loads(content)
    assert (status, kind) == (200, "application/json")
    assert described["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [1, 1, 16, 16]}]
    tensor = {**described["inputs"][0], "data": example.test[0].ravel().tolist()}
    status, content, _ = ask(app, "POST", "/v2/models/digits/infer", json.dumps({"id": "7", "inputs": [tensor]}).encode())
    answer = json.loads(content)
    (output,) = answer["outputs"]
    exact = tvmq.load(path).run({"image": example.test[:1]})[0]
    assert status == 200 and answer["id"] == "7" and output["shape"] == [1, 10]
    assert np.float32(output["data"]).tobytes() == exact.tobytes()


def test_pictures(app, example):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.rint(255 * example.test[0, 0]).astype(np.uint8)).save(file, "PNG")
    status, content, _ = ask(app, "POST", "/picture", file.getvalue())
    top = json.loads(content)["top"]
    assert status == 200 and len(top) == 5 and top[0]["class"] == f"{example.labels[0]} of ten"
    assert [one["score"] for one in top] == sorted((one["score"] for one in top), reverse=True)
    status, content, _ = ask(app, "POST", "/picture", b"no picture")
    assert status == 400 and b"preprocessing: 10 bytes cannot be read as a picture" in content


@pytest.mark.parametrize(("route", "body", "message"), [
    ("/run", b"no arrays", "the body is no .npz"), ("/run", pack({"image": np.zeros((2, 2))}), "input 'image' has shape (2, 2)"),
    ("/run", pack({"picture": np.zeros(1)}), "input 'image' is missing; the model takes image"),
    ("/v2/models/digits/infer", b"{}", 'the request has no "inputs"'),
    ("/v2/models/digits/infer", b'{"inputs": [{"name": "image", "shape": [1], "datatype": "FP32", "data": [1]}]}', "has shape (1,)"),
])  # fmt: skip
def test_what_does_not_fit_is_answered_by_a_sentence(app, route, body, message):
    status, content, kind = ask(app, "POST", route, body)
    assert (status, kind) == (400, "application/json") and message in json.loads(content)["error"]


def test_health_and_metrics(app):
    for route in ("/healthz", "/v2/health/live", "/v2/health/ready", "/v2/models/digits/ready", "/v2"):
        assert ask(app, "GET", route)[0] == 200
    assert ask(app, "GET", "/v2/models/other")[0] == 404
    status, content, kind = ask(app, "GET", "/metrics")
    assert status == 200 and kind.startswith("text/plain") and b'tvmq_requests_total{outcome="ok"}' in content


def test_a_body_that_is_too_long(path, capsys):
    app = make_app(load_service(ServerSettings(str(path), most_bytes=1000, as_json=True)))
    status, content, _ = ask(app, "POST", "/run", bytes(1001))
    assert status == 413 and b"more than 1000 bytes" in content
    line = json.loads(capsys.readouterr().out)
    assert (line["path"], line["status"]) == ("/run", 413) and "more than" in line["error"]


def test_an_error_of_our_own_is_500_and_the_server_goes_on(service, monkeypatch):
    broken = SimpleNamespace(input_info=[], output_info=[], run=lambda feed: 1 / 0)
    app = make_app(ModelService(broken, service.settings))
    status, content, _ = ask(app, "POST", "/run", pack({}))
    assert status == 500 and b"ZeroDivisionError" in content
    assert ask(app, "GET", "/healthz")[0] == 200


def test_a_model_without_preprocessing_takes_no_pictures(service):
    bare = SimpleNamespace(input_info=service.model.input_info, output_info=service.model.output_info, run=service.model.run)
    status, content, _ = ask(make_app(ModelService(bare, service.settings)), "POST", "/picture", b"")
    assert status == 400 and b"keeps no preprocessing of pictures" in content


def test_workers_have_the_settings_of_the_command(path, tmp_path, monkeypatch, example):
    monkeypatch.setenv("TVMQ_SERVE", "")
    ServerSettings(str(path), "net", counts=str(tmp_path)).to_environment()
    app = app_of_worker()
    assert ask(app, "POST", "/run", pack({"image": example.test[:1]}))[0] == 200
    assert ask(app, "GET", "/v2/models/net")[0] == 200 and len(list(tmp_path.glob("*.counts"))) == 1


def test_without_starlette_the_line_for_pip_is_said(service, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "starlette"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=r'pip install "tvmq\[serve\]"'):
        make_app(service)
