"""The server of a model: routes, and what a request goes through.

    GET  /v2/models/NAME            inputs and outputs
    POST /v2/models/NAME/infer      KServe's JSON (inference_protocol.py)
    POST /run                       inputs by name as .npz; outputs by name as .npz
    POST /picture                   a .jpg, .png, ...: the five highest classes, of a model that keeps its preprocessing
    GET  /healthz, /v2/health/live, /v2/health/ready, /v2/models/NAME/ready
    GET  /metrics                   Prometheus (server_metrics.py)

What does not fit the model is answered by 400 and the sentence of the error, a body that is too long by 413. Starlette
is imported by those who make a server.

Tests: tests/integrations/serving/test_model_server.py
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.foreign_errors import needs_extra
from tvmq.base.hidden_torch import hidden_torch
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing
from tvmq.errors import DataError, TvmqError
from tvmq.integrations.serving import array_bodies
from tvmq.integrations.serving.inference_protocol import describe_model, read_request, write_response
from tvmq.integrations.serving.request_batches import RequestBatches, check_names, count_rows, has_apart_samples
from tvmq.integrations.serving.server_metrics import CONTENT_TYPE, ServerMetrics
from tvmq.runtime.highest_classes import highest_classes
from tvmq.runtime.load_model import load
from tvmq.runtime.sample_runs import count_samples, run_many
from tvmq.version import __version__

LOG = logging.getLogger("tvmq.serve")
ENVIRONMENT = "TVMQ_SERVE"  # settings of worker processes, as JSON


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server.

    model        path of a .tvmq file
    name         of the model in URLs
    threads      that a run may use
    batch        samples of a run that requests may share, where that keeps their bits; 1: none
    most_bytes   of a body
    sha256       of the file; another one is refused
    counts       folder of the counts that workers share; "": one of its own
    as_json      log each request as a line of JSON
    """

    model: str
    name: str = "model"
    threads: int = 1
    batch: int = 16
    most_bytes: int = array_bodies.MOST_BYTES
    sha256: str | None = None
    counts: str = ""
    as_json: bool = False

    def to_environment(self) -> None:
        """Leave the settings to the worker processes that are started from here."""
        os.environ[ENVIRONMENT] = json.dumps(asdict(self))


@dataclass
class ModelService:
    """A model and what a request to it goes through, apart from HTTP.

    model  with run, input_info and output_info: an Executable, or what stands in for one
    """

    model: Any
    settings: ServerSettings
    metrics: ServerMetrics = field(default_factory=ServerMetrics)

    def __post_init__(self) -> None:
        self.is_batched = self.settings.batch > 1 and has_apart_samples(self.model)
        self.batches = RequestBatches(self._run, self.settings.batch if self.is_batched else 1)

    def _run(self, feed: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
        """Run the model; several samples of one of a fixed batch of one run one by one."""
        inputs, outputs = self.model.input_info, self.model.output_info
        if count_samples(feed, inputs) is not None:
            return run_many(self.model.run, feed, inputs, outputs)
        results: Sequence[np.ndarray] = self.model.run(feed)
        return results

    async def run(self, feed: dict[str, np.ndarray]) -> Sequence[np.ndarray]:
        """Outputs of a request. raises DataError"""
        check_names(feed, self.model.input_info)
        results = await self.batches.run(feed)
        self.metrics.count_samples(count_rows(feed), self.batches.runs)
        return results

    async def run_arrays(self, body: bytes) -> bytes:
        """.npz -> .npz"""
        results = await self.run(array_bodies.unpack(body, self.settings.most_bytes))
        names = [info.name for info in self.model.output_info]
        return array_bodies.pack(dict(zip(names, results, strict=True)))

    async def infer(self, body: bytes) -> bytes:
        """KServe's JSON -> KServe's JSON"""
        feed, request = read_request(body)
        results = await self.run(feed)
        return write_response(self.settings.name, __version__, self.model.output_info, results, request)

    async def answer_picture(self, body: bytes) -> bytes:
        """The bytes of a picture -> JSON with its five highest classes."""
        preprocessing = getattr(self.model, "preprocessing", None)
        if not isinstance(preprocessing, PicturePreprocessing):
            raise DataError(
                "serve: the model keeps no preprocessing of pictures; quantize it with --data FOLDER, or send arrays "
                "to /run"
            )
        results = await self.run({preprocessing.frame.input: await asyncio.to_thread(preprocessing, body)})
        ranked = highest_classes(results[0], self.model.labels)
        if not ranked:
            raise DataError("serve: the model gives no scores of classes; send arrays to /run")
        return json.dumps({"top": [{"class": name, "score": score} for name, score in ranked[0]]}).encode()

    def describe(self) -> bytes:
        """Metadata of the model."""
        return json.dumps(
            describe_model(self.settings.name, __version__, self.model.input_info, self.model.output_info)
        ).encode()


def make_app(service: ModelService) -> Any:
    """The ASGI application of a service. raises ConfigError where Starlette is not installed"""
    with needs_extra("serve", "starlette", "serve"):
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route

    json_type, binary = "application/json", "application/octet-stream"
    name = service.settings.name

    def answer_posts(handle: Callable[[bytes], Awaitable[bytes]], media_type: str) -> Callable[[Any], Awaitable[Any]]:
        """The endpoint that answers a body."""

        async def endpoint(request: Any) -> Any:
            begin, status, why = time.perf_counter(), 200, ""
            try:
                content = await handle(await read_body(request, service.settings.most_bytes))
            except BodyTooLong as error:
                status, why = 413, str(error)
            except (TvmqError, ValueError) as error:
                status, why = 400, str(error)
            except Exception as error:
                LOG.exception("serve: a request failed")
                status, why = 500, f"serve: {type(error).__name__}: {error}"
            seconds = time.perf_counter() - begin
            service.metrics.count(status, seconds)
            if service.settings.as_json:
                line = {"path": request.url.path, "status": status, "seconds": round(seconds, 6), "pid": os.getpid()}
                print(json.dumps({**line, **({"error": why} if why else {})}), flush=True)
            if why:
                return Response(json.dumps({"error": why}), status, media_type=json_type)
            return Response(content, media_type=media_type)

        return endpoint

    def answer_always(content: Callable[[], bytes | str], media_type: str) -> Callable[[Any], Awaitable[Any]]:
        """The endpoint of something that needs no body."""

        async def endpoint(_request: Any) -> Any:
            return Response(content(), media_type=media_type)

        return endpoint

    server = json.dumps({"name": "tvmq", "version": __version__, "extensions": []})
    ready = answer_always(lambda: '{"ready": true}', json_type)
    routes = [
        Route("/run", answer_posts(service.run_arrays, binary), methods=["POST"]),
        Route("/picture", answer_posts(service.answer_picture, json_type), methods=["POST"]),
        Route(f"/v2/models/{name}/infer", answer_posts(service.infer, json_type), methods=["POST"]),
        Route(f"/v2/models/{name}", answer_always(service.describe, json_type)),
        Route("/v2", answer_always(lambda: server, json_type)),
        Route("/metrics", answer_always(service.metrics.text, CONTENT_TYPE)),
        *(Route(path, ready) for path in (
            "/healthz", "/v2/health/live", "/v2/health/ready", f"/v2/models/{name}/ready")),
    ]  # fmt: skip

    @asynccontextmanager
    async def until_the_end(_app: Any) -> AsyncIterator[None]:
        yield
        service.metrics.close()

    return Starlette(routes=routes, lifespan=until_the_end)


class BodyTooLong(Exception):
    """A body with more bytes than a server reads."""


async def read_body(request: Any, most_bytes: int) -> bytes:
    """The body of a request. raises BodyTooLong as soon as too much has come"""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most_bytes:
            raise BodyTooLong(f"serve: the body has more than {most_bytes} bytes")
    return bytes(body)


def load_service(settings: ServerSettings) -> ModelService:
    """The service of a saved model; errors are those of `tvmq.load`."""
    model = load(settings.model, sha256=settings.sha256, num_threads=settings.threads)
    return ModelService(model, settings, ServerMetrics(Path(settings.counts) if settings.counts else None))


def app_of_worker() -> Any:
    """The application of a worker process, with the settings of the process that started it."""
    with hidden_torch():
        return make_app(load_service(ServerSettings(**json.loads(os.environ[ENVIRONMENT]))))
