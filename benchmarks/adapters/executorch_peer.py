"""ExecuTorch with XNNPACK: float32, and int8 by its PT2E quantizer, symmetric per channel."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings import portable_lib
from onnx_torch import read_module
from serve import Job, Make
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

Feed = tuple[torch.Tensor, ...]


def version() -> str:
    """ExecuTorch and its version."""
    return f"executorch {metadata.version('executorch')}"


def prepare(job: Job) -> dict[str, Make]:
    """Export, quantize, lower, load."""
    if hasattr(portable_lib, "_reset_threadpool"):
        portable_lib._reset_threadpool(job.threads)
    elif hasattr(portable_lib, "_unsafe_reset_threadpool"):
        portable_lib._unsafe_reset_threadpool(job.threads)
    feeds = [tuple(torch.from_numpy(array) for array in feed.values()) for feed in job.feeds]
    return {
        "executorch f32": lambda: _load(read_module(job.model), feeds[0], job.folder / "float.pte"),
        "executorch int8": lambda: _load(_quantized(job.model, feeds), feeds[0], job.folder / "int8.pte"),
    }


def _quantized(model: Path, feeds: list[Feed]) -> torch.nn.Module:
    module = torch.export.export(read_module(model), feeds[0], strict=True).module()
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    with torch.no_grad():
        observed = prepare_pt2e(module, quantizer)
        for feed in feeds:
            observed(*feed)
        return convert_pt2e(observed)


def _load(module: torch.nn.Module, feed: Feed, path: Path) -> Callable[[], np.ndarray]:
    """A run on the feed."""
    edge = to_edge_transform_and_lower(torch.export.export(module, feed), partitioner=[XnnpackPartitioner()])
    path.write_bytes(edge.to_executorch().buffer)
    loaded = portable_lib._load_for_executorch(str(path))
    return lambda: loaded.forward(list(feed))[0].numpy()
