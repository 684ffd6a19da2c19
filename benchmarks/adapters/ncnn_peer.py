"""ncnn: float32 by its converter (pnnx), and int8: convolutions and dense layers as its quantizer writes them.

ncnn's wheels have no quantizer (ncnn2table, ncnn2int8 are programs of its releases), so ncnn_int8.py writes the same
file: weights a scale a channel, activations a scale a tensor, codes between layers that both take them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import ncnn
import numpy as np
from ncnn_int8 import Network, quantize
from serve import Job, Make

PNNX = Path(metadata.distribution("pnnx").locate_file("pnnx/pnnx"))  # the script of that name asks for torch


def version() -> str:
    """ncnn and its version."""
    return f"ncnn {ncnn.__version__}"


def prepare(job: Job) -> dict[str, Make]:
    """Convert; quantize, load."""
    stem = job.folder / "model"
    sizes = ",".join(str(list(array.shape)).replace(" ", "") + _kind(array) for array in job.feed.values())
    command = [PNNX, job.model.resolve(), "fp16=0", f"inputshape={sizes}"]
    outputs = [f"{key}={stem}.{ending}" for key, ending in FILES.items()]
    done = subprocess.run([*command, *outputs], capture_output=True, text=True, check=False)
    if not Path(f"{stem}.param").exists():
        raise RuntimeError(f"pnnx: {(done.stderr.splitlines() or [done.returncode])[-1]}")
    return {"ncnn f32": lambda: load(stem, job), "ncnn int8": lambda: load(_quantized(stem, job), job)}


def _quantized(stem: Path, job: Job) -> Path:
    network = Network.read(stem)
    bottoms = {layer.bottom for layer in network.int8_layers()}
    quantize(network, _largest(stem, job, sorted(bottoms))).write(job.folder / "int8")
    return job.folder / "int8"


FILES = {
    "ncnnparam": "param", "ncnnbin": "bin", "ncnnpy": "ncnn.py", "pnnxparam": "pnnx.param", "pnnxbin": "pnnx.bin",
    "pnnxpy": "pnnx.py", "pnnxonnx": "pnnx.onnx",
}  # fmt: skip


def _kind(array: np.ndarray) -> str:
    return {"float32": "f32", "int64": "i64"}[str(array.dtype)]


def _inputs(feed: dict[str, np.ndarray]) -> list[ncnn.Mat]:
    """ncnn's tensors have no axis of samples."""
    arrays = (array[0].astype(np.int32 if array.dtype == np.int64 else np.float32) for array in feed.values())
    return [ncnn.Mat(array).clone() for array in arrays]


def _net(stem: Path, threads: int) -> ncnn.Net:
    net = ncnn.Net()
    net.opt.num_threads = threads
    if net.load_param(f"{stem}.param") or net.load_model(f"{stem}.bin"):
        raise RuntimeError(f"ncnn cannot load {stem.name}.param")
    return net


def load(stem: Path, job: Job) -> Callable[[], np.ndarray]:
    """A run on the first sample."""
    net, inputs = _net(stem, job.threads), _inputs(job.feed)

    def run() -> np.ndarray:
        return extract(net, inputs, "out0")

    return run


def extract(net: ncnn.Net, inputs: list[ncnn.Mat], *names: str) -> np.ndarray:
    """The last of the named tensors."""
    extractor = net.create_extractor()
    for number, value in enumerate(inputs):
        extractor.input(f"in{number}", value)
    for name in names:
        status, value = extractor.extract(name)
        if status:
            raise RuntimeError(f"ncnn gives no {name}: {status}")
    return np.array(value)


def _largest(stem: Path, job: Job, names: list[str]) -> dict[str, float]:
    """The largest magnitude of tensors over the samples."""
    net = _net(stem, job.threads)
    net.opt.lightmode = False
    found = dict.fromkeys(names, 0.0)
    for feed in job.feeds:
        inputs = _inputs(feed)
        for name in names:
            found[name] = max(found[name], float(np.abs(extract(net, inputs, name)).max()))
    return found
