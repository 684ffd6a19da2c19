"""Options of qconfig that a backend asks for, and those that it cannot express.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.backends.vocabulary import DEPTHWISE, FAMILIES, WEIGHTED
from tvmq.errors import ConfigError
from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.spec import QuantSpec

if TYPE_CHECKING:
    from tvmq.backends.description import Backend

MODE, ROUNDING = "float", "UPWARD"  # the defaults of qconfig
SCALES_AT_RUN_TIME = (
    "activations",
    "dtype_weight",
    "nbit_weight",
    "group_size",
    "per_channel",
    "reduce_range",
    "weight_scale",
)


def options_of(backend: Backend) -> dict[str, Any]:
    """See Backend.options."""
    options: dict[str, Any] = {}
    signed = [dtype for dtype in backend.activations if dtype.startswith("int")]
    base = storage_of(backend)
    if not backend.zero_points:
        options |= {"dtype_input": base if base in signed else signed[0], "scheme": "symmetric"}
    elif base != "uint8":
        options["dtype_input"] = base
    if "int8" not in backend.weights:
        options["dtype_weight"] = backend.usable_weights()[0]
    if not backend.per_channel:
        options |= {"per_channel": False, "equalization": True}
    for option, default, allowed in (
        ("requantize", MODE, backend.requantize), ("rounding", ROUNDING, backend.roundings),
    ):  # fmt: skip
        if default not in allowed:
            options[option] = allowed[0]
    if backend.requantize_rule is not None and backend.requantize_rule.factors == "float32":
        options["factors"] = "float32"
    if not backend.floats:
        options["partition_conversions"] = "fully_integral"
    if backend.reduce_range:
        options["reduce_range"] = True
    if backend.weight_scale != "max":
        options["weight_scale"] = backend.weight_scale
    options |= _shared_inputs(backend) | _shared_weights(backend)
    if backend.activation_scales == "run_time":
        options = {"activations": "dynamic"} | {name: options[name] for name in SCALES_AT_RUN_TIME if name in options}
    return options


def storage_of(backend: Backend) -> str:
    """Storage of all activations where options say nothing: that of what the entries read first.

    raises  ConfigError if entries begin with codes of several storages
    """
    firsts: dict[str, str] = {}
    for place, entry in enumerate(backend.operators):
        spec = entry.inputs.spec if entry.inputs else None
        if spec is not None:
            firsts.setdefault(spec.dtype, f"operators[{place}].inputs.dtype")
    if len(firsts) > 1:
        (one, _), (other, path) = list(firsts.items())[:2]
        raise ConfigError(
            f"Backend {backend.name!r}: {path}: codes that are stored as {other}, and those of an entry before "
            f"as {one}; activations have one storage: name types of one storage first"
        )
    if firsts:
        return next(iter(firsts))
    return "uint8" if "uint8" in backend.activations else backend.activations[0]


def _shared_inputs(backend: Backend) -> dict[str, Any]:
    """Options of what all integer operators read."""
    forms = {entry.inputs if entry else None for entry in integer_entries(backend)}
    form = forms.pop() if len(forms) == 1 else None
    if not isinstance(form, TensorForm):
        return {}
    options: dict[str, Any] = {}
    if form.spec is not None and form.spec.bits != 8:
        options["nbit_input"] = form.spec.bits
    if form.scheme == "symmetric":
        options["scheme"] = "symmetric"
    if form.observer is not None:
        options["calibrate_mode"] = form.observer
    return options


def _shared_weights(backend: Backend) -> dict[str, Any]:
    """Options of what all constant weights are."""
    forms = {entry.weights if entry else None for entry in integer_entries(backend, WEIGHTED)}
    form = forms.pop() if len(forms) == 1 else None
    if not isinstance(form, WeightForm):
        return {}
    options: dict[str, Any] = {}
    if form.spec is not None:
        options |= {"nbit_weight": form.spec.bits} if form.spec.bits != 8 else {}
        options |= {"dtype_weight": form.spec.dtype} if form.spec.dtype != "int8" else {}
    if form.granularity == "per_tensor":
        options |= {"per_channel": False, "equalization": True}
    if form.group_size is not None:
        options["group_size"] = form.group_size
    if form.observer is not None:
        options["weight_scale"] = form.observer
    return options


def integer_entries(backend: Backend, families: tuple[str, ...] = FAMILIES) -> Iterator[OperatorEntry | None]:
    """Entries for each of these families, and its depthwise form; those that stay float left out."""
    for family in families:
        if backend.families is not None and family not in backend.families:
            continue
        ways = (False, True) if family.startswith("conv") and _knows_depthwise(backend) else (False,)
        for depthwise in ways:
            entry = backend.entry(family, depthwise=depthwise)
            if entry is None or entry.computes == "integer":
                yield entry


def _knows_depthwise(backend: Backend) -> bool:
    return any(DEPTHWISE in entry.patterns for entry in backend.operators)


def refused_options_of(backend: Backend, options: Mapping[str, Any]) -> list[str]:
    """See Backend.refused_options."""
    wanted = backend.options()
    faults = {
        "activations": _times(backend, options.get("activations")),
        "dtype_input": _storage(backend, "activations", options.get("dtype_input")),
        "nbit_input": _bits(backend, options, "input"),
        "scheme": None if backend.zero_points or options.get("scheme") == "symmetric" else "has no zero points",
        "dtype_weight": _storage(backend, "weights", options.get("dtype_weight")),
        "nbit_weight": _bits(backend, options, "weight"),
        "per_channel": None
        if not options.get("per_channel") or _takes_channels(backend)
        else "takes one scale for a weight, not one for each channel",
        "requantize": _mode("requantize", backend.requantize, options.get("requantize")),
        "rounding": _mode("round by", backend.roundings, options.get("rounding")),
        "residual_streams": _mode("add codes of", ("float", *backend.streams), options.get("residual_streams")),
    }
    instead = {
        "activations": "static",
        "dtype_weight": backend.usable_weights()[0],
        "requantize": backend.requantize[0],
    } | wanted
    instead |= {"rounding": backend.roundings[0], "dtype_input": wanted.get("dtype_input", backend.activations[0])}
    instead |= {"residual_streams": "float", "per_channel": False}
    idle = set(faults) - set(SCALES_AT_RUN_TIME) if backend.activation_scales == "run_time" else set()
    return [
        f"{option}={options[option]!r}: {fault}; use {option}={instead[option]!r}"
        for option, fault in faults.items()
        if option in options and fault and option not in idle
    ]


def _takes_channels(backend: Backend) -> bool:
    own = [
        entry.weights.granularity if entry and entry.weights else None for entry in integer_entries(backend, WEIGHTED)
    ]
    return any(kind in ("per_channel", "per_group") or (kind is None and backend.per_channel) for kind in own)


def _bits(backend: Backend, options: Mapping[str, Any], kind: str) -> str | None:
    """Why no operator takes codes of that many bits, where the entries share what they take."""
    name = f"nbit_{kind}"
    if name not in options or name not in backend.options() or f"dtype_{kind}" not in options:
        return None
    field, families = ("weights", WEIGHTED) if kind == "weight" else ("inputs", FAMILIES)
    form = next((getattr(entry, field) for entry in integer_entries(backend, families) if entry), None)
    symmetric = kind == "weight" or options.get("scheme") == "symmetric"
    try:
        spec = QuantSpec(options[f"dtype_{kind}"], options[name], symmetric=symmetric)
    except ConfigError:  # refused by qconfig itself
        return None
    return form.refusal(spec) if form is not None else None


def _times(backend: Backend, when: str | None) -> str | None:
    if when == "static" and backend.activation_scales == "run_time":
        return "makes its scales at run time"
    return None if backend.floats or when == "static" else "scales at run time are floats, and it has none"


def _storage(backend: Backend, kind: str, dtype: str | None) -> str | None:
    allowed = backend.activations if kind == "activations" else weight_storages(backend)
    return None if dtype is None or dtype in allowed else f"computes no {dtype} {kind}"


def weight_storages(backend: Backend) -> tuple[str, ...]:
    """Storages of weights, those of entries among them."""
    own = [CODE_TYPES[name].storage for entry in backend.operators if entry.weights for name in entry.weights.dtype]
    return tuple(dict.fromkeys((*backend.weights, *own)))


def _mode(what: str, allowed: tuple[str, ...], value: str | None) -> str | None:
    return None if value is None or value in allowed else f"does not {what} {value}"
