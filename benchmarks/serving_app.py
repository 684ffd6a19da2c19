"""A server of one model: FastAPI and uvicorn, arrays as .npz in and out.

    pip install 'tvmq[serve]'
    python benchmarks/serving_app.py model.tvmq --port 8000

    POST /run     inputs by name as .npz (np.savez); the outputs o0, o1, ... as .npz. 422 says what does not fit
    GET /model    inputs and outputs: name, shape, element type

A loaded model is safe to share: runs take turns, and each gives fresh arrays. They happen in threads of the server, so
that it reads the next request meanwhile. A .onnx file is run by onnxruntime, for comparison (serving.py).
"""

from __future__ import annotations

import argparse
import io
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

Feed = dict[str, np.ndarray]
Run = Callable[[Feed], Sequence[np.ndarray]]


def load(path: Path) -> tuple[Run, dict[str, list[str]]]:
    """A function that runs the model, and what it takes and gives."""
    if path.suffix == ".onnx":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        described = {"inputs": session.get_inputs(), "outputs": session.get_outputs()}
        names = {kind: [f"{one.name} {one.type}{one.shape}" for one in found] for kind, found in described.items()}
        return lambda feed: session.run(None, feed), names
    import tvmq

    exe = tvmq.load(path, num_threads=1)
    return exe.run, {"inputs": [*map(str, exe.input_info)], "outputs": [*map(str, exe.output_info)]}


def pack(arrays: Sequence[np.ndarray] | Feed) -> bytes:
    """Arrays as .npz."""
    file = io.BytesIO()
    np.savez(file, **(arrays if isinstance(arrays, dict) else {f"o{i}": array for i, array in enumerate(arrays)}))  # type: ignore[arg-type]
    return file.getvalue()


# NumPy reads a header by ast.literal_eval, which fails in threads of CPython 3.11 (python/cpython#106905)
_READING = threading.Lock()


MOST_BYTES = 64 * 2**20  # of a body, and of what it unpacks to: some MB claim GB


def unpack(data: bytes) -> Feed:
    """Arrays of .npz; nothing that is pickled.

    raises   ValueError for more than MOST_BYTES, before anything is inflated, and for what is no .npz
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= MOST_BYTES:
            with _READING, np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # of zipfile, zlib, NumPy, and of Python's parser, which reads NumPy's headers
        raise ValueError(f"the body is no .npz of arrays ({type(error).__name__}: {error})") from error
    raise ValueError(f"the arrays would take {size} bytes, at most {MOST_BYTES} are read")


async def body_of(request: Request) -> bytes:
    """The body of a request; 413 for more than MOST_BYTES, as soon as so many have come."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"the body has more than {MOST_BYTES} bytes")
    return bytes(body)


def app(path: Path) -> FastAPI:
    """The server of a model."""
    run, described = load(path)
    server = FastAPI(title=path.name, docs_url=None, redoc_url=None)  # both pages load scripts from elsewhere

    def answer(body: bytes) -> bytes:
        return pack(run(unpack(body)))

    async def run_model(request: Request) -> Response:
        try:
            result = await run_in_threadpool(answer, await body_of(request))
        except ValueError as error:  # a DataError is one: it names the input and what it should be
            raise HTTPException(422, str(error)) from error
        return Response(result, media_type="application/octet-stream")

    async def model() -> Any:
        return described

    # annotations are texts here, which FastAPI looks up among the names of this file
    server.add_api_route("/run", run_model, methods=["POST"])
    server.add_api_route("/model", model)
    return server


def main() -> None:
    """Command line; see the head of this file."""
    import uvicorn

    commands = argparse.ArgumentParser(description="A server of one model.")
    commands.add_argument("model", type=Path, help=".tvmq or, for comparison, .onnx")
    commands.add_argument("--host", default="127.0.0.1")
    commands.add_argument("--port", type=int, default=8000)
    options = commands.parse_args()
    uvicorn.run(app(options.model), host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
