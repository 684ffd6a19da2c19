"""Relay's temporary expressions, as registered rules see them: an expression and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmq.relay.quantize.kinds import QAnnotateKind


@dataclass(frozen=True, eq=False)
class QAnnotateExpr:
    """An expression that will hold codes, or sums, and its kind."""

    expr: Any
    kind: int = QAnnotateKind.ACTIVATION

    def realize(self) -> Any:
        """The expression itself.

        >>> QAnnotateExpr("x").realize()
        'x'
        """
        return self.expr


@dataclass(frozen=True, eq=False)
class QPartitionExpr:
    """An expression whose integers go to memory."""

    expr: Any

    def realize(self) -> Any:
        """The expression itself: codes go to memory wherever a layer reads codes.

        >>> QPartitionExpr("x").realize()
        'x'
        """
        return self.expr
