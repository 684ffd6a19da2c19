"""Relay's options as options of tvmq: the one place where the two meet.

Everything that a Relay option leaves to its defaults is what Relay computed: symmetric codes, one scale for a whole
weight, 8-bit biases, fixed-point factors of float32 scales. `annotate_rules` brings layers that stay float.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from tvmq import config as ours
from tvmq.errors import ConfigError
from tvmq.relay.quantize.qconfig import QConfig, check
from tvmq.rules import Rule

MOST_BITS = 16
# Relay's operators and what they are in Relax, where the names differ
RELAX_NAMES: dict[str, tuple[str, ...]] = {
    "nn.dense": ("matmul",),
    "nn.batch_matmul": ("matmul",),
    "concatenate": ("concat",),
    "transpose": ("permute_dims",),
    "nn.batch_flatten": ("reshape", "flatten"),
    "nn.global_avg_pool2d": ("nn.adaptive_avg_pool2d", "mean"),
}


def to_tvmq(config: QConfig, rules: Sequence[Rule] = ()) -> ours.QConfig:
    """The options of tvmq that compute what these options of Relay meant.

    skip_conv_layers comes by `rules`, since Relay counted in another order
    raises  what `check` raises; ConfigError for a type or a number of bits that has no integers here

    >>> config = to_tvmq(QConfig(global_scale=4.0))
    >>> config.scheme, config.per_channel, config.nbit_bias, config.global_scale, config.weight_scale
    ('symmetric', False, 8, 4.0, 'power2')
    """
    check(config)
    _warn_of_what_has_no_effect(config)
    enabled = config.debug_enabled_ops
    return ours.qconfig.relay(
        nbit_input=config.nbit_input,
        nbit_weight=config.nbit_weight,
        nbit_bias=config.nbit_weight,
        dtype_input=_storage("input", config.nbit_input, config.dtype_input),
        dtype_weight=_storage("weight", config.nbit_weight, config.dtype_weight),
        calibrate_mode=config.calibrate_mode,
        global_scale=float(config.global_scale),
        weight_scale=config.weight_scale,
        skip_conv_layers=None,
        skip_dense_layer=bool(config.skip_dense_layer),
        do_simulation=bool(config.do_simulation),
        # a simulation is not split, there as here; Relay ignored the option then
        partition_conversions="disabled" if config.do_simulation else config.partition_conversions,
        debug_enabled_ops=None if enabled is None else tuple(relax for name in enabled for relax in relax_names(name)),
        rounding="UPWARD" if config.rounding == "UPWARD" else "TONEAREST",
        rules=tuple(rules),
    )


def relax_names(name: str) -> tuple[str, ...]:
    """The operators of Relax, without "relax.", that one of Relay became.

    >>> relax_names("nn.dense"), relax_names("nn.conv2d")
    (('matmul',), ('nn.conv2d',))
    """
    return RELAX_NAMES.get(str(name), (str(name),))


def _storage(operand: str, bits: int, dtype: str) -> str:
    """The type that holds the codes: the given one, or a wider one where Relay's codes overflowed."""
    if not isinstance(bits, int) or not 2 <= bits <= MOST_BITS or dtype not in ("int8", "uint8", "int16", "int32"):
        raise ConfigError(
            f"relay.quantize: codes have 2..{MOST_BITS} bits in int8 or int16. Got nbit_{operand}={bits}, "
            f"dtype_{operand}={dtype!r} instead; change these options"
        )
    chosen = "int16" if bits > 8 or dtype == "int16" else "int8"
    if chosen != dtype:
        warnings.warn(
            f"relay.quantize: dtype_{operand}={dtype!r} with {bits} bits, which Relay stored with overflow or as they "
            f"are not, is {chosen!r} here: codes are signed, and the type holds them",
            stacklevel=4,
        )
    return chosen


def _warn_of_what_has_no_effect(config: QConfig) -> None:
    if not config.round_for_shift:
        warnings.warn(
            "relay.quantize: round_for_shift=False has no effect: shifts round, as all requantizing here",
            stacklevel=4,
        )
    if (config.nbit_activation, config.dtype_activation) != (32, "int32"):
        warnings.warn(
            f"relay.quantize: sums have 32 bits here, not nbit_activation={config.nbit_activation} in "
            f"{config.dtype_activation!r}: none overflows",
            stacklevel=4,
        )
