"""Consistency of a description: of its fields, so that all that is allowed works in `quantize`, and with compiled code.

    requantize_rule                 sets requantize and roundings, which must be left out beside it
    floats=False                    no requantize "float", no float rule, bias or output, no scales made at run time
    zero_points=False               a signed type among activations, no entry with scheme "asymmetric"
    bias "float32"                  goes with sums that become floats: requantize "float"
    bias below 32 bits              inputs are symmetric: zero points of what is read go into biases
    requantize "power_of_two"       for all operators or none: scales of all entries are powers of two, or left open
    granularity "per_group"         goes with activation_scales "run_time": sums of groups have no integer form
    activation_scales "run_time"    "int8" among activations, all families, one form for all weights
    output of an entry              holds what any operator reads

Messages begin with the backend; behind it stands the path of the field, as the JSON form has it.

Tests: tests/backends/test_json_form.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tvmq.backends.backend_options import integer_entries, storage_of
from tvmq.backends.operator_entry import OF_INTEGERS, OperatorEntry
from tvmq.backends.tensor_forms import TensorForm
from tvmq.backends.vocabulary import FLOAT_TYPES, WEIGHTED
from tvmq.errors import ConfigError
from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.codes import PACKED_BITS
from tvmq.numerics.requantize_rule import FLOATS, RequantizeRule

if TYPE_CHECKING:
    from tvmq.backends.description import Backend

# Fields of a rule that a backend says beside it.
BESIDE_RULES = ("accumulator_bits", "overflow", "bias_bits")


def follow_rule(backend: Backend) -> None:
    """Take modes and roundings from the rule, where there is one."""
    if backend.requantize_rule is None:
        return
    mode, rounding = backend.requantize_rule.nearest_mode
    own = type(backend).__dataclass_fields__
    for name, value in (("requantize", (mode,)), ("roundings", (rounding,))):
        if getattr(backend, name) not in (own[name].default, value):
            _refuse(backend, name, f"follows from requantize_rule, which asks for {value[0]!r}; leave it out")
        object.__setattr__(backend, name, value)


def emulation_alone(backend: Backend) -> str | None:
    """Why compiled code does not give what this backend gives, bit for bit; None if it does.

    >>> from tvmq.backends import backend_named
    >>> emulation_alone(backend_named("tflite")) is None
    True
    """
    if (rounds := why_not_compiled(backend)) is not None:
        return rounds
    sums = [(backend.accumulator_bits, backend.overflow), *(backend.accumulators(name) for name in WEIGHTED)]
    narrow = next(((bits, how) for bits, how in sums if how != "proved" and bits < 32), None)
    return f"sums of {narrow[0]} bits {narrow[1]}, compiled sums are proved to fit int32" if narrow else None


def why_not_compiled(backend: Backend) -> str | None:
    """The rule that no compiled requantize is equal to, whatever the sums are; None if there is none: `build` asks.

    >>> from tvmq.backends.description import Backend
    >>> why_not_compiled(Backend("toy", requantize_rule=RequantizeRule("shift", roundings=("floor",))))
    "requantize_rule {'arithmetic': 'shift', 'roundings': ['floor']} is no mode and rounding of tvmq.requantize"
    """
    rules = {"requantize_rule": backend.requantize_rule}
    rules |= {f"operators[{place}].requantize": entry.requantize for place, entry in enumerate(backend.operators)}
    for path, rule in rules.items():
        if rule is not None and rule.equivalent_mode is None:
            return f"{path} {rule.to_dict()} is no mode and rounding of tvmq.requantize"
    return None


def check_together(backend: Backend) -> None:
    """ConfigError for fields that contradict each other."""
    if not backend.floats and "float" in backend.requantize:
        raise ConfigError(
            f"Backend {backend.name!r}: requantize: requantize 'float' needs floats, and there are none; "
            "leave it out of requantize=..."
        )
    if not backend.usable_weights():
        raise ConfigError(
            f"Backend {backend.name!r}: weights: weights are symmetric, their codes are signed; "
            f"add 'int8' or 'int16' to weights=... Got {backend.weights!r}"
        )
    if not backend.zero_points and not any(dtype.startswith("int") for dtype in backend.activations):
        raise ConfigError(
            f"Backend {backend.name!r}: activations: without zero points activations must be signed; "
            "add 'int8' to activations=..."
        )
    _check_rule(backend, "requantize_rule", backend.requantize_rule, backend.bias, None)
    for place, entry in enumerate(backend.operators):
        rule, bias = entry.requantize or backend.requantize_rule, entry.bias or backend.bias
        if entry.computes == "integer":
            _check_rule(backend, f"operators[{place}].requantize", rule, bias, entry.inputs)
    storage = storage_of(backend)
    for place, entry in enumerate(backend.operators):
        _check_entry(backend, f"operators[{place}]", entry, storage)
    if backend.activation_scales == "run_time":
        _check_run_time(backend)


def _check_rule(backend: Backend, path: str, rule: RequantizeRule | None, bias: str, inputs: TensorForm | None) -> None:
    mode = rule.nearest_mode[0] if rule else backend.requantize[0]
    where = path.replace("requantize_rule", "bias").replace("requantize", "bias")
    if bias == "float32" and mode != "float":
        _refuse(
            backend,
            where,
            f"'float32' goes with sums that become floats; write int32, or arithmetic 'float32'. Got {mode!r}",
        )
    narrow = bias not in ("int32", "float32")
    scheme = inputs.scheme if inputs else None
    if narrow and scheme != "symmetric" and (backend.zero_points or scheme is not None):
        _refuse(
            backend, where,
            f"{bias!r} needs symmetric codes, as zero points of what is read go into biases; "
            "add inputs with scheme 'symmetric', or leave zero points out",
        )  # fmt: skip
    if rule is None:
        return
    for name in BESIDE_RULES:
        if getattr(rule, name) != type(rule).__dataclass_fields__[name].default:
            beside = "bias" if name == "bias_bits" else name
            _refuse(backend, f"{path}.{name}", f"stands beside the rule, as {beside}; leave it out here")
    if rule.arithmetic in FLOATS and not backend.floats:
        needs = f"{rule.arithmetic!r} needs floats, and there are none; use 'integer' or 'shift'"
        _refuse(backend, f"{path}.arithmetic", needs)
    if (mode == "power_of_two") != (backend.requantize[0] == "power_of_two"):
        _refuse(
            backend, f"{path}.arithmetic",
            f"{rule.arithmetic!r} beside operators that requantize by {backend.requantize[0]}: "
            "shifts need scales that are powers of two everywhere; use one or the other for all",
        )  # fmt: skip


def _check_entry(backend: Backend, path: str, entry: OperatorEntry, storage: str) -> None:
    if entry.computes != "integer" and not backend.floats:
        _refuse(backend, f"{path}.computes", f"{entry.computes!r} needs floats, and there are none; add floats")
    for kind in ("inputs", "weights"):
        scales = getattr(getattr(entry, kind), "scales", None)
        are = "power_of_two" if backend.requantize[0] == "power_of_two" else "free"
        if scales not in (None, are):
            _refuse(
                backend, f"{path}.{kind}.scales",
                f"{scales!r} does not go with requantize {backend.requantize[0]!r}; use {are!r}, or "
                + ("another arithmetic" if are == "power_of_two" else "arithmetic 'shift'"),
            )  # fmt: skip
    _check_inputs(backend, path, entry, storage)
    _check_output(backend, path, entry)
    if entry.weights and entry.weights.granularity == "per_group" and backend.activation_scales != "run_time":
        _refuse(
            backend, f"{path}.weights.granularity",
            "'per_group' needs activation_scales 'run_time': sums of groups of calibrated codes have no integer form; "
            "use 'per_channel'",
        )  # fmt: skip


def _check_inputs(backend: Backend, path: str, entry: OperatorEntry, storage: str) -> None:
    for name in entry.inputs.dtype if entry.inputs else ():
        own = CODE_TYPES[name].storage
        if own not in backend.activations:
            _refuse(
                backend, f"{path}.inputs.dtype",
                f"{name} is stored as {own}, and activations are {', '.join(backend.activations)}; add {own!r} there",
            )  # fmt: skip
    scheme = entry.inputs.scheme if entry.inputs else None
    if scheme == "symmetric" and storage == "uint8":
        _refuse(
            backend,
            f"{path}.inputs.scheme",
            "'symmetric' needs signed codes; add dtype 'int8', or activations ['int8']",
        )
    if scheme == "asymmetric" and not backend.zero_points:
        _refuse(backend, f"{path}.inputs.scheme", "'asymmetric' needs zero_points, and there are none; add them")
    is_symmetric = scheme == "symmetric" or (scheme is None and not backend.zero_points)
    if is_symmetric and entry.inputs and entry.inputs.narrow_range is False:
        _refuse(
            backend, f"{path}.inputs.narrow_range",
            "symmetric codes of the quantizer end at -127 of 8 bits: a device that goes to -128 saturates otherwise; "
            "leave it out where -127 is enough, or use zero points",
        )  # fmt: skip


def _check_output(backend: Backend, path: str, entry: OperatorEntry) -> None:
    """Check that results are written in the type that is read: what any operator reads, this one must write."""
    floats = [name for name in entry.output if name in FLOAT_TYPES]
    if floats and not backend.floats:
        _refuse(backend, f"{path}.output", f"{floats[0]!r} needs floats, and there are none; leave it out")
    written = [CODE_TYPES[name] for name in entry.output if name in CODE_TYPES]
    if not entry.output:
        return
    for reader in integer_entries(backend):
        form = reader.inputs if reader else None
        read = form.dtype[0] if form and form.dtype else storage_of(backend)
        least = CODE_TYPES[read].bits if form and form.dtype else 8
        if not any(kind.storage == CODE_TYPES[read].storage and kind.bits >= least for kind in written):
            _refuse(
                backend, f"{path}.output",
                f"{', '.join(entry.output)}: another operator reads {read}, and results are written in the type that "
                f"is read; add {read!r}",
            )  # fmt: skip


def _check_run_time(backend: Backend) -> None:
    """Check scales made at run time: products alone are integers, of weights that are all of one form."""
    if not backend.floats:
        _refuse(backend, "activation_scales", "'run_time' scales are floats, and there are none; use 'calibrated'")
    if "int8" not in backend.activations or backend.families is not None:
        _refuse(backend, "activation_scales", "'run_time' needs 'int8' among activations, and families null")
    forms = {entry.weights if entry else None for entry in integer_entries(backend, WEIGHTED)}
    for place, entry in enumerate(backend.operators):
        names = [name for name in OF_INTEGERS if name != "weights" and getattr(entry, name)]
        if names:
            _refuse(backend, f"operators[{place}].{names[0]}", "says nothing of scales made at run time; leave it out")
        if entry.weights and (len(forms) > 1 or entry.computes != "integer"):
            _refuse(
                backend, f"operators[{place}].weights",
                "scales made at run time go with one form of all weights; use one entry with pattern '*'",
            )  # fmt: skip
        spec = entry.weights.spec if entry.weights else None
        if entry.weights and entry.weights.group_size and (spec is None or spec.bits > PACKED_BITS):
            _refuse(
                backend,
                f"operators[{place}].weights.dtype",
                f"'per_group' is for at most {PACKED_BITS} bits; use 'int4'",
            )


def _refuse(backend: Backend, path: str, what: str) -> NoReturn:
    raise ConfigError(f"Backend {backend.name!r}: {path}: {what}")
