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
from serve import Job


def version() -> str:
    """LiteRT, its quantizer and their versions."""
    return f"LiteRT {metadata.version('ai-edge-litert')} quantizer {metadata.version('ai-edge-quantizer')}"


def prepare(job: Job) -> dict[str, Callable[[], np.ndarray]]:
    """Convert, quantize, load both."""
    floats, int8 = job.folder / "float.tflite", job.folder / "int8.tflite"
    feed = tuple(torch.from_numpy(array) for array in job.feed.values())
    litert_torch.convert(read_module(job.model), feed).export(str(floats))
    _quantize(floats, int8, job)
    return {"litert f32": _load(floats, job), "litert int8": _load(int8, job)}


def _names(interpreter: Interpreter) -> list[str]:
    """Names of the inputs of the one signature."""
    (signature,) = interpreter.get_signature_list().values()
    return sorted(signature["inputs"])


def _quantize(floats: Path, int8: Path, job: Job) -> None:
    """Write the int8 model."""
    interpreter = Interpreter(str(floats))
    (key,) = interpreter.get_signature_list()
    samples = [dict(zip(_names(interpreter), feed.values(), strict=True)) for feed in job.feeds]
    tool = quantizer.Quantizer(str(floats), recipe.static_wi8_ai8())
    tool.quantize(tool.calibrate({key: samples})).export_model(str(int8))


def _load(path: Path, job: Job) -> Callable[[], np.ndarray]:
    """A run on the first sample, which stands in the interpreter's tensors, as codes where it asks for codes."""
    interpreter = Interpreter(str(path), num_threads=job.threads)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), job.feed.values(), strict=True):
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
        return array
    scale, zero_point = detail["quantization"]
    codes: np.ndarray = np.clip(np.rint(array / scale) + zero_point, -128, 127).astype(np.int8)
    return codes
