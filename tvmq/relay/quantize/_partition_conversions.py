"""relay.quantize.partition_conversions: conversions at the border split off the integer core."""

from __future__ import annotations

from collections.abc import Collection

import tvm

from tvmq.errors import IntegralError
from tvmq.passes.integrality import integrality
from tvmq.passes.partition_conversions import partition_conversions as split
from tvmq.relay.passes import like
from tvmq.relay.quantize.stages import plain_module


class NotIntegral(IntegralError, AssertionError):
    """A core that was to be integers only has floats; an AssertionError as of old, which had no message."""


def partition_conversions(
    mod: tvm.IRModule, quantized_dtypes: Collection[str] = (), ensure_fully_integral: bool = False
) -> tvm.IRModule:
    """The realized module as quantize_inputs, quantized_main, dequantize_outputs and a main that calls them.

    quantized_dtypes  ignored: the codes of a module are known
    raises            NotIntegral, with a line for each float operator, where ensure_fully_integral finds one
    """
    split_from = plain_module(mod)
    found = integrality(split_from)
    if ensure_fully_integral and not found.is_integral:
        raise NotIntegral(
            f"relay.quantize: {found}; 'fully_integral' allows no float:\n  " + "\n  ".join(found.reasons())
        )
    return like(mod, split(split_from))
