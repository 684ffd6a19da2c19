"""torch: PT2E quantization for x86 (torchao), compiled by inductor with frozen weights; float32 compiled likewise."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

import numpy as np
import torch
import torch._inductor.config
from onnx_torch import read_module
from serve import Job
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer


def version() -> str:
    """torch, torchao and their versions."""
    return f"torch {torch.__version__} torchao {metadata.version('torchao')}"


def prepare(job: Job) -> dict[str, Callable[[], np.ndarray]]:
    """Export, quantize, compile both."""
    torch.set_num_threads(job.threads)
    torch._inductor.config.freezing = True
    torch._inductor.config.cpp.enable_kernel_profile = False
    feeds = [tuple(torch.from_numpy(array) for array in feed.values()) for feed in job.feeds]
    with torch.no_grad():
        floats = torch.export.export(read_module(job.model), feeds[0], strict=True).module()
        quantizer = x86_inductor_quantizer.X86InductorQuantizer()
        quantizer.set_global(x86_inductor_quantizer.get_default_x86_inductor_quantization_config())
        observed = prepare_pt2e(floats, quantizer)
        for feed in feeds:
            observed(*feed)
        int8 = convert_pt2e(observed)
        floats = torch.export.export(read_module(job.model), feeds[0], strict=True).module()
        return {"inductor f32": _compile(floats, feeds[0]), "inductor int8": _compile(int8, feeds[0])}


def _compile(module: torch.nn.Module, feed: tuple[torch.Tensor, ...]) -> Callable[[], np.ndarray]:
    """A run on the feed."""
    compiled = torch.compile(module)

    def run() -> np.ndarray:
        with torch.no_grad():
            output: np.ndarray = compiled(*feed)[0].numpy()
        return output

    run()
    return run
