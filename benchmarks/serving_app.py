"""The server of `tvmq serve` around a model of tvmq or, for comparison, of onnxruntime (serving.py).

    python benchmarks/serving_app.py model.tvmq --port 8000
    python benchmarks/serving_app.py model.onnx --port 8001 --workers 4

Both get the same routes, threads and processes: what differs is the runtime. One thread a run.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tvmq.base.hidden_torch import hidden_torch
from tvmq.integrations.serving.model_server import ENVIRONMENT, ModelService, ServerSettings, make_app
from tvmq.integrations.serving.server_metrics import ServerMetrics
from tvmq.integrations.serving.worker_processes import open_listening_socket, run_workers
from tvmq.runtime.inputs import TensorInfo


class OnnxruntimeModel:
    """An ONNX file by onnxruntime, with what a service asks of a model."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        self.input_info = [_info(one) for one in self.session.get_inputs()]
        self.output_info = [_info(one) for one in self.session.get_outputs()]

    def run(self, feed: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
        """A list of outputs."""
        return self.session.run(None, dict(feed))


def _info(tensor: Any) -> TensorInfo:
    kind = tensor.type.removeprefix("tensor(").removesuffix(")").replace("float16", "half")
    dtype = {"float": "float32", "double": "float64", "half": "float16"}.get(kind, kind)
    return TensorInfo(tensor.name, tuple(tensor.shape), dtype)


def load(path: Path) -> Any:
    """A model with run, input_info and output_info."""
    return OnnxruntimeModel(path) if path.suffix == ".onnx" else tvmq.load(path, num_threads=1)


def app() -> Any:
    """The application of a worker process."""
    settings = ServerSettings(**json.loads(os.environ[ENVIRONMENT]))
    with hidden_torch():
        return make_app(ModelService(load(Path(settings.model)), settings, ServerMetrics(Path(settings.counts))))


def main() -> None:
    """Command line; see the head of this file."""
    commands = argparse.ArgumentParser(description="A server of one model.")
    commands.add_argument("model", type=Path, help=".tvmq or, for comparison, .onnx")
    commands.add_argument("--host", default="127.0.0.1")
    commands.add_argument("--port", type=int, default=8000)
    commands.add_argument("--workers", type=int, default=1)
    options = commands.parse_args()
    with tempfile.TemporaryDirectory() as counts:
        ServerSettings(str(options.model.absolute()), counts=counts).to_environment()
        waiting, folder = open_listening_socket(options.host, options.port), str(Path(__file__).parent)
        run_workers(waiting, options.workers, factory="serving_app:app", folder=folder)


if __name__ == "__main__":
    main()
