"""What a backend says about itself: data alone, so that whoever has an accelerator can describe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tvmq.errors import ConfigError
from tvmq.spec import STORAGE_BITS, QuantSpec

REQUANTIZE = ("float", "fixed_point", "power_of_two")
ROUNDINGS = ("UPWARD", "TONEAREST", "DOUBLE")
# Families that look results up in a table of 256 entries, and those that multiply int32 by constants of their own.
# What families are made of, by the field of a backend that says whether it has that.
NEEDS = {
    **dict.fromkeys(("table", "compare"), "tables"),
    **dict.fromkeys(("scale_shift", "prelu"), "multipliers"),
    **dict.fromkeys(("integer_softmax", "integer_layer_norm", "masked_mean"), "wide"),  # they count in 64 bits
}
# Field -> what it may hold.
_ALLOWED = {
    "activations": tuple(STORAGE_BITS), "weights": tuple(STORAGE_BITS),
    "requantize": REQUANTIZE, "roundings": ROUNDINGS,
}  # fmt: skip


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
    raises             ConfigError for values that are not allowed, or contradict each other

    >>> Backend("toy", activations=("int8",), zero_points=False).options()
    {'dtype_input': 'int8', 'scheme': 'symmetric'}
    """

    name: str
    families: frozenset[str] | None = None
    activations: tuple[str, ...] = ("uint8", "int8")
    weights: tuple[str, ...] = ("int8",)
    requantize: tuple[str, ...] = REQUANTIZE
    per_channel: bool = True
    roundings: tuple[str, ...] = ROUNDINGS
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

    def __post_init__(self) -> None:
        for field in fields(self):
            reason = self._fault(field.name, getattr(self, field.name))
            if reason:
                raise ConfigError(f"Backend {self.name!r}: '{field.name}' {reason}")
        if not self.floats and "float" in self.requantize:
            raise ConfigError(
                f"Backend {self.name!r}: requantize 'float' needs floats, and there are none; "
                "leave it out of requantize=..."
            )
        if not self._usable_weights():
            raise ConfigError(
                f"Backend {self.name!r}: weights are symmetric, their codes are signed; "
                f"add 'int8' or 'int16' to weights=... Got {self.weights!r}"
            )
        if not self.zero_points and not any(dtype.startswith("int") for dtype in self.activations):
            raise ConfigError(
                f"Backend {self.name!r}: without zero points activations must be signed; add 'int8' to activations=..."
            )

    def _usable_weights(self) -> list[str]:
        """Its types of weights that there is a quantizer for, in its order."""
        return [dtype for dtype in self.weights if dtype.startswith("int")]

    @staticmethod
    def _fault(name: str, value: Any) -> str | None:
        """What is wrong with the value of a field; None if nothing is."""
        if name in _ALLOWED:
            allowed = _ALLOWED[name]
            if isinstance(value, tuple) and value and all(item in allowed for item in value):
                return None
            return f"must be a tuple of {', '.join(allowed)}. Got {value!r} instead"
        if name == "streams":
            known = isinstance(value, tuple) and all(item == "int16" for item in value)
            return None if known else f"must be () or ('int16',). Got {value!r} instead"
        if name == "accumulator_bits":
            known = isinstance(value, int) and not isinstance(value, bool) and 8 <= value <= 32
            return None if known else f"must be a whole number in 8..32. Got {value!r} instead"
        if name == "largest_kernel":
            known = value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)
            return None if known else f"must be None or a positive whole number. Got {value!r} instead"
        if name == "families":
            known = value is None or (isinstance(value, frozenset) and all(isinstance(item, str) for item in value))
            return None if known else f"must be None or a frozenset of names. Got {value!r} instead"
        kind = str if name == "name" else bool
        return None if isinstance(value, kind) else f"must be a {kind.__name__}. Got {value!r} instead"

    # ---- options

    def options(self) -> dict[str, Any]:
        """The options of qconfig that differ from the defaults because this backend asks for it.

        >>> Backend("shifts", requantize=("power_of_two",), per_channel=False).options()
        {'per_channel': False, 'equalization': True, 'requantize': 'power_of_two'}
        """
        found: dict[str, Any] = {}
        signed = [dtype for dtype in self.activations if dtype.startswith("int")]
        if not self.zero_points:
            found |= {"dtype_input": signed[0], "scheme": "symmetric"}
        elif "uint8" not in self.activations:
            found["dtype_input"] = self.activations[0]
        if "int8" not in self.weights:
            found["dtype_weight"] = self._usable_weights()[0]
        if not self.per_channel:
            found |= {"per_channel": False, "equalization": True}
        for option, allowed in (("requantize", self.requantize), ("rounding", self.roundings)):
            default = REQUANTIZE[0] if option == "requantize" else ROUNDINGS[0]
            if default not in allowed:
                found[option] = allowed[0]
        if not self.floats:
            found["partition_conversions"] = "fully_integral"
        if self.reduce_range:
            found["reduce_range"] = True
        return found

    def refused_options(self, options: Mapping[str, Any]) -> list[str]:
        """What of these options it cannot express, each with the value to use instead.

        >>> Backend("toy", per_channel=False).refused_options({"per_channel": True})
        ['per_channel=True: takes one scale for a weight, not one for each channel; use per_channel=False']
        """
        wanted = self.options()
        faults = {
            "activations": self._times(options.get("activations")),
            "dtype_input": self._storage("activations", options.get("dtype_input")),
            "scheme": None if self.zero_points or options.get("scheme") == "symmetric" else "has no zero points",
            "dtype_weight": self._storage("weights", options.get("dtype_weight")),
            "per_channel": None
            if self.per_channel or not options.get("per_channel")
            else "takes one scale for a weight, not one for each channel",
            "requantize": self._mode("requantize", self.requantize, options.get("requantize")),
            "rounding": self._mode("round by", self.roundings, options.get("rounding")),
            "residual_streams": self._mode("add codes of", ("float", *self.streams), options.get("residual_streams")),
        }
        instead = {
            "activations": "static",
            "dtype_weight": self._usable_weights()[0],
            "requantize": self.requantize[0],
        } | wanted
        instead |= {"rounding": self.roundings[0], "dtype_input": wanted.get("dtype_input", self.activations[0])}
        instead["residual_streams"] = "float"
        return [
            f"{option}={options[option]!r}: {fault}; use {option}={instead[option]!r}"
            for option, fault in faults.items()
            if option in options and fault
        ]

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

    def _times(self, when: str | None) -> str | None:
        return None if self.floats or when == "static" else "scales at run time are floats, and it has none"

    def _storage(self, kind: str, dtype: str | None) -> str | None:
        return None if dtype is None or dtype in getattr(self, kind) else f"computes no {dtype} {kind}"

    @staticmethod
    def _mode(what: str, allowed: tuple[str, ...], value: str | None) -> str | None:
        return None if value is None or value in allowed else f"does not {what} {value}"

    # ---- layers

    def refusal(
        self, family: str, activations: QuantSpec, weights: QuantSpec | None, mode: str, kernel: tuple[int, ...] = ()
    ) -> str | None:
        """Why it cannot compute an operator family with these specs in integers; None if it can.

        kernel  sides of a convolution's kernel

        >>> Backend("toy", activations=("int8",)).refusal("conv2d", QuantSpec("uint8"), None, "float")
        'limit: backend toy computes no uint8 activations'
        """
        fault = self._lacks(family, kernel) or self._no_specs(activations, weights)
        if fault is None and mode not in self.requantize:
            fault = f"does not requantize by {mode}"
        return f"limit: backend {self.name} {fault}" if fault else None

    def _lacks(self, family: str, kernel: tuple[int, ...]) -> str | None:
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
        if self.largest_kernel is not None and max(kernel, default=0) > self.largest_kernel:
            return f"has kernels up to {self.largest_kernel}, not {max(kernel)}"
        return None

    def _no_specs(self, activations: QuantSpec, weights: QuantSpec | None) -> str | None:
        if activations.dtype not in self.activations:
            return f"computes no {activations.dtype} activations"
        if not activations.symmetric and not self.zero_points:
            return "has no zero points, activations must be symmetric"
        if weights is not None and weights.dtype not in self.weights:
            return f"computes no {weights.dtype} weights"
        if weights is not None and weights.per_channel and not self.per_channel:
            return "takes one scale for a weight, not one for each channel"
        return None

    def refuses_stream(self, dtype: str) -> str | None:
        """Why it cannot add the codes of a residual stream of this type; None if it can.

        >>> Backend("toy", streams=()).refuses_stream("int16")
        'limit: backend toy adds no int16 codes'
        """
        return None if dtype in self.streams else f"limit: backend {self.name} adds no {dtype} codes"
