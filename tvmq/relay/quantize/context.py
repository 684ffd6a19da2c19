"""relay.quantize.QuantizeContext: the counters that Relay's annotate rules looked at.

Rules given by `register_annotate_function` get it as their last argument. Relay's own rule of the global average pool
called `stop_quantize`; none of ours does.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, ClassVar

from tvmq.relay.quantize.qconfig import current_qconfig


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
