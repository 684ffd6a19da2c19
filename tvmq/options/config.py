"""How a model is to be quantized: `qconfig(**options)`, a frozen value that is also a context manager.

    with tvmq.qconfig(calibrate_mode="percentile", percentile=99.9):
        with tvmq.qconfig(nbit_weight=4):                 # keeps the outer options and adds one
            qmod = tvmq.quantize(mod, params, data)

An inner context replaces the options it names and inherits the others. Contexts do not leak: each thread
starts with the defaults, each asyncio task with the options of the code that created it (contextvars).

What the options are stands in tvmq/options/options.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from types import TracebackType
from typing import Any

from tvmq.backends.description import Backend
from tvmq.base.deprecation import warn_deprecated
from tvmq.errors import ConfigError
from tvmq.numerics.codes import PACKED_BITS
from tvmq.numerics.spec import QuantSpec
from tvmq.options.options import FIXED, STATIC_ONLY, WITHOUT_DATA, Options
from tvmq.options.rules import DYNAMIC, Rule, did_you_mean, rules_from


@dataclass(frozen=True, kw_only=True, repr=False)
class QConfig(Options):
    """All options of a quantization; made by `qconfig(...)`, read as attributes, checked when made.

    Use it as a context manager or hand it on: equal values configure equally, and `to_dict` / `from_dict`
    write and read JSON. `repr` shows what differs from the defaults. OPTION_HELP explains every option.

    raises  ConfigError for a value that is not allowed and for options that contradict each other

    >>> with qconfig(nbit_weight=4) as config:
    ...     with qconfig(per_channel=False):
    ...         print(current_qconfig())
    qconfig(nbit_weight=4, per_channel=False)
    >>> config.weight_spec.qmax, current_qconfig() == QConfig()
    (7, True)
    """

    # Names of the options that were given; they win over an outer context. None: those that the call names.
    given: frozenset[str] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = vars(self).pop("_names")
        if self.dtype_input == "int16" and "nbit_input" not in names:
            object.__setattr__(self, "nbit_input", 16)
        for option in _OPTIONS:
            value = getattr(self, option.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, option.name, value)
            if not option.metadata["check"](value):
                raise ConfigError(_refusal(option.name, value))
        if self.given is None:
            object.__setattr__(self, "given", names - {"given"})
        self._check_together()

    def _check_together(self) -> None:
        """Refuse options that are allowed one by one but not together."""
        if self.scheme == "symmetric" and self.dtype_input == "uint8":
            raise ConfigError("qconfig: scheme 'symmetric' needs signed codes; add dtype_input='int8'")
        if self.do_simulation and self.partition_conversions != "disabled":
            raise ConfigError(
                f"qconfig: partition_conversions '{self.partition_conversions}' splits integer modules, and "
                "do_simulation stops before integers; leave one of them out"
            )
        if self.group_size is not None and (self.activations == "static" or not self.per_channel):
            raise ConfigError(
                f"qconfig: group_size={self.group_size} is for weights alone or codes made at run time, with a scale "
                "for each channel and more; add activations=None or 'dynamic' and leave per_channel=True"
            )
        if self.group_size is not None and self.activations and self.nbit_weight > PACKED_BITS:
            raise ConfigError(
                f"qconfig: group_size={self.group_size} with activations={self.activations!r} is for weights of at "
                f"most {PACKED_BITS} bits; add nbit_weight=4, or leave it out: a scale for each channel does for 8 bits"
            )
        if self.reduce_range and self.activations is None:
            raise ConfigError(
                "qconfig: reduce_range is for products of integers, and with activations=None arithmetic stays float; "
                "leave one of them out"
            )
        unread = [name for name in STATIC_ONLY if name in self._changes()]
        if unread and self.activations != "static":
            raise ConfigError(
                f"qconfig: '{unread[0]}' is for codes of calibrated scales, and activations={self.activations!r} has "
                "none; leave one of them out"
            )
        observed = next((rule for rule in self.rules if rule.observer), None)
        if observed is not None and self.activations != "static":
            raise ConfigError(
                f"qconfig: {observed!r} chooses calibrated ranges, and activations={self.activations!r} has none; "
                "leave one of them out"
            )
        dynamic = self._dynamic_rule()
        if dynamic is not None and (self.activations is None or self.do_simulation):
            what = "activations=None" if self.activations is None else "do_simulation"
            raise ConfigError(
                f"qconfig: {dynamic!r} asks for codes made at run time, and with {what} arithmetic stays float; "
                "leave one of them out"
            )
        for operand in ("input", "weight"):
            bits, dtype = getattr(self, f"nbit_{operand}"), getattr(self, f"dtype_{operand}")
            width = 16 if dtype == "int16" else 8
            if bits > width:
                raise ConfigError(
                    f"qconfig: nbit_{operand}={bits} does not fit dtype_{operand}={dtype!r}; "
                    f"use dtype_{operand}='int16' or at most {width} bits"
                )

    def _dynamic_rule(self) -> Rule | None:
        """The first rule that asks for scales made at run time."""
        return next((rule for rule in self.rules if rule.activations == DYNAMIC), None)

    @property
    def activation_spec(self) -> QuantSpec:
        """Spec of what layers read where no rule says otherwise."""
        return QuantSpec(self.dtype_input, self.nbit_input, symmetric=self.scheme == "symmetric")

    @property
    def weight_spec(self) -> QuantSpec:
        """Spec of weights where no rule says otherwise."""
        return QuantSpec(self.dtype_weight, self.nbit_weight, symmetric=True, per_channel=self.per_channel)

    def for_backend(self, backend: Backend) -> QConfig:
        """These options; those that were not given are what the backend computes.

        raises  ConfigError that lists all options given that a backend without floats cannot express; one with floats
                computes layers in float that its integers cannot. ConfigError for a rule of scales made at run time
                where the backend cannot compute with them

        >>> from tvmq.backends.description import Backend
        >>> qconfig().for_backend(Backend("toy", per_channel=False))
        qconfig(per_channel=False, equalization=True)
        """
        explicit = self.given or frozenset()
        idle = {"partition_conversions"} if self.do_simulation else set()  # there is nothing to split then
        idle |= set() if self.activations == "static" else set(STATIC_ONLY)
        idle |= {"reduce_range"} if self.activations is None else set()  # arithmetic stays float
        multiplies_bytes = self.activations is not None and self.dtype_input != "int16" and self.nbit_input == 8
        idle |= {"weight_scale"} if backend.weight_scale == "lanes" and not multiplies_bytes else set()
        fitting = {name: value for name, value in backend.options().items() if name not in explicit | idle}
        values = self._values(explicit | frozenset(fitting)) | fitting
        refused = [] if backend.floats else backend.refused_options(values)
        if refused:
            raise ConfigError(f"qconfig: backend {backend.name} cannot express " + ";\n    ".join(refused))
        dynamic = self._dynamic_rule()
        if dynamic is not None and backend.refuses_dynamic():
            raise ConfigError(f"qconfig: {dynamic!r}: backend {backend.name} {backend.refuses_dynamic()}")
        return QConfig(**values, given=explicit | frozenset(fitting)) if fitting else self

    @property
    def observers(self) -> frozenset[str]:
        """Names of all observers of activations: of the option and of the rules.

        >>> sorted(QConfig(rules=(Rule("*", observer="minmax"),)).observers)
        ['auto', 'minmax']
        """
        return frozenset((self.calibrate_mode, *(rule.observer for rule in self.rules if rule.observer)))

    def wants_data(self) -> str | None:
        """The option given that only scales from calibration data follow; None where scales made at run time do.

        >>> qconfig(nbit_weight=4).wants_data(), qconfig(calibrate_mode="minmax").wants_data()
        (None, 'calibrate_mode')
        """
        options = [name for name in OPTION_HELP if name in (self.given or ()) and name not in WITHOUT_DATA]
        options += ["rules"] if any(isinstance(r.activations, QuantSpec) or r.observer for r in self.rules) else []
        return options[0] if options else None

    def at_run_time(self) -> QConfig:
        """These options with scales that are made at run time, without data.

        >>> qconfig(nbit_weight=4).at_run_time()
        qconfig(activations='dynamic', nbit_weight=4)
        """
        return replace(self, activations="dynamic", given=(self.given or frozenset()) | {"activations"})

    def _values(self, names: Iterable[str]) -> dict[str, Any]:
        """All options, without bits that are not among these names: they follow the type of the codes."""
        left_out = {"nbit_input"} - set(names)
        return {option.name: getattr(self, option.name) for option in _OPTIONS if option.name not in left_out}

    def _changes(self) -> dict[str, Any]:
        """The options that differ from the defaults."""
        return {o.name: value for o in _OPTIONS if (value := getattr(self, o.name)) != o.default}

    def __repr__(self) -> str:
        return f"qconfig({', '.join(f'{name}={value!r}' for name, value in self._changes().items())})"

    def to_dict(self) -> dict[str, Any]:
        """Every option as JSON can hold it, those of FIXED too; a rule that is a function is there by its name only."""
        values = {option.name: getattr(self, option.name) for option in _OPTIONS}
        values["rules"] = [rule.to_dict() for rule in self.rules]
        behind = {before: {name: value} for name, (value, before, _) in FIXED.items()}
        return {
            key: list(item) if isinstance(item, tuple) else item
            for name, value in values.items()
            for key, item in {name: value, **behind.get(name, {})}.items()
        }

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> QConfig:
        """Inverse of `to_dict`; what is missing has its default, what is unknown is a ConfigError.

        >>> QConfig.from_dict({"nbit_weight": 4})
        qconfig(nbit_weight=4)
        """
        options = without_fixed(options)
        check_names(options)
        config = cls(**{**options, "rules": tuple(rules_from(options.get("rules", ())))})
        object.__setattr__(config, "given", frozenset(config._changes()))  # `to_dict` writes all
        return config

    def __enter__(self) -> QConfig:
        """Enter the context; returns what now holds: these options over those of the context around."""
        holds = _merge(current_qconfig(), {name: getattr(self, name) for name in self.given or ()})
        _STACK.set((*_STACK.get(), holds))
        return holds

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _STACK.set(_STACK.get()[:-1])


def _note_names(make: Callable[..., None]) -> Callable[..., None]:
    """The `__init__` of QConfig, which knows what the call names: a default may be named, too."""

    @wraps(make)
    def init(self: QConfig, **options: Any) -> None:
        vars(self)["_names"] = frozenset(options)
        make(self, **options)

    return init


setattr(QConfig, "__init__", _note_names(QConfig.__init__))  # noqa: B010
_OPTIONS = tuple(option for option in fields(QConfig) if option.name != "given")

# Option -> what it does, and its choices where these are words. The command line shows the same texts.
OPTION_HELP: dict[str, str] = {option.name: option.metadata["help"] for option in _OPTIONS}
OPTION_CHOICES: dict[str, tuple[str, ...]] = {
    option.name: option.metadata["choices"] for option in _OPTIONS if option.metadata["choices"]
}
DEFAULTS = QConfig()

# The configurations entered and not yet left, innermost last; a tuple: contexts share nothing mutable.
_STACK: ContextVar[tuple[QConfig, ...]] = ContextVar("tvmq_qconfig", default=())


def current_qconfig() -> QConfig:
    """The configuration that holds here: of the innermost context, or the defaults.

    >>> current_qconfig()
    qconfig()
    """
    stack = _STACK.get()
    return stack[-1] if stack else DEFAULTS


def recorded_options(config: Mapping[str, Any]) -> QConfig:
    """The options that a ledger recorded, without rules: `partition` applied them, and of functions it has names only.

    >>> recorded_options({"nbit_weight": 4, "rules": [{"function": "my_rule"}]})
    qconfig(nbit_weight=4)
    """
    return QConfig.from_dict({**config, "rules": []})


def without_fixed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as files of older versions hold them, without those that have one value only (FIXED).

    raises  ConfigError for another value; calibrate_chunk_by, which never had an effect, may have any

    >>> without_fixed({"nbit_weight": 4, "nbit_activation": 32})
    {'nbit_weight': 4}
    """
    for name in FIXED.keys() & options.keys():
        value, _, why = FIXED[name]
        if options[name] != value and name != "calibrate_chunk_by":
            raise ConfigError(
                f"qconfig: '{name}' is no option, it is {value!r}: {why}. Got {options[name]!r} instead; leave it out"
            )
    return {name: value for name, value in options.items() if name not in FIXED}


def check_names(options: Iterable[str]) -> None:
    """ConfigError, with near misses, for the first name that is no option."""
    for name in options:
        if name not in OPTION_HELP:
            near = did_you_mean(name, OPTION_HELP, "options")
            raise ConfigError(f"qconfig: there is no option '{name}'{near}")


def _refusal(name: str, value: Any) -> str:
    """The sentence for a value that an option does not allow."""
    option = next(o for o in _OPTIONS if o.name == name)
    sentence = f"qconfig: '{name}' must be {option.metadata['allowed']}. Got {value!r} instead"
    choices = option.metadata["choices"]
    if choices and isinstance(value, str):
        near = did_you_mean(value, choices)
        return sentence + (near if "did you mean" in near else "")
    return sentence


def _drop_fixed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a script gives, without those of FIXED, with a warning where there is one."""
    kept = without_fixed(options)
    for name in options.keys() - kept.keys():
        instead = "relay.quantize.qconfig, or leave it out"
        warn_deprecated(f"qconfig({name}=...)", "0.1.0", instead, until="0.3.0")
    return kept


def _merge(outer: QConfig, options: Mapping[str, Any]) -> QConfig:
    """`outer` with the given options in place of its own."""
    names = frozenset(options) | (outer.given or frozenset())
    return QConfig(**{**outer._values(names), **options}, given=names)


class _QConfigMaker:
    """Type of `qconfig`, so that it can be called and also offers `qconfig.relay`."""

    def __call__(self, **options: Any) -> QConfig:
        """A configuration: the options given; for the others those of the context around, or the defaults.

        raises  ConfigError for an unknown option (with near misses), a value that is not allowed, and
                options that contradict each other

        >>> qconfig(calibrate_mode="minmax").calibrate_mode
        'minmax'
        """
        options = _drop_fixed(options)
        check_names(options)
        merged = _merge(current_qconfig(), options)
        # Entering it elsewhere must bring these options, not those that happened to hold where it was made.
        object.__setattr__(merged, "given", frozenset(options))
        return merged

    def relay(self, **options: Any) -> QConfig:
        """Relay's defaults, with `options` in their place; no option of a context around shows through.

        >>> qconfig.relay().weight_scale, qconfig.relay(global_scale=4.0).global_scale
        ('power2', 4.0)
        """
        options = _drop_fixed(options)
        check_names(options)
        return QConfig(**{**RELAY_DEFAULTS, **options}, given=frozenset(OPTION_HELP))

    def __repr__(self) -> str:
        return "<function tvmq.qconfig(**options); qconfig.relay(**options)>"


# Where Relay's qconfig() differs from ours. Relay requantized by fixed-point multiplies and shifts.
RELAY_DEFAULTS: dict[str, Any] = {
    "dtype_input": "int8",
    "scheme": "symmetric",
    "per_channel": False,
    "calibrate_mode": "global_scale",
    "weight_scale": "power2",
    "requantize": "fixed_point",
    "nbit_bias": 8,
    "factors": "float32",
    "weight_rounding": "nearest",
    "bias_correction": False,
    "outlier_channels": False,
    "skip_conv_layers": (0,),
    "skip_dense_layer": True,
}

qconfig = _QConfigMaker()
