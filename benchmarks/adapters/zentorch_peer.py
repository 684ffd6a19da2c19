"""zentorch, AMD's backend of torch.compile (ZenDNN): float32, and int8 by PT2E with the quantizer for x86."""

from __future__ import annotations

from importlib import metadata

import inductor_peer
import zentorch  # noqa: F401  (registers the backend)
from serve import Job, Make


def version() -> str:
    """zentorch and its version."""
    return f"zentorch {metadata.version('zentorch')} {inductor_peer.version()}"


def prepare(job: Job) -> dict[str, Make]:
    """Export; quantize, compile with its backend."""
    inductor_peer.set_up(job)
    feeds = inductor_peer.read_feeds(job)
    model = job.model
    return {
        "zentorch f32": lambda: inductor_peer.compiled(inductor_peer.exported(model, feeds[0]), feeds[0], "zentorch"),
        "zentorch int8": lambda: inductor_peer.compiled(inductor_peer.quantized(model, feeds), feeds[0], "zentorch"),
    }
