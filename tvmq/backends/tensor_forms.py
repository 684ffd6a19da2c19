"""Forms of an operator's tensors on a backend: types of codes, scheme, scales, granularity, observers.

Tests: tests/backends/test_json_form.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tvmq.backends.vocabulary import OBSERVERS, WEIGHT_OBSERVERS
from tvmq.base.schema import advise, checked_choice, checked_int, checked_switch, inside, refuse
from tvmq.errors import ConfigError
from tvmq.numerics.code_type import CODE_TYPES, CodeType
from tvmq.numerics.spec import QuantSpec

SCHEMES = ("asymmetric", "symmetric")
SCALES = ("free", "power_of_two")
GRANULARITIES = ("per_channel", "per_tensor", "per_group")
LARGEST_GROUP = 4096


@dataclass(frozen=True)
class TensorForm:
    """Form of the inputs of an operator.

    dtype         types of codes, "int2" to "int16" and "uint2" to "uint8"; the first one is what it gets where options
                  say nothing that is among them
    scheme        "symmetric": zero point 0; "asymmetric": any; None: as the backend's zero_points
    scales        "power_of_two" goes with a requantize of shifts, "free" with the others; None: whichever that is
    narrow_range  symmetric codes of b bits end at -(2^(b-1) - 1): those of the quantizer always do
    observer      how ranges are chosen where options say nothing, of tvmq.calibration.observers.OBSERVERS
    raises        ConfigError for what is not allowed

    >>> TensorForm(("int8",), scheme="symmetric").spec
    QuantSpec(dtype='int8', bits=8, symmetric=True, per_channel=False)
    """

    dtype: tuple[str, ...] = ()
    scheme: str | None = None
    scales: str | None = None
    narrow_range: bool | None = None
    observer: str | None = None

    def __post_init__(self) -> None:
        self.check("inputs")

    def check(self, path: str) -> None:
        """Refuse what is not allowed, by its path."""
        check_types(self.dtype, inside(path, "dtype"))
        for name, allowed in (("scheme", SCHEMES), ("scales", SCALES), ("observer", OBSERVERS)):
            check_optional(getattr(self, name), inside(path, name), allowed)
        if self.narrow_range is not None:
            checked_switch(self.narrow_range, inside(path, "narrow_range"))
        if self.scheme == "symmetric" and any(name.startswith("u") for name in self.dtype):
            refuse(inside(path, "scheme"), "'symmetric' needs signed codes; leave unsigned types out of dtype")
        if self.scheme != "symmetric" and self.narrow_range:
            refuse(
                inside(path, "narrow_range"),
                "asymmetric codes use the whole type; add scheme 'symmetric', or leave it out",
            )

    @property
    def spec(self) -> QuantSpec | None:
        """Spec for inputs where options say nothing that the operator takes; None without types."""
        if not self.dtype:
            return None
        kind = CODE_TYPES[self.dtype[0]]
        return QuantSpec(kind.storage, kind.bits, symmetric=self.scheme == "symmetric")

    def fit_spec(self, spec: QuantSpec) -> QuantSpec:
        """The spec of the options if this form takes it, else the nearest one that it takes."""
        chosen = self.spec
        if chosen is not None and not any(holds(name, spec) for name in self.dtype):
            spec = replace(chosen, symmetric=chosen.symmetric or (spec.symmetric and chosen.dtype != "uint8"))
        return replace(spec, symmetric=True) if self.scheme == "symmetric" else spec

    def refusal(self, spec: QuantSpec) -> str | None:
        """Why it does not read these codes; None if it does."""
        if self.dtype and not any(holds(name, spec) for name in self.dtype):
            return f"reads {' or '.join(self.dtype)}, not {name_of(spec)}"
        return "reads symmetric codes alone" if self.scheme == "symmetric" and not spec.symmetric else None


@dataclass(frozen=True)
class WeightForm:
    """Form of a constant weight; its codes are symmetric.

    dtype         signed types of codes, "int2" to "int16"; the first one is the one that it gets
    granularity   "per_channel": a scale for each output channel; "per_tensor": one; "per_group": one for group_size
                  neighbours along the inputs, for weights of at most 4 bits and activations that get scales at run time
    group_size    with per_group, 2..4096
    axis          "output", which is the one that there is
    scales, narrow_range  as of what is read
    observer      of tvmq.calibration.observers.WEIGHT_OBSERVERS
    raises        ConfigError for what is not allowed

    >>> WeightForm(("int4",), granularity="per_tensor").spec.bits
    4
    """

    dtype: tuple[str, ...] = ()
    granularity: str | None = None
    group_size: int | None = None
    axis: str = "output"
    scales: str | None = None
    narrow_range: bool | None = None
    observer: str | None = None

    def __post_init__(self) -> None:
        self.check("weights")

    def check(self, path: str) -> None:
        """Refuse what is not allowed, by its path."""
        check_types(self.dtype, inside(path, "dtype"))
        for name in self.dtype:
            if name.startswith("u"):
                what = f"{name!r}: weights are symmetric, their codes are signed; use {name[1:]!r}"
                refuse(inside(path, "dtype"), what)
        allowed = (("granularity", GRANULARITIES), ("scales", SCALES), ("observer", WEIGHT_OBSERVERS))
        for name, words in allowed:
            check_optional(getattr(self, name), inside(path, name), words)
        if self.axis == "input":
            refuse(inside(path, "axis"), "scales along the input axis do not factor out of the sums; use 'output'")
        checked_choice(self.axis, inside(path, "axis"), ("output",))
        if self.narrow_range is not None:
            checked_switch(self.narrow_range, inside(path, "narrow_range"))
        if (self.group_size is None) == (self.granularity == "per_group"):
            refuse(inside(path, "group_size"), "goes with granularity 'per_group', and with that alone")
        if self.group_size is not None:
            checked_int(self.group_size, inside(path, "group_size"), 2, LARGEST_GROUP)

    @property
    def spec(self) -> QuantSpec | None:
        """Spec where options say nothing that the operator takes, per channel unless it is per tensor; None without
        types."""
        if not self.dtype:
            return None
        kind = CODE_TYPES[self.dtype[0]]
        return QuantSpec(kind.storage, kind.bits, symmetric=True, per_channel=self.granularity != "per_tensor")

    def fit_spec(self, spec: QuantSpec) -> QuantSpec:
        """The spec of the options if this form takes it, else the nearest one that it takes."""
        chosen = self.spec
        if chosen is not None and not any(holds(name, spec) for name in self.dtype):
            spec = replace(chosen, per_channel=spec.per_channel)
        return replace(spec, per_channel=False) if self.granularity == "per_tensor" else spec

    def refusal(self, spec: QuantSpec) -> str | None:
        """Why these weights do not fit; None if they do."""
        if self.dtype and not any(holds(name, spec) for name in self.dtype):
            return f"takes {' or '.join(self.dtype)} weights, not {name_of(spec)}"
        if self.granularity == "per_tensor" and spec.per_channel:
            return "takes one scale for a weight, not one for each channel"
        return None


def holds(name: str, spec: QuantSpec) -> bool:
    """True if a type of codes holds those of a spec: the same storage, and at least as many bits.

    >>> holds("int8", QuantSpec("int8", 4)), holds("int4", QuantSpec("int8"))
    (True, False)
    """
    return CODE_TYPES[name].storage == spec.dtype and spec.bits <= CODE_TYPES[name].bits


def name_of(spec: QuantSpec) -> str:
    """The type of codes of a spec, without its scheme.

    >>> name_of(QuantSpec("int8", 4)), name_of(QuantSpec())
    ('int4', 'uint8')
    """
    return CodeType(spec.bits, CODE_TYPES[spec.dtype].signed).name


def check_types(names: Any, path: str) -> None:
    """Check types of codes: a tuple of known ones."""
    if not isinstance(names, tuple):
        raise ConfigError(f"{path}: must be a tuple of types. Got {names!r} instead")
    for place, name in enumerate(names):
        if name in CODE_TYPES:
            continue
        hint = advise(name, CODE_TYPES)
        if str(name).startswith(("float", "bfloat")):
            hint = "; for operators that stay float write computes instead"
        refuse(
            path if len(names) == 1 else inside(path, place),
            f"{name!r} is no type of codes; allowed: int2 to int16, uint2 to uint8{hint}",
        )


def check_optional(value: Any, path: str, allowed: tuple[str, ...]) -> None:
    """None, or one of these words."""
    if value is not None:
        checked_choice(value, path, allowed)
