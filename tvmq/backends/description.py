"""Description of a backend: data alone, so that whoever has an accelerator can describe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from tvmq.backends.backend_options import options_of, refused_options_of
from tvmq.backends.operator_entry import OVERFLOWS, OperatorEntry
from tvmq.backends.vocabulary import BIAS_TYPES, FLOAT_TYPES, WEIGHT_OBSERVERS, WEIGHTED
from tvmq.base.by_name import is_object_name
from tvmq.errors import ConfigError
from tvmq.numerics.code_type import CODES_16
from tvmq.numerics.requantize_rule import MODES, ROUNDINGS, RequantizeRule, rule_of_mode
from tvmq.numerics.spec import QuantSpec

# What families are made of, by the field of a backend that says whether it has that.
NEEDS = {
    **dict.fromkeys(("table", "compare"), "tables"),
    **dict.fromkeys(("scale_shift", "prelu"), "multipliers"),
    **dict.fromkeys(("integer_softmax", "integer_layer_norm", "masked_mean"), "wide"),  # they count in 64 bits
}
# Field -> what it may hold.
LISTS = {
    "activations": CODES_16, "weights": CODES_16,
    "requantize": tuple(MODES), "roundings": tuple(ROUNDINGS),
}  # fmt: skip
WORDS = {
    "overflow": OVERFLOWS,
    "bias": BIAS_TYPES,
    "float_type": FLOAT_TYPES,
    "activation_scales": ("calibrated", "run_time"),
    "weight_scale": WEIGHT_OBSERVERS,
}


# How the fields of a Backend work together ("no zero_points": where the field is False).
#
#   field              sets in qconfig, unless the user does       refuses layer by layer          goes with
#   -----------------  ------------------------------------------  ------------------------------  --------------------
#   families           -                                           all other families              run_time: None
#   activations        dtype_input, unless uint8 is among them     other types                     entry; zero_points
#   zero_points        no: scheme symmetric                        no: asymmetric activations      entry; a signed type
#   weights            dtype_weight, unless int8 is among them     other types                     entry; a signed type
#   per_channel        no: per_channel False, equalization True    no: a scale for each channel    entry
#   requantize         its first mode, unless float is among them  other modes                     float: floats
#   roundings          its first, unless UPWARD is among them      -                               -
#   requantize_rule    factors, where these are float32            -                               entry; sets those two
#   floats             no: partition_conversions fully_integral    no: scales at run time          no float in any field
#   reduce_range       reduce_range                                -                               -
#   weight_scale       weight_scale, unless it is max              -                               entry
#   accumulator_bits   -                                           < 32: errors in place of float  entry; overflow
#   overflow           -                                           -                               entry
#   bias               -                                           -                               entry; float32: mode
#                                                                                                  float; below int32:
#                                                                                                  symmetric inputs
#   multipliers        -                                           no: scale_shift, prelu, and     -
#                                                                  averages of not 2^n values
#   tables             -                                           no: table, compare              -
#   wide               -                                           no: integer softmax and layer   -
#                                                                  norm, masked mean
#   largest_kernel     -                                           larger kernels                  entry
#   streams            -                                           int16 residuals                 -
#   activation_scales  run_time: activations dynamic, and beside   -                               run_time: int8, float
#                      it options of weights alone                                                 one form of weights
#   operators          what all of its entries share               what an entry does not take     wins over "entry"
#
# "entry": one of `operators` may say it otherwise for some families. backend_options.py computes the second column,
# `Backend.refusal` and passes/partition/decide.py the third, consistency.py the fourth. The other fields are read by
# one reader each: division and float_type by emulation and verification, lowerings by `build`.
@dataclass(frozen=True)
class Backend:
    """A target as the quantizer sees it; the defaults are those of a CPU.

    name               for the ledger and for messages
    families           operator families that it computes in integers; None: all that we have
    activations        storage types of activations
    weights            storage types of weights, a signed one among them
    requantize         modes of requantization
    roundings          roundings of the modes fixed_point and power_of_two
    streams            types of residual streams besides float: () or ("int16",)
    reduce_range       whether weights of 7 bits are so much faster that they are the default
    weight_scale       how ranges of weights are chosen, as the option of that name: "lanes" where products of bytes are
                       added in 16 bits
    per_channel        whether weights may have a scale for each channel
    zero_points        whether 0.0 may have another code than 0; without: symmetric activations only
    accumulator_bits   width of the integers that sums are made in, 8..32
    multipliers        whether int32 can be multiplied by any constant; without: by powers of two, which are shifts
    tables             whether 8-bit codes can be looked up in tables of 256 entries
    division           whether integers can be divided
    wide               whether there are 64-bit integers
    floats             whether there are floats: operators without an integer form run there, and so does
                       requantize "float"; without: options that it cannot express are errors
    largest_kernel     longest side of a convolution's kernel; None: any
    overflow           what sums do that leave accumulator_bits: "proved" not to (quantize proves it, or refuses),
                       "wrap" or "saturate" (that is the device's business: an emulation counts them)
    bias               type of biases, at the scale of the sums: "int32", "int8" to "int16", or "float32"
    float_type         in what floats are computed: "float32", "float16" or "bfloat16". A build has the roundings
    activation_scales  "calibrated", or "run_time": each row or sample gets its scale when it is there
    requantize_rule    the rule itself, in place of requantize and roundings, which follow from it
    operators          what is otherwise for single kinds of operators: OperatorEntry; the last that matches wins, whole
    lowerings          tvmq.Lowering, or "module:object" of one: what `build(backend=...)` has it compute itself
    raises             ConfigError for values that are not allowed, or contradict each other (see consistency.py)

    >>> Backend("toy", activations=("int8",), zero_points=False).options()
    {'dtype_input': 'int8', 'scheme': 'symmetric'}
    """

    name: str
    families: frozenset[str] | None = None
    activations: tuple[str, ...] = ("uint8", "int8")
    weights: tuple[str, ...] = ("int8",)
    requantize: tuple[str, ...] = tuple(MODES)
    per_channel: bool = True
    roundings: tuple[str, ...] = tuple(ROUNDINGS)
    zero_points: bool = True
    accumulator_bits: int = 32
    multipliers: bool = True
    tables: bool = True
    division: bool = True
    wide: bool = True
    floats: bool = True
    largest_kernel: int | None = None
    streams: tuple[str, ...] = ("int16",)
    reduce_range: bool = False
    weight_scale: str = "max"
    overflow: str = "proved"
    bias: str = "int32"
    float_type: str = "float32"
    activation_scales: str = "calibrated"
    requantize_rule: RequantizeRule | None = None
    operators: tuple[OperatorEntry, ...] = ()
    lowerings: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        from tvmq.backends.consistency import check_together, follow_rule

        for field in fields(self):
            reason = self._field_fault(field.name, getattr(self, field.name))
            if reason:
                raise ConfigError(f"Backend {self.name!r}: '{field.name}' {reason}")
        follow_rule(self)
        check_together(self)

    def usable_weights(self) -> list[str]:
        """Types of weights that there is a quantizer for, in the order of the description."""
        return [dtype for dtype in self.weights if dtype.startswith("int")]

    @staticmethod
    def _field_fault(name: str, value: Any) -> str | None:
        """Reason why the value of a field is refused; None if it is allowed."""
        if name in LISTS:
            allowed = LISTS[name]
            if isinstance(value, tuple) and value and all(item in allowed for item in value):
                return None
            return f"must be a tuple of {', '.join(allowed)}. Got {value!r} instead"
        if name in WORDS:
            return None if value in WORDS[name] else f"must be one of {', '.join(WORDS[name])}. Got {value!r} instead"
        if name == "streams":
            known = isinstance(value, tuple) and all(item == "int16" for item in value)
            return None if known else f"must be () or ('int16',). Got {value!r} instead"
        if name == "lowerings":
            known = isinstance(value, tuple) and all(is_object_name(one) or hasattr(one, "pattern") for one in value)
            return None if known else f"must be a tuple of tvmq.Lowering or \"module:object\". Got {value!r} instead"
        if name == "accumulator_bits":
            known = isinstance(value, int) and not isinstance(value, bool) and 8 <= value <= 32
            return None if known else f"must be a whole number in 8..32. Got {value!r} instead"
        if name == "largest_kernel":
            known = value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)
            return None if known else f"must be None or a positive whole number. Got {value!r} instead"
        if name == "families":
            known = value is None or (isinstance(value, frozenset) and all(isinstance(item, str) for item in value))
            return None if known else f"must be None or a frozenset of names. Got {value!r} instead"
        if name == "requantize_rule":
            known = value is None or isinstance(value, RequantizeRule)
            return None if known else f"must be None or a RequantizeRule. Got {value!r} instead"
        if name == "operators":
            known = isinstance(value, tuple) and all(isinstance(item, OperatorEntry) for item in value)
            return None if known else f"must be a tuple of OperatorEntry. Got {value!r} instead"
        kind = str if name == "name" else bool
        return None if isinstance(value, kind) else f"must be a {kind.__name__}. Got {value!r} instead"

    # ---- JSON

    def to_json(self) -> str:
        """The description as JSON text, every field in it: what `tvmq backend show` prints.

        >>> Backend.from_json(Backend("toy", per_channel=False).to_json()) == Backend("toy", per_channel=False)
        True
        """
        from tvmq.backends.json_form import write

        return write(self)

    @classmethod
    def from_json(cls, text: str | bytes, where: str = "backend") -> Backend:
        """Inverse of `to_json`; a field that is left out has its default. Nothing that the text names is executed.

        where   what messages begin with, the name of a file
        raises  ConfigError in one sentence, with the path of the field
        """
        from tvmq.backends.json_form import read

        return read(text, where)

    # ---- options

    def options(self) -> dict[str, Any]:
        """The options of qconfig that differ from the defaults because this backend asks for it.

        What all its operators share is among them; what entries of `operators` say of some is decided layer by layer.

        >>> Backend("shifts", requantize=("power_of_two",), per_channel=False).options()
        {'per_channel': False, 'equalization': True, 'requantize': 'power_of_two'}
        """
        return options_of(self)

    def refused_options(self, options: Mapping[str, Any]) -> list[str]:
        """Options that this backend cannot express, each with the value to use instead.

        >>> Backend("toy", per_channel=False).refused_options({"per_channel": True})
        ['per_channel=True: takes one scale for a weight, not one for each channel; use per_channel=False']
        """
        return refused_options_of(self, options)

    def refuses_dynamic(self) -> str | None:
        """Why it cannot compute with scales that are made at run time; None if it can.

        >>> Backend("toy", floats=False, requantize=("fixed_point",)).refuses_dynamic()
        "cannot express activations='dynamic': scales at run time are floats, and it has none; use activations='static'"
        """
        refused = self.refused_options({"activations": "dynamic"})
        if refused:
            return f"cannot express {refused[0]}"
        plain = self.families is None and {"int8"}.issubset(self.activations)
        return None if plain else "does not say that it computes with them"

    # ---- layers

    def entry(self, family: str, *, depthwise: bool = False) -> OperatorEntry | None:
        """The entry of `operators` that speaks of an operator family: the last that matches; None without."""
        entries = [entry for entry in self.operators if entry.speaks_of(family, depthwise=depthwise)]
        return entries[-1] if entries else None

    def rule(self, family: str = "", *, depthwise: bool = False) -> RequantizeRule:
        """How sums of an operator family become codes, with its accumulators and biases.

        A backend that names modes instead of a rule has that of its first mode and rounding.

        >>> Backend("toy", requantize=("fixed_point",), accumulator_bits=24).rule().accumulator_bits
        24
        """
        entry = self.entry(family, depthwise=depthwise) if family else None
        own = entry.requantize if entry and entry.requantize else self.requantize_rule
        rule = own or rule_of_mode(self.requantize[0], self.roundings[0])
        bits, overflow = self.accumulators(family, depthwise=depthwise)
        bias = (entry.bias if entry and entry.bias else self.bias).removeprefix("int")
        width = int(bias) if bias.isdigit() else 32
        return replace(rule, accumulator_bits=bits, overflow=overflow, bias_bits=width)

    def accumulators(self, family: str = "", *, depthwise: bool = False) -> tuple[int, str]:
        """Bits of the sums of an operator family, and what happens to sums that leave them."""
        entry = self.entry(family, depthwise=depthwise) if family else None
        bits = entry.accumulator_bits if entry and entry.accumulator_bits else self.accumulator_bits
        return bits, entry.overflow if entry and entry.overflow else self.overflow

    @property
    def proves_sums(self) -> bool:
        """True if sums of less than 32 bits are to be proved to fit."""
        own = [
            (entry.accumulator_bits or self.accumulator_bits, entry.overflow or self.overflow)
            for entry in self.operators
        ]
        return any(bits < 32 and how == "proved" for bits, how in (*own, (self.accumulator_bits, self.overflow)))

    def fit_specs(
        self, family: str, activations: QuantSpec, weights: QuantSpec | None, *, depthwise: bool = False
    ) -> tuple[QuantSpec, QuantSpec | None]:
        """The specs that a layer gets in place of those of the options, where its entry takes no such codes.

        >>> from tvmq.backends.tensor_forms import WeightForm
        >>> four = Backend("four", operators=(OperatorEntry(("conv2d",), weights=WeightForm(("int4",))),))
        >>> four.fit_specs("conv2d", QuantSpec(), QuantSpec("int8", symmetric=True))[1].bits
        4
        """
        entry = self.entry(family, depthwise=depthwise)
        if entry and entry.inputs:
            activations = entry.inputs.fit_spec(activations)
        if entry and entry.weights and weights:
            weights = entry.weights.fit_spec(weights)
        return activations, weights

    def refusal(
        self, family: str, activations: QuantSpec, weights: QuantSpec | None, mode: str,
        kernel: tuple[int, ...] = (), *, channels: tuple[int, ...] = (), depthwise: bool = False,
    ) -> str | None:  # fmt: skip
        """Why it cannot compute an operator family with these specs in integers; None if it can.

        kernel     sides of a convolution's kernel
        channels   of what is read and of the result, where they are known
        depthwise  each filter reads one channel

        >>> Backend("toy", activations=("int8",)).refusal("conv2d", QuantSpec("uint8"), None, "float")
        'limit: backend toy computes no uint8 activations'
        """
        entry = self.entry(family, depthwise=depthwise)
        fault = self._missing_feature(family, kernel, entry) or self._spec_fault(activations, weights, entry)
        fault = fault or (
            entry.refusal(activations, weights if family in WEIGHTED else None, channels) if entry else None
        )
        if fault is None and mode not in self.requantize:
            fault = f"does not requantize by {mode}"
        return f"limit: backend {self.name} {fault}" if fault else None

    def _missing_feature(self, family: str, kernel: tuple[int, ...], entry: OperatorEntry | None) -> str | None:
        if self.families is not None and family not in self.families:
            return f"has no integer {family}"
        need = NEEDS.get(family)
        lacking = need if need is not None and not getattr(self, need) else None
        if lacking == "tables":
            return f"has no tables, which {family} is made of"
        if lacking == "multipliers":
            return f"does not multiply int32 by constants, as {family} does"
        if lacking == "wide":
            return f"has no 64-bit integers, which {family} counts in"
        largest = entry.largest_kernel if entry and entry.largest_kernel else self.largest_kernel
        if largest is not None and max(kernel, default=0) > largest:
            return f"has kernels up to {largest}, not {max(kernel)}"
        return None

    def _spec_fault(self, activations: QuantSpec, weights: QuantSpec | None, entry: OperatorEntry | None) -> str | None:
        if activations.dtype not in self.activations:
            return f"computes no {activations.dtype} activations"
        own = entry.inputs.scheme if entry and entry.inputs else None
        if not activations.symmetric and not self.zero_points and own is None:
            return "has no zero points, activations must be symmetric"
        form = entry.weights if entry else None
        if weights is not None and not (form and form.dtype) and weights.dtype not in self.weights:
            return f"computes no {weights.dtype} weights"
        per_channel = self.per_channel or bool(form and form.granularity == "per_channel")
        if weights is not None and weights.per_channel and not per_channel:
            return "takes one scale for a weight, not one for each channel"
        return None

    def refuses_stream(self, dtype: str) -> str | None:
        """Why it cannot add the codes of a residual stream of this type; None if it can.

        >>> Backend("toy", streams=()).refuses_stream("int16")
        'limit: backend toy adds no int16 codes'
        """
        return None if dtype in self.streams else f"limit: backend {self.name} adds no {dtype} codes"
