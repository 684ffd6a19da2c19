"""Relay's options as options of tvmq: the one place where the two meet.

Everything that a Relay option leaves to its defaults is what Relay computed: symmetric codes, one scale for a whole
weight, 8-bit biases, fixed-point factors of float32 scales. `annotate_rules` brings layers that stay float.

Which layers the options and registered rules keep in float, as Rules of tvmq.

Relay counted the convolutions for skip_conv_layers from the result backwards, arguments from left to right: in
add(conv_b(...), shortcut(...)) the main branch before the shortcut. Relax lists operators in the order of execution,
which may be another one.

Tests: tests/relay/quantize/test_quantize.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence

import tvm
from tvm import relax

import tvmq
from tvmq import Rule
from tvmq.errors import ConfigError
from tvmq.extension import LayerFacts, View, leaves, op_name
from tvmq.relay.quantize.context import ANNOTATE, QAnnotateExpr, quantize_context
from tvmq.relay.quantize.qconfig import QAnnotateKind, QConfig, check

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


def to_tvmq(config: QConfig, rules: Sequence[Rule] = ()) -> tvmq.QConfig:
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
    return tvmq.qconfig.relay(
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
            "relay.quantize: round_for_shift=False has no effect: shifts round, as all requantizing here", stacklevel=4
        )
    if (config.nbit_activation, config.dtype_activation) != (32, "int32"):
        warnings.warn(
            f"relay.quantize: sums have 32 bits here, not nbit_activation={config.nbit_activation} in "
            f"{config.dtype_activation!r}: none overflows",
            stacklevel=4,
        )


def float_rules(mod: tvm.IRModule, config: QConfig) -> list[Rule]:
    """The rules of a prepared module."""
    view = View(mod)
    order = relay_order(view)
    rules = []
    skipped = _find_skipped_numbers(view, order, config)
    if skipped:
        rules.append(Rule(_match_numbers(skipped), None))
    named = _find_refused_names(view, order) if ANNOTATE else set()
    if named:
        rules.append(Rule(_match_names(named), None))
    return rules


def relay_order(view: View) -> list[str]:
    """Variables in the order in which Relay visited them: post-order from the result, arguments left to right."""
    order: dict[str, None] = {}
    waiting = [(leaf.name, False) for leaf in reversed(list(leaves(view.func.body.body)))]
    while waiting:
        name, entered = waiting.pop()
        if name in order or name not in view.value:
            continue
        if entered:
            order[name] = None
            continue
        waiting.append((name, True))
        waiting.extend((leaf.name, False) for leaf in reversed(list(leaves(view.value[name]))))
    return list(order)


def _find_skipped_numbers(view: View, order: list[str], config: QConfig) -> set[int]:
    """Numbers in the order of execution of the convolutions that skip_conv_layers counts in Relay's."""
    wanted = list(config.skip_conv_layers or ())
    convolutions = [name for name in order if op_name(view.value[name]) == "nn.conv2d"]
    names = {convolutions[index] for index in wanted if 0 <= index < len(convolutions)}
    executed = [var.name for var, value in view.bindings if op_name(value) == "nn.conv2d"]
    return {number for number, name in enumerate(executed) if name in names}


def _find_refused_names(view: View, order: list[str]) -> set[str]:
    """Source names of the operators for which a registered rule returned None, or that come after a stop."""
    rules = {name: rule for op, rule in ANNOTATE.items() for name in relax_names(op)}
    refused: set[str] = set()
    with quantize_context() as context:
        for name in order:
            value = view.value[name]
            stopped = context.is_stopped
            if isinstance(value, relax.Call) and op_name(value) in rules and not stopped:
                args = [_argument(arg) for arg in value.args]
                stopped = rules[op_name(value)](value, args, context) is None
            if stopped:
                refused |= {name, *view.sources(name)}
    return refused


def _argument(arg: relax.Expr) -> relax.Expr | QAnnotateExpr:
    """Argument as a rule of Relay gets it: a tensor of the graph as an annotated one, a constant as it is."""
    return QAnnotateExpr(arg, QAnnotateKind.ACTIVATION) if isinstance(arg, relax.Var) else arg


def _match_numbers(numbers: Collection[int]) -> Callable[[LayerFacts], bool]:
    """Matches convolutions by their numbers."""

    def skip_conv_layers(layer: LayerFacts) -> bool:
        return layer.op == "nn.conv2d" and layer.index in numbers

    return _name_match(skip_conv_layers)


def _match_names(names: Collection[str]) -> Callable[[LayerFacts], bool]:
    """Matches layers one of whose operators has one of these names."""

    def register_annotate_function(layer: LayerFacts) -> bool:
        return not {layer.key, *layer.names}.isdisjoint(names)

    return _name_match(register_annotate_function)


def _name_match(match: Callable[[LayerFacts], bool]) -> Callable[[LayerFacts], bool]:
    """Name a rule by its option alone, as the ledger and `tvmq.explain` show it."""
    match.__qualname__ = match.__name__
    return match
