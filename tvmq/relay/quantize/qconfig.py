"""relay.quantize.qconfig: Relay's 17 options with Relay's defaults, scopes and lookup.

    with relay.quantize.qconfig(global_scale=4.0):
        with relay.quantize.qconfig(skip_conv_layers=[]):    # all defaults again but one: nothing is inherited
            qmod = relay.quantize.quantize(mod, params)

Each thread has its own stack of scopes. Outside of any scope `skip_conv_layers` is None, inside of one it is [0] where
nothing else is given: so it was. What each option does here stands in MIGRATING.md.

relay.quantize.QAnnotateKind: what a simulated_quantize stands before.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any

from tvmq.errors import ConfigError
from tvmq.extension import did_you_mean

_NAMES = ("identity", "input", "weight", "activation")


class QAnnotateKind:
    """The kinds of a value: no code at all, read by a layer, a weight or a bias, a sum."""

    IDENTITY = 0
    INPUT = 1
    WEIGHT = 2
    ACTIVATION = 3


def kind_named(word: str) -> int:
    """The kind for a word of ours; a residual stream of 16 bits, which Relay lacked, is a sum.

    >>> kind_named("input"), kind_named("stream") == QAnnotateKind.ACTIVATION
    (1, True)
    """
    return _NAMES.index(word) if word in _NAMES else QAnnotateKind.ACTIVATION


def kind2str(kind: int) -> str:
    """The word for a kind; AssertionError for what is none.

    >>> kind2str(QAnnotateKind.WEIGHT)
    'weight'
    """
    assert 0 <= int(kind) < len(_NAMES), f"relay.quantize.kind2str: a kind is 0..3. Got {kind} instead"
    return _NAMES[int(kind)]


CALIBRATE_MODES = ("global_scale", "kl_divergence", "percentile")
WEIGHT_SCALES = ("power2", "max")
PARTITION_CONVERSIONS = ("disabled", "enabled", "fully_integral")


@dataclass(frozen=True)
class QConfig:
    """Relay's options; immutable, nothing is checked before `quantize` or `calibrate` reads them.

    raises  AttributeError where a field is assigned

    >>> with QConfig(global_scale=4.0) as config:
    ...     config is current_qconfig(), config.skip_conv_layers
    (True, [0])
    >>> current_qconfig().skip_conv_layers is None
    True
    """

    nbit_input: int = 8
    nbit_weight: int = 8
    nbit_activation: int = 32
    dtype_input: str = "int8"
    dtype_weight: str = "int8"
    dtype_activation: str = "int32"
    calibrate_mode: str = "global_scale"
    global_scale: float = 8.0
    weight_scale: str = "power2"
    skip_dense_layer: bool = True
    skip_conv_layers: Sequence[int] | None = (0,)
    do_simulation: bool = False
    round_for_shift: bool = True
    debug_enabled_ops: Sequence[str] | None = None
    rounding: str = "UPWARD"
    calibrate_chunk_by: int = -1
    partition_conversions: str = "disabled"

    def __post_init__(self) -> None:
        if self.skip_conv_layers is not None:
            object.__setattr__(self, "skip_conv_layers", list(self.skip_conv_layers))

    def get_nbit_by_kind(self, kind: int) -> int:
        """Bits of a QAnnotateKind: input 8, weight 8, activation 32 by default; AttributeError for IDENTITY."""
        return int(getattr(self, f"nbit_{kind2str(kind)}"))

    def get_dtype_by_kind(self, kind: int) -> str:
        """Type of a QAnnotateKind; AttributeError for IDENTITY."""
        return str(getattr(self, f"dtype_{kind2str(kind)}"))

    def guard(self, ref_call: Any) -> bool:
        """True unless debug_enabled_ops is a list without the operator of this call (its `op.name`).

        >>> QConfig().guard(None)
        True
        """
        if self.debug_enabled_ops is None:
            return True
        return str(ref_call.op.name).removeprefix("relax.") in map(str, self.debug_enabled_ops)

    def __enter__(self) -> QConfig:
        _stack().append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _stack().pop()

    def __repr__(self) -> str:
        return f"qconfig({', '.join(f'{option.name}={getattr(self, option.name)!r}' for option in fields(self))})"


OPTIONS = tuple(option.name for option in fields(QConfig))
_LOCAL = threading.local()
# What holds outside of any scope: Relay built it elsewhere, with one field unlike qconfig().
_OUTSIDE = QConfig(skip_conv_layers=None)


def qconfig(**kwargs: Any) -> QConfig:
    """A configuration of these options and Relay's defaults; other names are ignored, with a warning.

    >>> qconfig(nbit_weight=4).nbit_weight
    4
    """
    for name in kwargs.keys() - set(OPTIONS):
        hint = did_you_mean(name, OPTIONS)
        warnings.warn(
            f"relay.quantize.qconfig: there is no option '{name}', it is ignored{hint if 'did you' in hint else ''}",
            stacklevel=2,
        )
    return QConfig(**{name: value for name, value in kwargs.items() if name in OPTIONS})


def current_qconfig() -> QConfig:
    """The configuration of the innermost scope of this thread; outside of all, the defaults that skip no layer.

    >>> current_qconfig().skip_conv_layers is None
    True
    """
    return _stack()[-1] if _stack() else _OUTSIDE


def _stack() -> list[QConfig]:
    if not hasattr(_LOCAL, "stack"):
        _LOCAL.stack = []
    stack: list[QConfig] = _LOCAL.stack
    return stack


class UnknownPartition(ConfigError, AssertionError):
    """A partition_conversions that does not exist; Relay failed by a bare assert after all its work."""


def check(config: QConfig) -> None:
    """Refuse words that mean nothing, before any work.

    raises  ConfigError, which is the ValueError of old, for calibrate_mode and weight_scale; UnknownPartition, an
            AssertionError as of old, for partition_conversions
    """
    words = (
        ("calibrate", CALIBRATE_MODES, config.calibrate_mode),
        ("weight scale", WEIGHT_SCALES, config.weight_scale),
    )
    for what, known, word in words:
        if word not in known:
            raise ConfigError(f"relay.quantize: Unknown {what} mode {word}; use {', '.join(known)}")
    if config.partition_conversions not in PARTITION_CONVERSIONS:
        raise UnknownPartition(
            f"relay.quantize: Unknown partition_conversions {config.partition_conversions!r}; "
            f"use {', '.join(PARTITION_CONVERSIONS)}"
        )


__all__ = ["OPTIONS", "QAnnotateKind", "QConfig", "check", "current_qconfig", "qconfig"]
