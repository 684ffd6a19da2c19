"""OpenVINO, in float and in int8 by NNCF, as another side of our tables.

int8: `nncf.quantize` of the ONNX file, default preset, subset of 300, model type transformer where it is one.
Precision "f32" keeps the float parts in float32; "" leaves OpenVINO its default, bfloat16 where the CPU has it.
Quantized models are cached by the contents of model and data and by the versions.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness.networks import Network
from harness.onnxruntime_peer import digest
from harness.zoo import Feed

SUBSET = 300


def available() -> bool:
    """True where OpenVINO can be imported."""
    try:
        import openvino  # noqa: F401
    except ImportError:
        return False
    return True


def int8_model(network: Network, cache: Path) -> Path | None:
    """The model quantized by NNCF, from the cache where it is there; None where NNCF is missing or refuses it."""
    try:
        os.environ.setdefault("NNCF_DISABLE_TELEMETRY", "1")
        import nncf
        import openvino
    except ImportError:
        return None
    settings = f"nncf {nncf.__version__} openvino {openvino.__version__} default {network.is_transformer}"
    out = cache / f"{network.path.stem}.{digest(network.path, network.feeds, settings)}.nncf.xml"
    if not out.exists():
        cache.mkdir(parents=True, exist_ok=True)
        nncf.set_log_level(logging.ERROR)
        kind = {"model_type": nncf.ModelType.TRANSFORMER} if network.is_transformer else {}
        data = nncf.Dataset([dict(feed) for feed in network.feeds])
        with contextlib.redirect_stdout(io.StringIO()):
            model = nncf.quantize(openvino.Core().read_model(network.path), data, subset_size=SUBSET, **kind)
        partial = out.with_name(f"partial.{out.name}")
        openvino.save_model(model, partial, compress_to_fp16=False)
        partial.with_suffix(".bin").rename(out.with_suffix(".bin"))
        partial.rename(out)
    return out


def session(model: Path, feed: Feed, precision: str = "f32", threads: int = 1) -> Callable[[], Any]:
    """A call of the compiled model on this feed, whose tensors it keeps."""
    import openvino

    core = openvino.Core()
    loaded = core.read_model(model)
    shapes = {port.any_name: list(feed[port.any_name].shape) for port in loaded.inputs}
    if loaded.is_dynamic():
        loaded.reshape(shapes)
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
    if precision:
        settings["INFERENCE_PRECISION_HINT"] = precision
    compiled = core.compile_model(loaded, "CPU", settings)
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        request.set_tensor(port, openvino.Tensor(np.ascontiguousarray(feed[port.any_name])))
    run: Callable[[], Any] = request.infer
    return run
