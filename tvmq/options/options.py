"""The options of a quantization: the default of each, what it may be, and what it does.

The names are those of Relay's qconfig where they mean the same: `input` is what convolutions and matrix
products read (8-bit codes). New names exist for new things only. What has one value only is no option: see FIXED.

Tests: tests/options/test_config.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tvmq.base.by_name import is_object_name
from tvmq.numerics.requantize_rule import MODES, ROUNDINGS
from tvmq.options.option_checks import SWITCH, choice, integer, is_number, names_of, number, option, tuple_of
from tvmq.options.rules import Rule

WEIGHT_SCALES = ("max", "power2", "mse", "lanes")
CALIBRATE_MODES = (
    "auto", "minmax", "moving_average", "percentile", "histogram", "kl_divergence", "global_scale",
)  # fmt: skip
# Options that nothing reads where activations are float, or get their scales at run time.
STATIC_ONLY = ("residual_streams", "integer_softmax", "integer_layer_norm", "equalization")
# Options that scales made at run time follow as well; whoever gives another one asks for calibrated scales.
WITHOUT_DATA = frozenset(
    (
        *("nbit_weight", "dtype_weight", "weight_scale", "per_channel", "reduce_range"),
        *("skip_conv_layers", "skip_dense_layer", "debug_enabled_ops", "rules", "passes"),
    )
)
# Relay's options that have one value in tvmq -> the value, the option in front of it in a ledger, why there is no
# other. relay.quantize.qconfig alone has them. Ledgers hold them nevertheless: a saved calibration knows its module by
# a hash of the text, ledger included.
FIXED: dict[str, tuple[object, str, str]] = {
    "nbit_activation": (32, "nbit_weight", "sums have 32 bits; for codes use nbit_input"),
    "dtype_activation": ("int32", "dtype_weight", "sums are int32; for codes use dtype_input"),
    "round_for_shift": (True, "rounding", "shifts that truncate would bias every layer downwards"),
    "calibrate_chunk_by": (-1, "operators", "statistics are streamed, so that memory does not grow with the data"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Options:
    """The fields of QConfig (tvmq/options/config.py), which checks them; OPTION_HELP there has their help texts."""

    activations: str | None = option(
        "static",
        (lambda value: value is None or value in ("static", "dynamic"), "static, dynamic or None"),
        (
            "When activations get their scales. static: now, from calibration data; dynamic: at run time, one scale"
            " a row or sample, without data; None: never, weights alone are quantized and arithmetic stays float."
        ),
        choices=("static", "dynamic", "none"),
    )
    nbit_input: int = option(
        8, integer(2, 16), ("Bits of the codes that convolutions and matrix products read. Example: 4 keeps 16 levels.")
    )
    nbit_weight: int = option(8, integer(2, 16), "Bits of weights. Example: 4 keeps the 15 levels -7..7.")
    nbit_bias: int = option(
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
    dtype_input: str = choice(
        "uint8",
        ("uint8", "int8", "int16"),
        (
            "Storage type of the codes that convolutions and matrix products read. int16 has no zero point, and 16 bits"
            " unless nbit_input says fewer; what reads 8 bits only, such as tables of functions, then stays float."
        ),
    )
    dtype_weight: str = choice(
        "int8", ("int8", "int16"), ("Storage type of weights; int16 is for nbit_weight above 8.")
    )
    calibrate_mode: str = option(
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
    global_scale: float = option(
        8.0,
        number(0, math.inf),
        ("With calibrate_mode global_scale: every activation is taken to lie in -global_scale..global_scale."),
    )
    percentile: float = option(
        99.99,
        number(50, 100),
        (
            "With calibrate_mode percentile: share of the values, in percent, that the range keeps."
            " 100 is minmax. Example: 99.9 cuts one value in a thousand."
        ),
    )
    momentum: float | None = option(
        None,
        (lambda value: value is None or (is_number(value) and 0 < value < 1), "a number between 0 and 1, or None"),
        (
            "With calibrate_mode moving_average: running averages of the extremes of the batches that the model runs"
            " on, in the order of the data, of which each leaves this share: torch's MovingAverageMinMaxObserver with"
            " averaging_constant = 1 - momentum. None: the mean of all samples. Example: 0.99."
        ),
    )
    weight_scale: str = option(
        "max",
        (
            lambda value: isinstance(value, str) and (value in WEIGHT_SCALES or is_object_name(value)),
            f'one of {", ".join(WEIGHT_SCALES)}, or the "module:object" of an observer',
        ),
        (
            "Range of weights. max: the largest magnitude; power2: the same, raised to a power of two;"
            " mse: the range of least squared error, which may clip; lanes: max, raised until neighbours can be summed"
            " in 16 bits, so that CPUs without VNNI multiply bytes: faster there, 0.1 dB less accurate, and the default"
            " of the portable CPU."
        ),
        choices=WEIGHT_SCALES,
    )
    scheme: str = choice(
        "asymmetric",
        ("asymmetric", "symmetric"),
        (
            "Activations: asymmetric has a zero point and spends all codes on the range that occurs;"
            " symmetric has none and needs a signed dtype_input. Weights are always symmetric."
        ),
    )
    per_channel: bool = option(
        True, SWITCH, ("One weight scale for each output channel; off: one for the whole weight.")
    )
    reduce_range: bool = option(
        False,
        SWITCH,
        (
            "Weights of convolutions and matrix products have 7 bits where they would have 8, depthwise ones excepted:"
            " CPUs without VNNI then multiply bytes, 1.4 times as fast. Their targets have it on."
        ),
    )
    group_size: int | None = option(
        None,
        (
            lambda value: (
                value is None or (isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= 4096)
            ),
            "a whole number in 2..4096, or None",
        ),
        (
            "With activations None or dynamic: so many neighbours along the input axis of a matrix, or in a row of an"
            " embedding table, share a scale. None: one scale for each channel or row. Example: 32 with nbit_weight 4."
        ),
    )
    requantize: str = choice(
        "float",
        tuple(MODES),
        (
            "How int32 sums become codes again. float: one float32 product; fixed_point: integers only, a"
            " multiplier and a shift; power_of_two: shifts only, all scales are powers of two."
        ),
    )
    factors: str = choice(
        "float64",
        ("float64", "float32"),
        (
            "In which precision the factor of a requantize is computed before a multiplier and a shift are made of it."
            " float32: the scale of the sums is rounded, then the quotient, as in Relay."
        ),
    )
    residual_streams: str = choice(
        "float",
        ("float", "int16"),
        (
            "Sums of transformers that a normalization reads, which 8 bits would spoil. float: as they are; int16:"
            " codes of 16 bits with one scale, so that products, sums and embeddings need no float numbers."
        ),
    )
    rounding: str = choice(
        "UPWARD",
        tuple(ROUNDINGS),
        (
            "Ties of fixed_point and power_of_two: UPWARD half up, TONEAREST half away from zero; DOUBLE rounds twice,"
            " as TFLite does."
            " Mode float always rounds half to even."
        ),
    )
    integer_softmax: bool = option(
        False,
        SWITCH,
        (
            "Compute softmax of products of activations in integers alone, by a fixed-point exp with a proved error"
            " bound, so that attention needs no float numbers. Off: in float32."
        ),
    )
    integer_layer_norm: bool = option(
        False,
        SWITCH,
        (
            "Compute layer norm and rms norm in integers alone, of 16-bit codes, with a proved error bound; goes with"
            " residual_streams 'int16'. Off: in float32."
        ),
    )
    weight_rounding: str = choice(
        "calibrated",
        ("calibrated", "nearest"),
        (
            "How weights become integers. calibrated: up or down so that the errors of a layer's weights cancel on the"
            " calibration data, which are read once more; nearest: each by itself."
        ),
    )
    bias_correction: bool = option(
        True, SWITCH, ("Move each bias by the mean error that weight rounding causes on the calibration data.")
    )
    equalization: bool = option(
        False,
        SWITCH,
        (
            "Give the channels between convolutions ranges of one size, by powers of two that the next weight takes"
            " back. For backends that take one scale for a whole weight; of no use with per_channel."
        ),
    )
    outlier_channels: bool = option(
        True,
        SWITCH,
        (
            "Treat single channels of transformers that are far larger than the others by themselves: divided by"
            " powers of two, or in a product of their own. Reads the calibration data once more."
        ),
    )
    skip_conv_layers: tuple[int, ...] | None = option(
        None,
        tuple_of(int, "indices", none=True),
        (
            "2-D convolutions, counted from 0 in order of execution, that stay float. None: no such layer."
            " Example: 0 for the first. Rules speak of layers by name."
        ),
    )
    skip_dense_layer: bool = option(False, SWITCH, ("Leave dense layers (matrix times constant weight) in float."))
    rules: tuple[Rule, ...] = option(
        (),
        tuple_of(Rule, "Rule", none=False),
        ("Exceptions by layer name, operator type or function; the last rule that matches a layer wins."),
    )
    debug_enabled_ops: tuple[str, ...] | None = option(
        None,
        tuple_of(str, "operator types", none=True),
        ("For debugging: only these operator types are quantized. None: all. Example: nn.conv2d."),
    )
    do_simulation: bool = option(
        False, SWITCH, ("Stop before integers: the result computes in float32 with the rounding of the integer model.")
    )
    passes: tuple[str, ...] = option(
        (),
        names_of("a pass"),
        (
            "Passes of your own, in order, that run behind prepare: each takes the float module and gives one."
            " Example: my_package.passes:fold_scale."
        ),
    )
    operators: tuple[str, ...] = option(
        (),
        names_of("an operator family"),
        (
            "Operator families of your own: how operators are quantized that tvmq leaves in float."
            " Example: my_package.operators:CUMSUM."
        ),
    )
    partition_conversions: str = choice(
        "disabled",
        ("disabled", "enabled", "fully_integral"),
        (
            "Split off the conversions at the border, as in Relay. enabled: the module has the functions"
            " quantize_inputs, quantized_main, dequantize_outputs, and main, which calls them; fully_integral: the"
            " same, all that has an integer form gets it, and floats that remain in quantized_main are an error."
        ),
    )
