"""relay.quantize._partition: the names that scripts import from there."""

from __future__ import annotations

from tvmq.relay.quantize.temporaries import QPartitionExpr

__all__ = ["QPartitionExpr"]
