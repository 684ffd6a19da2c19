"""torch: PT2E quantization for x86 (torchao), compiled by inductor with frozen weights; float32 compiled likewise."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import torch
import torch._inductor.config
from onnx_torch import read_module
from serve import Job, Make
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer

AVX2_BITS = 256
Feed = tuple[torch.Tensor, ...]


def version() -> str:
    """torch, torchao and their versions."""
    return f"torch {torch.__version__} torchao {metadata.version('torchao')}"


def prepare(job: Job) -> dict[str, Make]:
    """Export; quantize, compile."""
    set_up(job)
    feeds = read_feeds(job)
    return {
        "inductor f32": lambda: compiled(exported(job.model, feeds[0]), feeds[0]),
        "inductor int8": lambda: compiled(quantized(job.model, feeds), feeds[0]),
    }


def set_up(job: Job) -> None:
    """Threads, frozen weights, and the vectors that inductor may use."""
    torch.set_num_threads(job.threads)
    torch._inductor.config.freezing = True
    torch._inductor.config.cpp.enable_kernel_profile = False
    if job.level:
        torch._inductor.config.cpp.simdlen = AVX2_BITS


def read_feeds(job: Job) -> list[Feed]:
    """The samples as torch has them."""
    return [tuple(torch.from_numpy(array) for array in feed.values()) for feed in job.feeds]


def exported(model: Path, feed: Feed) -> torch.nn.Module:
    """The float model."""
    return torch.export.export(read_module(model), feed, strict=True).module()


def quantized(model: Path, feeds: list[Feed]) -> torch.nn.Module:
    """Quantize by PT2E with the defaults of the quantizer for x86."""
    quantizer = x86_inductor_quantizer.X86InductorQuantizer()
    quantizer.set_global(x86_inductor_quantizer.get_default_x86_inductor_quantization_config())
    with torch.no_grad():
        observed = prepare_pt2e(exported(model, feeds[0]), quantizer)
        for feed in feeds:
            observed(*feed)
        return convert_pt2e(observed)


def compiled(module: torch.nn.Module, feed: Feed, backend: str = "inductor") -> Callable[[], np.ndarray]:
    """A run on the feed."""
    fast = torch.compile(module, backend=backend)

    def run() -> np.ndarray:
        with torch.no_grad():
            output: np.ndarray = fast(*feed)[0].numpy()
        return output

    run()
    return run
