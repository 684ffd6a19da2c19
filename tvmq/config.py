"""How a model is to be quantized: `qconfig(**options)`, a frozen value that is also a context manager.

    with tvmq.qconfig(calibrate_mode="percentile", percentile=99.9):
        with tvmq.qconfig(nbit_weight=4):                 # keeps the outer options and adds one
            qmod = tvmq.quantize(mod, params, data)

An inner context replaces the options it names and inherits the others. Contexts do not leak: each thread
starts with the defaults, each asyncio task with the options of the code that created it (contextvars).

The names are those of Relay's qconfig where they mean the same: `input` is what convolutions and matrix
products read (8-bit codes), `activation` what they accumulate (int32). New names exist for new things only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from types import TracebackType
from typing import Any

from tvmq.backends.description import Backend
from tvmq.by_name import is_object_name
from tvmq.errors import ConfigError
from tvmq.rules import Rule, did_you_mean
from tvmq.spec import QuantSpec

CALIBRATE_MODES = (
    "auto", "minmax", "moving_average", "percentile", "histogram", "kl_divergence", "global_scale",
)  # fmt: skip
Check = Callable[[Any], bool]


def _whole(low: int, high: int) -> tuple[Check, str]:
    return (
        lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
        f"a whole number in {low}..{high}",
    )


def _one_of(*choices: str) -> tuple[Check, str]:
    return lambda value: isinstance(value, str) and value in choices, f"one of {', '.join(choices)}"


def _number(low: float, high: float) -> tuple[Check, str]:
    """A finite number with low < value <= high."""
    text = f"a number in ({low:g}, {high:g}]" if math.isfinite(high) else f"a finite number above {low:g}"
    return (
        lambda value: (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and math.isfinite(value)
            and low < value <= high
        ),
        text,
    )


def _tuple_of(kind: type, what: str, *, none: bool) -> tuple[Check, str]:
    def check(value: Any) -> bool:
        if value is None:
            return none
        items = value if isinstance(value, tuple) else (None,)
        return all(isinstance(item, kind) and not isinstance(item, bool) for item in items)

    return check, f"a list of {what}" + (", or None" if none else "")


def _names_of(what: str) -> tuple[Check, str]:
    """A tuple of "module:object"."""
    return (
        lambda value: isinstance(value, tuple) and all(is_object_name(item) for item in value),
        f'a list of "module:object", each naming {what}',
    )


_SWITCH = (lambda value: isinstance(value, bool), "True or False")


def _option(default: Any, check: tuple[Check, str], text: str, *, choices: tuple[str, ...] = ()) -> Any:
    """A field with its check, the words for what is allowed, and its help text."""
    test, allowed = check
    return field(default=default, metadata={"check": test, "allowed": allowed, "help": text, "choices": choices})


def _choice(default: str, choices: tuple[str, ...], text: str) -> Any:
    return _option(default, _one_of(*choices), text, choices=choices)


# Options that nothing reads where activations are float, or get their scales at run time.
STATIC_ONLY = ("residual_streams", "integer_softmax", "integer_layer_norm", "equalization")
# Options that scales made at run time follow as well; whoever gives another one asks for calibrated scales.
WITHOUT_DATA = frozenset(
    (
        *("nbit_weight", "nbit_activation", "dtype_weight", "dtype_activation", "weight_scale", "per_channel"),
        *("reduce_range", "round_for_shift", "skip_conv_layers", "skip_dense_layer", "debug_enabled_ops"),
        *("rules", "passes", "calibrate_chunk_by"),
    )
)


@dataclass(frozen=True, kw_only=True, repr=False)
class QConfig:
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

    activations: str | None = _option(
        "static",
        (lambda value: value is None or value in ("static", "dynamic"), "static, dynamic or None"),
        (
            "When activations get their scales. static: now, from calibration data; dynamic: at run time, one scale"
            " a row or sample, without data; None: never, weights alone are quantized and arithmetic stays float."
        ),
        choices=("static", "dynamic", "none"),
    )
    nbit_input: int = _option(
        8, _whole(2, 16), ("Bits of the codes that convolutions and matrix products read. Example: 4 keeps 16 levels.")
    )
    nbit_weight: int = _option(8, _whole(2, 16), "Bits of weights. Example: 4 keeps the 15 levels -7..7.")
    nbit_activation: int = _option(
        32,
        _whole(32, 32),
        ("Bits of accumulators, as in Relay: always 32. For activations of fewer bits use nbit_input."),
    )
    nbit_bias: int = _option(
        32,
        (
            lambda value: isinstance(value, int) and not isinstance(value, bool) and (value == 32 or 2 <= value <= 16),
            "a whole number in 2..16, or 32",
        ),
        (
            "Bits of the biases of convolutions and matrix products. 32: as fine as the sums; fewer: each bias is"
            " rounded to so many bits first, with a scale of its own by weight_scale, as Relay rounded them to 8."
        ),
    )
    dtype_input: str = _choice(
        "uint8",
        ("uint8", "int8", "int16"),
        (
            "Storage type of the codes that convolutions and matrix products read. int16 has no zero point; what reads"
            " 8 bits only, such as tables of functions, then stays float."
        ),
    )
    dtype_weight: str = _choice(
        "int8", ("int8", "int16"), ("Storage type of weights; int16 is for nbit_weight above 8.")
    )
    dtype_activation: str = _choice("int32", ("int32",), "Type of accumulators, as in Relay: always int32.")
    calibrate_mode: str = _option(
        "auto",
        (
            lambda value: isinstance(value, str) and (value in CALIBRATE_MODES or is_object_name(value)),
            f'one of {", ".join(CALIBRATE_MODES)}, or the "module:object" of an observer',
        ),
        (
            "How the range of each activation is chosen. auto: per tensor, by the least error on what the layer"
            " computes; minmax: all that was seen; moving_average: mean of the samples' extremes;"
            " percentile: all but the rarest values; histogram: least squared error; kl_divergence: least loss"
            " of information; global_scale: one fixed range, needs no data."
        ),
        choices=CALIBRATE_MODES,
    )
    global_scale: float = _option(
        8.0,
        _number(0, math.inf),
        ("With calibrate_mode global_scale: every activation is taken to lie in -global_scale..global_scale."),
    )
    percentile: float = _option(
        99.99,
        _number(50, 100),
        (
            "With calibrate_mode percentile: share of the values, in percent, that the range keeps."
            " 100 is minmax. Example: 99.9 cuts one value in a thousand."
        ),
    )
    weight_scale: str = _choice(
        "max",
        ("max", "power2", "mse"),
        (
            "Range of weights. max: the largest magnitude; power2: the same, raised to a power of two;"
            " mse: the range of least squared error, which may clip."
        ),
    )
    scheme: str = _choice(
        "asymmetric",
        ("asymmetric", "symmetric"),
        (
            "Activations: asymmetric has a zero point and spends all codes on the range that occurs;"
            " symmetric has none and needs a signed dtype_input. Weights are always symmetric."
        ),
    )
    per_channel: bool = _option(
        True, _SWITCH, ("One weight scale for each output channel; off: one for the whole weight.")
    )
    reduce_range: bool = _option(
        False,
        _SWITCH,
        (
            "Weights of convolutions and matrix products have 7 bits where they would have 8, depthwise ones excepted:"
            " CPUs without VNNI then multiply bytes, 1.4 times as fast. Their targets have it on."
        ),
    )
    group_size: int | None = _option(
        None,
        (
            lambda value: (
                value is None or (isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= 4096)
            ),
            "a whole number in 2..4096, or None",
        ),
        (
            "With activations None: so many neighbours along the input axis of a matrix, or in a row of an embedding"
            " table, share a scale. None: one scale for each channel or row. Example: 32 with nbit_weight 4."
        ),
    )
    requantize: str = _choice(
        "float",
        ("float", "fixed_point", "power_of_two"),
        (
            "How int32 sums become codes again. float: one float32 product; fixed_point: integers only, a"
            " multiplier and a shift; power_of_two: shifts only, all scales are powers of two."
        ),
    )
    factors: str = _choice(
        "float64",
        ("float64", "float32"),
        (
            "In which precision the factor of a requantize is computed before a multiplier and a shift are made of it."
            " float32: the scale of the sums is rounded, then the quotient, as in Relay."
        ),
    )
    residual_streams: str = _choice(
        "float",
        ("float", "int16"),
        (
            "Sums of transformers that a normalization reads, which 8 bits would spoil. float: as they are; int16:"
            " codes of 16 bits with one scale, so that products, sums and embeddings need no float numbers."
        ),
    )
    rounding: str = _choice(
        "UPWARD",
        ("UPWARD", "TONEAREST"),
        (
            "Ties of fixed_point and power_of_two: UPWARD half up, TONEAREST half away from zero."
            " Mode float always rounds half to even."
        ),
    )
    round_for_shift: bool = _option(
        True,
        (lambda value: value is True, "True"),
        (
            "Round before shifting right, as in Relay: always on. Shifts that truncate are not offered: they"
            " bias every layer downwards."
        ),
    )
    integer_softmax: bool = _option(
        False,
        _SWITCH,
        (
            "Compute softmax of products of activations in integers alone, by a fixed-point exp with a proved error"
            " bound, so that attention needs no float numbers. Off: in float32."
        ),
    )
    integer_layer_norm: bool = _option(
        False,
        _SWITCH,
        (
            "Compute layer norm and rms norm in integers alone, of 16-bit codes, with a proved error bound; goes with"
            " residual_streams 'int16'. Off: in float32."
        ),
    )
    weight_rounding: str = _choice(
        "calibrated",
        ("calibrated", "nearest"),
        (
            "How weights become integers. calibrated: up or down so that the errors of a layer's weights cancel on the"
            " calibration data, which are read once more; nearest: each by itself."
        ),
    )
    bias_correction: bool = _option(
        True, _SWITCH, ("Move each bias by the mean error that weight rounding causes on the calibration data.")
    )
    equalization: bool = _option(
        False,
        _SWITCH,
        (
            "Give the channels between convolutions ranges of one size, by powers of two that the next weight takes"
            " back. For backends that take one scale for a whole weight; of no use with per_channel."
        ),
    )
    outlier_channels: bool = _option(
        True,
        _SWITCH,
        (
            "Treat single channels of transformers that are far larger than the others by themselves: divided by"
            " powers of two, or in a product of their own. Reads the calibration data once more."
        ),
    )
    skip_conv_layers: tuple[int, ...] | None = _option(
        None,
        _tuple_of(int, "indices", none=True),
        (
            "2-D convolutions, counted from 0 in order of execution, that stay float. None: no such layer."
            " Example: 0 for the first. Rules speak of layers by name."
        ),
    )
    skip_dense_layer: bool = _option(False, _SWITCH, ("Leave dense layers (matrix times constant weight) in float."))
    rules: tuple[Rule, ...] = _option(
        (),
        _tuple_of(Rule, "Rule", none=False),
        ("Exceptions by layer name, operator type or function; the last rule that matches a layer wins."),
    )
    debug_enabled_ops: tuple[str, ...] | None = _option(
        None,
        _tuple_of(str, "operator types", none=True),
        ("For debugging: only these operator types are quantized. None: all. Example: nn.conv2d."),
    )
    do_simulation: bool = _option(
        False, _SWITCH, ("Stop before integers: the result computes in float32 with the rounding of the integer model.")
    )
    passes: tuple[str, ...] = _option(
        (),
        _names_of("a pass"),
        (
            "Passes of your own, in order, that run behind prepare: each takes the float module and gives one."
            " Example: my_package.passes:fold_scale."
        ),
    )
    operators: tuple[str, ...] = _option(
        (),
        _names_of("an operator family"),
        (
            "Operator families of your own: how operators are quantized that tvmq leaves in float."
            " Example: my_package.operators:CUMSUM."
        ),
    )
    calibrate_chunk_by: int = _option(
        -1,
        (
            lambda value: isinstance(value, int) and not isinstance(value, bool) and (value == -1 or value > 0),
            "-1 or a positive whole number",
        ),
        (
            "Accepted for Relay's scripts, without effect: statistics are streamed, so memory does not grow with"
            " the data and needs no chunks."
        ),
    )
    partition_conversions: str = _choice(
        "disabled",
        ("disabled", "enabled", "fully_integral"),
        (
            "Split off the conversions at the border, as in Relay. enabled: the module has the functions"
            " quantize_inputs, quantized_main, dequantize_outputs, and main, which calls them; fully_integral: the"
            " same, all that has an integer form gets it, and floats that remain in quantized_main are an error."
        ),
    )
    # Names of the options that were given; they win over an outer context. None: those unlike defaults.
    given: frozenset[str] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for option in _OPTIONS:
            value = getattr(self, option.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, option.name, value)
            if not option.metadata["check"](value):
                raise ConfigError(_refusal(option.name, value))
        if self.given is None:
            object.__setattr__(self, "given", frozenset(self._changed()))
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
        if self.group_size is not None and (self.activations is not None or not self.per_channel):
            raise ConfigError(
                f"qconfig: group_size={self.group_size} is for weights alone, with a scale for each channel and more; "
                "add activations=None and leave per_channel=True"
            )
        if self.reduce_range and self.activations is None:
            raise ConfigError(
                "qconfig: reduce_range is for products of integers, and with activations=None arithmetic stays float; "
                "leave one of them out"
            )
        unread = [name for name in STATIC_ONLY if name in self._changed()]
        if unread and self.activations != "static":
            raise ConfigError(
                f"qconfig: '{unread[0]}' is for codes of calibrated scales, and activations={self.activations!r} has "
                "none; leave one of them out"
            )
        for operand in ("input", "weight"):
            bits, dtype = getattr(self, f"nbit_{operand}"), getattr(self, f"dtype_{operand}")
            width = 16 if dtype == "int16" else 8
            if bits > width:
                raise ConfigError(
                    f"qconfig: nbit_{operand}={bits} does not fit dtype_{operand}={dtype!r}; "
                    f"use dtype_{operand}='int16' or at most {width} bits"
                )

    @property
    def activation_spec(self) -> QuantSpec:
        """Spec of what layers read where no rule says otherwise."""
        return QuantSpec(self.dtype_input, self.nbit_input, symmetric=self.scheme == "symmetric")

    @property
    def weight_spec(self) -> QuantSpec:
        """Spec of weights where no rule says otherwise."""
        return QuantSpec(self.dtype_weight, self.nbit_weight, symmetric=True, per_channel=self.per_channel)

    def for_backend(self, backend: Backend) -> QConfig:
        """These options; those that nobody gave are what the backend computes.

        raises  ConfigError that lists all options given that a backend without floats cannot express; one with floats
                computes layers in float that its integers cannot

        >>> from tvmq.backends.description import Backend
        >>> qconfig().for_backend(Backend("toy", per_channel=False))
        qconfig(per_channel=False, equalization=True)
        """
        given = self.given or frozenset()
        idle = {"partition_conversions"} if self.do_simulation else set()  # there is nothing to split then
        idle |= set() if self.activations == "static" else set(STATIC_ONLY)
        idle |= {"reduce_range"} if self.activations is None else set()  # arithmetic stays float
        fitting = {name: value for name, value in backend.options().items() if name not in given | idle}
        values = {option.name: getattr(self, option.name) for option in _OPTIONS} | fitting
        refused = [] if backend.floats else backend.refused_options(values)
        if refused:
            raise ConfigError(f"qconfig: backend {backend.name} cannot express " + ";\n    ".join(refused))
        return QConfig(**values, given=given | frozenset(fitting)) if fitting else self

    def wants_data(self) -> str | None:
        """The option given that only scales from calibration data follow; None where scales made at run time do.

        >>> qconfig(nbit_weight=4).wants_data(), qconfig(calibrate_mode="minmax").wants_data()
        (None, 'calibrate_mode')
        """
        asked = [name for name in OPTION_HELP if name in (self.given or ()) and name not in WITHOUT_DATA]
        asked += ["rules"] if any(rule.activations for rule in self.rules) else []
        return asked[0] if asked else None

    def at_run_time(self) -> QConfig:
        """These options with scales that are made at run time, without data.

        >>> qconfig(nbit_weight=4).at_run_time()
        qconfig(activations='dynamic', nbit_weight=4)
        """
        return replace(self, activations="dynamic", given=(self.given or frozenset()) | {"activations"})

    def _changed(self) -> dict[str, Any]:
        """The options that differ from the defaults."""
        return {o.name: value for o in _OPTIONS if (value := getattr(self, o.name)) != o.default}

    def __repr__(self) -> str:
        return f"qconfig({', '.join(f'{name}={value!r}' for name, value in self._changed().items())})"

    def to_dict(self) -> dict[str, Any]:
        """Every option as JSON can hold it; a rule that is a function is there by its name only."""
        values = {option.name: getattr(self, option.name) for option in _OPTIONS}
        values["rules"] = [rule.to_dict() for rule in self.rules]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> QConfig:
        """Inverse of `to_dict`; what is missing has its default, what is unknown is a ConfigError.

        >>> QConfig.from_dict({"nbit_weight": 4})
        qconfig(nbit_weight=4)
        """
        check_names(options)
        given = options.get("rules", ())
        rules = tuple(rule if isinstance(rule, Rule) else Rule.from_dict(rule) for rule in given)
        return cls(**{**options, "rules": rules})

    def __enter__(self) -> QConfig:
        """Enter the context; returns what now holds: these options over those of the context around."""
        holds = _merge(current_qconfig(), {name: getattr(self, name) for name in self.given or ()})
        _STACK.set((*_STACK.get(), holds))
        return holds

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _STACK.set(_STACK.get()[:-1])


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
    if name in ("nbit_activation", "dtype_activation"):
        return f"{sentence}; it is the accumulator's, as in Relay: for codes use nbit_input and dtype_input"
    if name == "round_for_shift":
        return f"{sentence}; shifts that truncate would bias every layer downwards"
    if choices and isinstance(value, str):
        near = did_you_mean(value, choices)
        return sentence + (near if "did you mean" in near else "")
    return sentence


def _merge(outer: QConfig, options: Mapping[str, Any]) -> QConfig:
    """`outer` with the given options in place of its own."""
    values = {option.name: getattr(outer, option.name) for option in _OPTIONS}
    return QConfig(**{**values, **options}, given=frozenset(options) | (outer.given or frozenset()))


class _QConfigMaker:
    """Type of `qconfig`, so that it can be called and also offers `qconfig.relay`."""

    def __call__(self, **options: Any) -> QConfig:
        """A configuration: the options given; for the others those of the context around, or the defaults.

        raises  ConfigError for an unknown option (with near misses), a value that is not allowed, and
                options that contradict each other

        >>> qconfig(calibrate_mode="minmax").calibrate_mode
        'minmax'
        """
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
