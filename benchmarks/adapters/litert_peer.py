"""LiteRT: float32, and int8 by ai-edge-quantizer (static, per channel, 8-bit activations), both with XNNPACK.

The model goes through torch (onnx_torch.py) and litert-torch, inputs and outputs in the order of ONNX.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import litert_torch
import numpy as np
import torch
from ai_edge_litert.interpreter import Interpreter
from ai_edge_quantizer import quantizer, recipe
from onnx_torch import read_module
from serve import Job, Make


def version() -> str:
    """LiteRT, its quantizer and their versions."""
    return f"LiteRT {metadata.version('ai-edge-litert')} quantizer {metadata.version('ai-edge-quantizer')}"


def prepare(job: Job) -> dict[str, Make]:
    """Convert; quantize, load."""
    floats, int8 = job.folder / "float.tflite", job.folder / "int8.tflite"
    feed = tuple(torch.from_numpy(array) for array in job.feed.values())
    litert_torch.convert(read_module(job.model), feed).export(str(floats))

    def quantized() -> Callable[[], np.ndarray]:
        _quantize(floats, int8, job)
        return _load(int8, job)

    return {"litert f32": lambda: _load(floats, job), "litert int8": quantized}


def _names(interpreter: Interpreter) -> list[str]:
    """Names of the inputs of the one signature."""
    (signature,) = interpreter.get_signature_list().values()
    return sorted(signature["inputs"])


def _quantize(floats: Path, int8: Path, job: Job) -> None:
    """Write the int8 model."""
    interpreter = Interpreter(str(floats))
    (key,) = interpreter.get_signature_list()
    narrow = ([_narrow(array) for array in feed.values()] for feed in job.feeds)
    samples = [dict(zip(_names(interpreter), arrays, strict=True)) for arrays in narrow]
    tool = quantizer.Quantizer(str(floats), recipe.static_wi8_ai8())
    tool.quantize(tool.calibrate({key: samples})).export_model(str(int8))


def _narrow(array: np.ndarray) -> np.ndarray:
    """Numbers of words are int32 in LiteRT."""
    return array.astype(np.int32) if array.dtype == np.int64 else array


def _load(path: Path, job: Job) -> Callable[[], np.ndarray]:
    """Load a run on the first sample, which is already in the interpreter's tensors, as codes where it takes codes."""
    interpreter = Interpreter(str(path), num_threads=job.threads)
    interpreter.allocate_tensors()
    details = sorted(interpreter.get_input_details(), key=lambda detail: detail["name"])  # as `_names` has them
    for detail, array in zip(details, job.feed.values(), strict=True):
        interpreter.set_tensor(detail["index"], _as_codes(array, detail))
    detail = interpreter.get_output_details()[0]
    scale, zero_point = detail["quantization"] if detail["dtype"] == np.int8 else (1.0, 0)

    def run() -> np.ndarray:
        interpreter.invoke()
        value: np.ndarray = (interpreter.get_tensor(detail["index"]).astype(np.float32) - zero_point) * scale
        return value

    return run


def _as_codes(array: np.ndarray, detail: dict[str, Any]) -> np.ndarray:
    """The array in the type of an input."""
    if detail["dtype"] != np.int8:
        return _narrow(array)
    scale, zero_point = detail["quantization"]
    codes: np.ndarray = np.clip(np.rint(array / scale) + zero_point, -128, 127).astype(np.int8)
    return codes
