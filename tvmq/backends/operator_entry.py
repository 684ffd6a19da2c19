"""Entry of a backend for one kind of operators, where that differs from what holds for all.

Tests: tests/backends/test_json_form.py
"""

from __future__ import annotations

from dataclasses import dataclass

from tvmq.backends.tensor_forms import TensorForm, WeightForm, check_optional
from tvmq.backends.vocabulary import (
    BIAS_TYPES,
    FAMILIES,
    FLOAT_TYPES,
    PATTERNS,
    SCALE_KEEPERS,
    WEIGHTED,
    matches,
    names_nothing,
)
from tvmq.base.schema import advise, checked_choice, checked_int, checked_switch, inside, refuse
from tvmq.errors import ConfigError
from tvmq.numerics.code_type import CODE_TYPES
from tvmq.numerics.requantize_rule import RequantizeRule
from tvmq.numerics.spec import QuantSpec

OVERFLOWS = ("proved", "wrap", "saturate")
COMPUTES = ("integer", *FLOAT_TYPES)
# Fields that say nothing of operators that stay float.
OF_INTEGERS = (
    "inputs", "weights", "bias", "output", "same_scales", "requantize", "accumulator_bits", "overflow",
    "largest_kernel", "most_channels", "channel_alignment",
)  # fmt: skip


@dataclass(frozen=True)
class OperatorEntry:
    """An entry of Backend.operators; what it leaves out is as the backend says of all operators.

    patterns           names of operator families ("conv2d", "add"), globs ("conv*", "*"), or "depthwise" for
                       convolutions whose filters read one channel each. The last entry that matches an operator wins,
                       whole: it does not inherit from entries before it
    computes           "integer", or "float32", "float16", "bfloat16": these operators stay float, in that type (a build
                       has the roundings as casts, so that compiled code gives what such operators give)
    inputs, weights    TensorForm and WeightForm
    bias               type of biases at the scale of the sums: "int8" to "int16", "int32", or "float32"
    output             types that it can write: of codes, those among them that its readers may want; and at most one
                       float type, of what it gives to operators that stay float
    same_scales        the result has the scale and zero point of what is read: add, avg_pool, mean
    requantize         rule of its sums
    accumulator_bits, overflow  of its sums: 8..32; "proved" to fit, or they "wrap" or "saturate"
    largest_kernel     longest side of a convolution's kernel
    most_channels      most channels, of what is read and of the result
    channel_alignment  channels, of what is read and of the result, are multiples of it
    raises             ConfigError for what is not allowed, or says nothing

    >>> OperatorEntry(("conv2d",), weights=WeightForm(("int4",))).speaks_of("conv2d")
    True
    """

    patterns: tuple[str, ...]
    computes: str = "integer"
    inputs: TensorForm | None = None
    weights: WeightForm | None = None
    bias: str | None = None
    output: tuple[str, ...] = ()
    same_scales: bool = False
    requantize: RequantizeRule | None = None
    accumulator_bits: int | None = None
    overflow: str | None = None
    largest_kernel: int | None = None
    most_channels: int | None = None
    channel_alignment: int | None = None

    def __post_init__(self) -> None:
        self.check("OperatorEntry:")

    def check(self, path: str) -> None:
        """Refuse what is not allowed, by its path."""
        self._check_patterns(inside(path, "pattern"))
        checked_choice(self.computes, inside(path, "computes"), COMPUTES)
        checked_switch(self.same_scales, inside(path, "same_scales"))
        check_optional(self.bias, inside(path, "bias"), BIAS_TYPES)
        check_optional(self.overflow, inside(path, "overflow"), OVERFLOWS)
        for name, low, high in (
            ("accumulator_bits", 8, 32), ("largest_kernel", 1, 2**31), ("most_channels", 1, 2**31),
            ("channel_alignment", 1, 2**16),
        ):  # fmt: skip
            if getattr(self, name) is not None:
                checked_int(getattr(self, name), inside(path, name), low, high)
        self._check_output(inside(path, "output"))
        for name, kind in (("inputs", TensorForm), ("weights", WeightForm), ("requantize", RequantizeRule)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise ConfigError(f"{inside(path, name)}: must be a {kind.__name__}. Got {value!r} instead")
        self._check_together(path)

    def _check_patterns(self, path: str) -> None:
        if not isinstance(self.patterns, tuple) or not self.patterns:
            refuse(path, f"must be a name of operators, or several. Got {self.patterns!r} instead")
        for pattern in self.patterns:
            if not isinstance(pattern, str) or names_nothing(pattern):
                refuse(
                    path, f"{pattern!r} matches no operators; allowed: {', '.join(PATTERNS)}{advise(pattern, PATTERNS)}"
                )

    def _check_output(self, path: str) -> None:
        if not isinstance(self.output, tuple):
            raise ConfigError(f"{path}: must be a tuple of types. Got {self.output!r} instead")
        for name in self.output:
            checked_choice(name, path, (*CODE_TYPES, *FLOAT_TYPES))
        if sum(name in FLOAT_TYPES for name in self.output) > 1:
            refuse(path, f"results have one float type at most. Got {', '.join(self.output)} instead")

    def _check_together(self, path: str) -> None:
        names = [name for name in OF_INTEGERS if getattr(self, name) not in (None, (), False)]
        if self.computes == "integer" and not names:
            refuse(path, f"says nothing; add computes, or one of {', '.join(OF_INTEGERS)}")
        if self.computes != "integer" and names:
            refuse(inside(path, names[0]), f"says nothing of operators that compute in {self.computes}; leave it out")
        families = [name for name in FAMILIES if self.speaks_of(name, depthwise=name.startswith("conv"))]
        if self.weights is not None and not set(families).intersection(WEIGHTED):
            refuse(
                inside(path, "weights"),
                f"none of {', '.join(self.patterns)} has a weight; allowed: {', '.join(WEIGHTED)}",
            )
        if self.same_scales and not set(families) <= set(SCALE_KEEPERS):
            refuse(
                inside(path, "same_scales"),
                f"is for {', '.join(SCALE_KEEPERS)}; max_pool, concat, shape and pad move codes, whose scale stays",
            )

    def speaks_of(self, family: str, *, depthwise: bool = False) -> bool:
        """True if one of the patterns matches."""
        return any(matches(pattern, family, depthwise=depthwise) for pattern in self.patterns)

    def refusal(self, activations: QuantSpec, weights: QuantSpec | None, channels: tuple[int, ...]) -> str | None:
        """Why an operator with these specs and channels is not computed in integers; None if it is."""
        if self.computes != "integer":
            return f"computes it in {self.computes}"
        fault = self.inputs.refusal(activations) if self.inputs else None
        fault = fault or (self.weights.refusal(weights) if self.weights and weights else None)
        most, step = self.most_channels, self.channel_alignment or 1
        if fault is None and most is not None and max(channels, default=0) > most:
            return f"has at most {most} channels, not {max(channels)}"
        odd = [count for count in channels if count % step]
        return fault or (f"takes channels in multiples of {step}, not {odd[0]}" if odd else None)
