"""MNN: float32, and int8 by its offline quantizer with EMA ranges, its asymmetric method.

KL, the quantizer's default, ends the process on networks of ours. The converter and the quantizer are called as
functions: the commands of the same names send statistics to their maker and install packages for that.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import _tools
import MNN
import numpy as np
from MNN import expr, nn
from serve import Job, Make


def version() -> str:
    """MNN and its version."""
    return f"MNN {MNN.version()}"


def prepare(job: Job) -> dict[str, Make]:
    """Convert; quantize, load."""
    floats, int8 = job.folder / "float.mnn", job.folder / "int8.mnn"
    _tools.mnnconvert(
        ["mnnconvert", "-f", "ONNX", "--modelFile", str(job.model), "--MNNModel", str(floats), "--bizCode", "peer"]
    )

    def quantized() -> Callable[[], np.ndarray]:
        config = job.folder / "config.json"
        config.write_text(json.dumps(_settings(job)))
        _tools.mnnquant(["mnnquant", str(floats), str(int8), str(config)])
        return _load(int8, job)

    return {"mnn f32": lambda: _load(floats, job), "mnn int8": quantized}


def _settings(job: Job) -> dict[str, object]:
    """The quantizer's settings; writes each sample as a folder of texts, as it asks."""
    shapes = [{"name": name, "shape": list(array.shape)} for name, array in job.feed.items()]
    for number, feed in enumerate(job.feeds):
        folder = job.folder / "samples" / f"{number:05d}"
        folder.mkdir(parents=True)
        (folder / "input.json").write_text(json.dumps({"inputs": shapes}))
        for name, array in feed.items():
            np.savetxt(folder / f"{name}.txt", array.ravel(), fmt="%.8g")
    return {
        "path": f"{job.folder / 'samples'}/",
        "used_sample_num": len(job.feeds),
        "input_type": "sequence",
        **{"format": "RGB", "mean": [0, 0, 0], "normal": [1, 1, 1], "width": 1, "height": 1},  # random where missing
        "inputs": shapes,
        "feature_quantize_method": "EMA",
        "weight_quantize_method": "MAX_ABS",
        "batch_size": 1,
        "quant_bits": 8,
    }


def _load(path: Path, job: Job) -> Callable[[], np.ndarray]:
    """Load a run on the first sample, whose inputs are already in MNN's tensors."""
    if not path.exists():
        raise RuntimeError(f"MNN wrote no {path.name}")
    manager = nn.create_runtime_manager(({"backend": "CPU", "precision": "normal", "numThread": job.threads},))
    net = nn.load_module_from_file(str(path), list(job.feed), [], runtime_manager=manager, shape_mutable=False)
    inputs = []
    for array in job.feed.values():
        kind = expr.float if array.dtype == np.float32 else expr.int
        value = expr.placeholder(list(array.shape), expr.NCHW, kind)
        value.write(array if kind == expr.float else array.astype(np.int32))
        inputs.append(value)
    return lambda: np.array(net.forward(inputs)[0].read())
