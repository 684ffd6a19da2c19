"""Softmax in our own float definition."""

from __future__ import annotations

from tvmq.codegen.fusion import Chain
from tvmq.codegen.lower import Lowerer


def lower(_lowerer: Lowerer, _chain: Chain) -> bool:
    """The operator's own legalization is exact."""
    return False
