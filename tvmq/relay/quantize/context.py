"""relay.quantize.QuantizeContext: the counters that Relay's annotate rules looked at.

Rules given by `register_annotate_function` get it as their last argument. Relay's own rule of the global average pool
called `stop_quantize`; none of ours does.

relay.quantize.register_annotate_function and register_partition_function, as far as they mean anything here.

Relay's rules built the quantized graph piece by piece. Here families of operators do (passes/families), and a rule can
say one thing: that an operator stays float. So a rule of annotate is called for each call of its operator, in Relay's
order, and where it returns None the layer stays float. A rule of partition is kept and not called.

Relay's temporary expressions, as registered rules see them: an expression and what is known of it.

Tests: tests/relay/quantize/test_quantize.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar

from tvmq.relay.quantize.qconfig import QAnnotateKind, current_qconfig


class QuantizeContext:
    """Counts convolutions, and remembers whether quantizing was stopped.

    >>> with quantize_context() as context:
    ...     context.stop_quantize()
    ...     context.check_to_skip(None)
    True
    """

    Current: ClassVar[QuantizeContext | None] = None

    def __init__(self) -> None:
        self.qnode_map: dict[Any, Any] = {}
        self._conv2d_counter = 0
        self._stop_quantize = False

    def check_to_skip(self, ref_call: Any) -> bool:
        """True behind `stop_quantize`, and for the nn.conv2d whose number stands in skip_conv_layers; counts them."""
        if self._stop_quantize:
            return True
        skipped = current_qconfig().skip_conv_layers
        if skipped is None or str(ref_call.op.name).removeprefix("relax.") != "nn.conv2d":
            return False
        self._conv2d_counter += 1
        return self._conv2d_counter - 1 in list(skipped)

    def stop_quantize(self) -> None:
        """Operators after this one stay float."""
        self._stop_quantize = True

    @property
    def is_stopped(self) -> bool:
        """True behind `stop_quantize`."""
        return self._stop_quantize

    def reset(self) -> None:
        """Back to the state of the beginning."""
        self.__init__()  # type: ignore[misc]

    def __enter__(self) -> QuantizeContext:
        self.reset()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.qnode_map.clear()  # Relay kept all graphs for the life of the process


def quantize_context() -> QuantizeContext:
    """The one context of the process; entering it begins anew."""
    if QuantizeContext.Current is None:
        QuantizeContext.Current = QuantizeContext()
    return QuantizeContext.Current


Rewrite = Callable[[Any, list[Any], Any], Any]
ANNOTATE: dict[str, Rewrite] = {}
PARTITION: dict[str, Rewrite] = {}


def register_annotate_function(op_name: str, frewrite: Rewrite | None = None, level: int = 10) -> Any:
    """Register frewrite(ref_call, new_args, ctx) for an operator, or give the decorator that does.

    op_name   Relay's name or Relax's ("nn.dense", "nn.conv2d")
    frewrite  ref_call is the call of Relax, new_args are its arguments, ctx the QuantizeContext; None: the layer stays
              float, all else: as tvmq quantizes it. Registering None takes a rule away only by `ANNOTATE.pop`
    level     without effect: the last rule of an operator counts

    >>> @register_annotate_function("nn.conv1d")
    ... def never(ref_call, new_args, ctx):
    ...     return None
    >>> ANNOTATE.pop("nn.conv1d") is never
    True
    """
    return _register_rule(ANNOTATE, op_name, frewrite)


def register_partition_function(op_name: str, frewrite: Rewrite | None = None, level: int = 10) -> Any:
    """Keep a rule of partition, with a warning: what becomes integers is decided by passes/partition/ and Rules."""
    warnings.warn(
        f"relay.quantize.register_partition_function: the rule of '{op_name}' is not called; which layers become "
        "integers is said by tvmq.Rule, or by register_annotate_function with a rule that returns None",
        stacklevel=2,
    )
    return _register_rule(PARTITION, op_name, frewrite)


def _register_rule(table: dict[str, Rewrite], op_name: str, frewrite: Rewrite | None) -> Any:
    def register(rule: Rewrite) -> Rewrite:
        table[str(op_name)] = rule
        return rule

    return register if frewrite is None else register(frewrite)


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
