"""tvm.contrib.download: TVM's."""

from __future__ import annotations

from typing import Any

from tvmq.relay.tvm.forward import forward


def __getattr__(name: str) -> Any:
    """TVM's names (PEP 562): download, download_testdata."""
    return forward("tvm.contrib.download", name)
