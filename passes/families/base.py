"""Interface of operator families: which variables belong together, and what they become in integers.

A Group is one piece of the integer module: a root operator, what it absorbs, the activations it reads and the one
it gives. Groups live in the ledger between the passes, so everything in them is plain data.

Tests: tests/passes/families/test_facts.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.backends.description import Backend
from tvmq.graph.view import View, is_const, op_name
from tvmq.numerics.spec import QParams
from tvmq.options.config import QConfig
from tvmq.options.rules import Decision, LayerFacts
from tvmq.passes import FAMILIES, OPS, load

# Names of the variables that `realize` emits for a group beside its result: a variable of the calibrated module and a
# suffix. tvmq/training takes the suffix off again to find the layer, scale or constant that a variable comes from.
PRODUCT_SUFFIX = "_product"  # of the root: int32 sums of the products
SUM_SUFFIX = "_sum"  # of the root: int32 sums of two tensors, or of the windows of an average
CODES_SUFFIX = "_codes"  # of the root: rows of an embedding; of a comparison, its second operand as int16
THRESHOLDS_SUFFIX = "_least"  # of the root of a comparison: for each code of the first operand, the least of the second
RESCALED_SUFFIX = "_rescale"  # of the root: an operand in the scale that joined operands share
BOUNDED_SUFFIX = "_bounded"  # of a maximum or minimum behind a convolution: that one, on codes


def fact_field(default: Any) -> Any:
    """Field of a fact that the ledger always has; others are written only where they differ from the default."""
    return field(default=default, metadata={"written": True})


@dataclass
class Facts:
    """Facts about a group beside its variables; families have facts of their own, too.

    low, high           bounds of the result, from a relu or clip
    negative_slope      of a leaky relu behind the sums
    bias, bias_codes    a constant is added to the sums; its int32 codes, where float32 does not hold them
    needs_output_codes  the result needs a scale, whoever reads it
    stream, bits        the group reads int16 codes, of so many bits
    masks               {member: mask that it reads}
    scale, shared       whose scale joined inputs get, and which of them others read as well
    """

    low: float = -np.inf
    high: float = np.inf
    negative_slope: float | None = None
    bias: bool = False
    bias_codes: list[int] | None = None
    needs_output_codes: bool = False
    stream: bool = False
    bits: int | None = None
    masks: dict[str, Any] = field(default_factory=dict)
    scale: str | None = None
    shared: list[str] = field(default_factory=list)

    @property
    def is_bounded(self) -> bool:
        """True if a relu or clip bounds the result."""
        return self.low != -np.inf or self.high != np.inf

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the ledger, a family's own facts first; an infinite bound is null, which JSON has."""
        values, defaults = asdict(self), vars(type(self)())
        order = dict.fromkeys(name for cls in type(self).__mro__ for name in vars(cls).get("__annotations__", ()))
        kept = [n for n in order if self.__dataclass_fields__[n].metadata or values[n] != defaults[n]]
        return {n: None if isinstance(values[n], float) and np.isinf(values[n]) else values[n] for n in kept}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Facts:
        """Inverse of `to_dict`; what it does not know is ignored."""
        known = {key: value for key, value in data.items() if key in cls.__dataclass_fields__}
        return cls(**{key: value for key, value in known.items() if value is not None})


@dataclass
class BoundedFacts(Facts):
    """Facts of what computes new values."""

    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)


@dataclass
class CodedFacts(BoundedFacts):
    """Facts of what cannot give floats."""

    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)
    needs_output_codes: bool = fact_field(True)


@dataclass
class WeightFacts(BoundedFacts):
    """Facts of a product with a constant weight; bounds: what bounds each channel behind it."""

    bounds: list[str] = field(default_factory=list)
    low: float = fact_field(-np.inf)
    high: float = fact_field(np.inf)
    bias: bool = fact_field(False)


@dataclass
class OpenFacts(Facts):
    """Facts of a family of another package: what it says stands in `own`, or is read like a dictionary."""

    own: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.own[key] if key in self.own else getattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        """The fact of this name, or the default."""
        return self.own.get(key, getattr(self, key, default))

    def to_dict(self) -> dict[str, Any]:
        """As that of `Facts`, with the family's own beside them."""
        data = super().to_dict()
        return data.pop("own", {}) | data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OpenFacts:
        """Inverse of `to_dict`."""
        ours = {key: value for key, value in data.items() if key in Facts.__dataclass_fields__ and value is not None}
        return cls(**ours, own={key: value for key, value in data.items() if key not in Facts.__dataclass_fields__})


@dataclass
class Group:
    """Group of variables that become integers together.

    family    name of the operator family, for example "conv2d"
    root      variable that gives the group its layer name
    members   all variables of the group in order, the last one is its result
    inputs    activations that must arrive as codes
    passes    True if the result has the codes and the scale of its (only) input: pooling by maximum, reshapes
    macs      multiply-accumulates
    facts     those of the family; of a family of another package a dictionary is enough
    """

    family: str
    root: str
    members: list[str]
    inputs: list[str]
    passes: bool = False
    macs: int = 0
    facts: Any = field(default_factory=Facts)

    def __post_init__(self) -> None:
        if isinstance(self.facts, Mapping):
            self.facts = OpenFacts.from_dict(self.facts)

    @property
    def output(self) -> str:
        """The variable that other groups read."""
        return self.members[-1]

    @property
    def strategy(self) -> Family:
        """The family itself; one of another package has the hooks that every family has."""
        return family_named(self.family)

    @property
    def joins(self) -> bool:
        """True if the inputs are brought to one scale, which is that of the result."""
        return self.passes and self.strategy.joins

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the ledger."""
        return {**{key: getattr(self, key) for key in self.__dataclass_fields__}, "facts": self.facts.to_dict()}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Group:
        """Inverse of `to_dict`; other keys of a ledger entry are ignored."""
        facts = family_named(entry["family"]).facts_type.from_dict(entry["facts"])
        return cls(**{key: entry[key] for key in cls.__dataclass_fields__ if key != "facts"}, facts=facts)


@dataclass
class Draft:
    """Decisions of partition so far.

    groups           {output: group} of what becomes integers
    reasons          {root: why} of what stays float
    decisions        {output: what rules and options say}, and of the roots that get codes at run time, `dynamic`
    names            {root: source names} of all groups that there were
    is_prequantized  the model is quantized already
    """

    view: View
    config: QConfig
    backend: Backend
    is_prequantized: bool = False
    groups: dict[str, Group] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    dynamic: dict[str, Decision] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def has_residuals(self) -> bool:
        """True if residual streams are to be integers."""
        return not self.is_prequantized and self.config.residual_streams == "int16"

    @property
    def is_integral(self) -> bool:
        """True if there is to be no float between the conversions."""
        return not self.is_prequantized and self.config.partition_conversions == "fully_integral"


def family_of_call(call: relax.Expr) -> Family:
    """The family of ours that treats an operator; a product with a constant is that of a dense layer."""
    name = op_name(call)
    if name == "matmul" and is_const(call.args[1]):
        return family_named("dense")
    return load(OPS[name]) if name in OPS else Family()


def family_named(name: str) -> Family:
    """A family of ours; of one of another package what every family answers."""
    return load(FAMILIES[name]) if name in FAMILIES else Family()


@dataclass(frozen=True, eq=False)
class Codes:
    """An activation in the integer module: the variable that holds its codes, and what they mean.

    var      variable of the integer module; its element type is that of the codes
    qparams  scale, zero point and QuantSpec of the codes

    >>> from tvmq.numerics.spec import QuantSpec, choose_qparams
    >>> x = relax.Var("x_codes", relax.TensorType((2,), "uint8"))
    >>> codes = Codes(x, choose_qparams(-1.5, 126.0, QuantSpec("uint8")))
    >>> float(codes.scale), codes.zero_point
    (0.5, 3)
    """

    var: relax.Expr
    qparams: QParams

    @property
    def scale(self) -> np.float32:
        """Real value of one step."""
        return np.float32(self.qparams.scale)

    @property
    def zero_point(self) -> int:
        """Code of 0.0."""
        return int(self.qparams.zero_point)


def encode_constant(array: np.ndarray, qparams: QParams) -> np.ndarray:
    """Codes of a constant, each value at its nearest."""
    spec, axis = qparams.spec, qparams.axis
    scale, zero_point = qparams.scale, qparams.zero_point
    return numerics.quantize(array, scale, zero_point, axis=axis, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)


def round_constant(array: np.ndarray, qparams: QParams) -> np.ndarray:
    """A constant as the floats that its codes stand for."""
    codes = encode_constant(array, qparams)
    return numerics.dequantize(codes, qparams.scale, qparams.zero_point, axis=qparams.axis)


class Realizer(Protocol):
    """Interface that the pass realize offers to a family, whose groups become integers by it.

    view              the float module, at the stage "calibrated"
    mode, rounding    of requantize, of numerics.requantize_rule
    accumulator_bits  bits in which sums must fit
    """

    view: View
    mode: str
    rounding: str
    accumulator_bits: int

    def codes(self, name: str) -> Codes:
        """The codes of an input activation."""

    def output_qparams(self, group: Group) -> QParams | None:
        """How the result is to be coded; None if it is wanted in float."""

    def accumulators(self, name: str) -> tuple[relax.Var, float] | None:
        """The int32 sums of a group's result before bounds and rounding, where these have one scale, and that scale."""

    def substitute(self, arg: relax.Expr) -> relax.Expr:
        """Replace variables of the float module in an argument that is no activation (indices, a mask)."""

    def emit(self, value: relax.Expr, name: str) -> relax.Var:
        """Bind a new variable in the integer module."""

    def code_bounds(self, qparams: QParams, group: Group) -> tuple[int, int]:
        """Lowest and highest code of a result whose real values are clipped to the group's "low" and "high"."""

    def rescale(self, part: Codes, common: QParams, group: Group) -> Codes:
        """Convert the codes of an activation to another scale."""

    def note(self, group: Group, **facts: object) -> None:
        """Write plain data about a group into the ledger, for explain."""

    def requantize(self, acc: relax.Var, scale: np.ndarray, group: Group, *, axis: int = -1) -> Codes | relax.Var:
        """Requantize accumulators of this real scale to codes of the group's result; to floats if no codes are wanted.

        Bounds come from the facts "low" and "high" of the group.
        """


class Family:
    """Operator family: what the passes ask of it. Where it says nothing, the answers are those here.

    name              that in the ledger
    facts_type        its facts
    anchor            enough arithmetic to be worth conversions at its borders, and floats straight from its sums;
                      the others follow their neighbours
    weighted          each group multiplies what it reads by one constant weight
    rounds_weights    that weight can be rounded by the second moments of what is read
    windowed          the weight has a window
    bias_axis         the axis of its channels
    reads_norms       reads the int16 codes of an integer layer norm, which has them for its constants
    reads_int16       computes on codes of 16 bits as well
    joins             its inputs are brought to one scale, where it passes their codes on
    adds, moves       a sum of two tensors; an operator that moves the codes of its first input
    concatenates      parts are copied side by side
    holds_codes       codes of a table, whose worth is memory: they need no integer operators beside them
    is_asked_for      an option asks for it: float tensors are quantized for it
    """

    name = ""
    facts_type: type[Facts] = OpenFacts
    anchor = weighted = rounds_weights = windowed = False
    bias_axis = -1
    reads_norms = reads_int16 = joins = adds = moves = concatenates = holds_codes = is_asked_for = False

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """The group that begins at this operator, or the reason why it stays float."""
        raise NotImplementedError

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the integer form; gives the codes, or a float expression where no codes are wanted."""
        raise NotImplementedError

    def sums(self, call: relax.Call, x: relax.Expr, y: relax.Expr) -> relax.Call:
        """Exact int32 sums of the products that an anchor makes of codes, whose zero points are 0."""
        raise NotImplementedError

    def spread_scale(self, call: relax.Call, scale: np.ndarray) -> np.ndarray:
        """Scales of a constant weight in a shape that broadcasts over the sums."""
        return scale

    def has_weight(self, group: Group) -> bool:
        """True if the second argument of the root is a constant weight, which gets codes of its own."""
        return self.weighted

    def sums_in_lanes(self, weight: tuple[int | str, ...]) -> bool:
        """True if products with a weight of this shape are summed in lanes of 16 bits by CPUs without VNNI."""
        return self.weighted

    def switched_off(self, layer: LayerFacts, config: QConfig) -> str | None:
        """The option that keeps a layer of this family in float."""
        return None

    def average_counts(self, view: View, group: Group) -> np.ndarray | None:
        """How many values its averages are made of; None where it makes none."""
        return None

    def function(self, view: View, group: Group) -> Callable[[np.ndarray], np.ndarray] | None:
        """The function of single numbers that a group is, in float64; None for all else."""
        return None

    def slope(self, view: View, group: Group) -> float | None:
        """alpha of a group that is one leaky relu."""
        return None

    def links(self, group: Group) -> list[str]:
        """Members that a float operator may read, too: they are computed in float for it then."""
        return []

    def gives_sums(self, group: Group) -> bool:
        """True if the sums of a group, as they are, may be read by an integer softmax."""
        return False

    def settle(self, view: View, group: Group, groups: Mapping[str, Group]) -> None:
        """Look at the neighbours, now that it is decided which groups there are; the first hook behind dropping."""


class OwnFamily(Protocol):
    """A family of another package, named by `qconfig(operators=["module:object"])`.

    name         of the family, unlike all of tvmq's: that of its layers in the ledger
    operators    what it treats, without "relax.": ("cumsum",); functions of single elements (sigmoid, ...) need none
    group        the Group that begins at an operator, or why it stays float: "limit: ..."
    realize      emits the integer form and gives its Codes, from `realizer.requantize` say; where nothing reads codes,
                 `requantize` gives floats

    A dict `definitions`, {operator: function(call, *arrays)}, says in NumPy what operators give on integers that tvmq
    does not define: with it `tvmq.verify` compares them, without it they are compared around.
    """

    name: str
    operators: tuple[str, ...]

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """The group that begins at this operator, or the reason why it stays float."""

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the integer form; gives the codes, or a float expression where no codes are wanted."""
