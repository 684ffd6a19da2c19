"""relay.quantize on tvmq's passes: Relay's names, options, thresholds and scales.

    from tvmq import relay

    with relay.quantize.qconfig(calibrate_mode="kl_divergence", weight_scale="max"):
        qmod = relay.quantize.quantize(mod, params, dataset)

Scales, multipliers and shifts are Relay's, as thresholds.py and numerics/requantize.py define them. Rounding, and
where sums become codes, are tvmq's (docs/numbers.md). MIGRATING.md has a line for each name and option.

`relay.quantize.quantize` is the function, as it was; the module of that name is there for
`from tvmq.relay.quantize.quantize import ...`.
"""

from __future__ import annotations

import importlib

from tvmq.relay.quantize import _annotate, _calibrate
from tvmq.relay.quantize.quantize import *  # noqa: F403
from tvmq.relay.quantize.quantize import __all__ as _NAMES

_partition, _partition_conversions, kl_divergence = (
    importlib.import_module(f"{__name__}.{name}") for name in ("_partition", "_partition_conversions", "kl_divergence")
)

__all__ = [*_NAMES, "_annotate", "_calibrate", "_partition", "_partition_conversions", "kl_divergence"]
