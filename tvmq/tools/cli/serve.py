"""`tvmq serve`: a saved model as an HTTP service.

Tests: tests/tools/cli/test_serve.py
"""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tvmq
from tvmq.tools.cli.arguments import Json, MaxBytes, Quiet
from tvmq.tools.cli.console import notice
from tvmq.tools.cli.extras import check_extra
from tvmq.tools.cli.files import refuse_float_model
from tvmq.tools.cli.model import check_model

if TYPE_CHECKING:
    from tvmq.integrations.serving.model_server import ServerSettings


def serve(
    model: Path, *, host: str = "127.0.0.1", port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(min=1)] = 1, threads: Annotated[int, typer.Option(min=1)] = 1,
    batch: Annotated[int, typer.Option(min=1)] = 16, name: str | None = None, max_bytes: MaxBytes = None,
    sha256: str | None = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Serve a saved model over HTTP: KServe's protocol in JSON, arrays as .npz, pictures; health and metrics.

    POST /v2/models/NAME/infer, /run (.npz) and /picture (.jpg, .png); GET /healthz and /metrics. docs/serving.md has an
    example of each. Anybody who reaches the port can use the model: put a proxy that knows your users before it.
    Needs tvmq[serve].

    Example: tvmq serve resnet18.tvmq --workers 4

    Example: tvmq serve resnet18.tvmq --host 0.0.0.0 --port 80

    host       Address to listen on.
    port       Port to listen on; 0: one that is free.
    workers    Processes, each with the model in its memory. As many as there are cores is a good begin.
    threads    Threads of a run.
    batch      Requests that wait at the same time share runs of so many samples, of models with a dynamic batch whose
               samples are proved to be apart: the answers have the same bits. 1: never.
    name       Name of the model in URLs. Default: the name of the file.
    max_bytes  Refuse bodies of more bytes. Default: 64MiB
    as_json    Log each request as one JSON object on stdout.
    """
    refuse_float_model(model)
    check_model(model, saved=True)
    check_extra("serve", "starlette", "on which the server stands", "serve")
    check_extra("serve", "uvicorn", "which runs the server", "serve")
    from tvmq.integrations.serving.array_bodies import MOST_BYTES
    from tvmq.integrations.serving.model_server import ServerSettings
    from tvmq.integrations.serving.request_batches import has_apart_samples
    from tvmq.integrations.serving.worker_processes import open_listening_socket

    exe = tvmq.load(model, sha256=sha256)  # what is wrong with the file is said once, not by each worker
    waiting = open_listening_socket(host, port)
    with waiting, tempfile.TemporaryDirectory(prefix="tvmq_serve_") as counts:
        settings = ServerSettings(
            str(model.absolute()), name or model.stem, threads, batch, max_bytes or MOST_BYTES, sha256, counts, as_json
        )
        if not quiet:
            is_batched = batch > 1 and has_apart_samples(exe)
            shared = f"requests share runs of up to {batch} samples" if is_batched else "each request runs alone"
            place = f"http://{host}:{waiting.getsockname()[1]}"
            notice(f"serving '{settings.name}' on {place} with {workers} workers; {shared}")
        run_server(settings, waiting, workers)


def run_server(settings: ServerSettings, waiting: socket.socket, workers: int) -> None:
    """Run worker processes until they are told to stop."""
    from tvmq.integrations.serving.worker_processes import run_workers

    settings.to_environment()
    run_workers(waiting, workers)
