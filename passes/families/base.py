"""What every operator family answers: which variables belong together, and what they become in integers.

A Group is one piece of the integer module: a root operator, what it absorbs, the activations it reads and the one
it gives. Groups live in the ledger between the passes, so everything in them is plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.graph.names import merge
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.spec import QParams


@dataclass
class Group:
    """One piece of the integer module.

    family    name of the operator family, for example "conv2d"
    root      variable that gives the group its layer name
    members   all variables of the group in order, the last one is its result
    inputs    activations that must arrive as codes
    passes    True if the result has the codes and the scale of its (only) input: pooling by maximum, reshapes
    macs      multiply-accumulates
    """

    family: str
    root: str
    members: list[str]
    inputs: list[str]
    passes: bool = False
    macs: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> str:
        """The variable that other groups read."""
        return self.members[-1]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the ledger; a missing bound is null, since JSON has no infinity."""
        data = asdict(self)
        data["facts"] = {
            key: None if isinstance(value, float) and np.isinf(value) else value for key, value in self.facts.items()
        }
        return data

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Group:
        """Inverse of `to_dict`; other keys of a ledger entry are ignored."""
        group = cls(**{key: entry[key] for key in cls.__dataclass_fields__})
        unbounded = {"low": -np.inf, "high": np.inf}
        group.facts = {key: unbounded.get(key, value) if value is None else value for key, value in group.facts.items()}
        return group


# families whose inputs are brought to one scale, which is that of their result
JOINING = ("concat", "select")


def joins(group: Group) -> bool:
    """True if the inputs are brought to one scale, which is that of the result."""
    return group.passes and group.family in JOINING


@dataclass(frozen=True, eq=False)
class Codes:
    """An activation in the integer module: the variable that holds its codes, and what they mean."""

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
    """Codes of a constant in the scale of an activation."""
    spec = qparams.spec
    scale, zero_point = qparams.scale, qparams.zero_point
    return numerics.quantize(array, scale, zero_point, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)


class Realizer(Protocol):
    """What realize offers to a family; see passes/realize/."""

    view: View
    mode: str
    rounding: str

    def codes(self, name: str) -> Codes:
        """The codes of an input activation."""

    def output_qparams(self, group: Group) -> QParams | None:
        """How the result is to be coded; None if it is wanted in float."""

    def accumulators(self, name: str) -> tuple[relax.Var, float] | None:
        """The int32 sums of a group's result before bounds and rounding, where these have one scale, and that scale."""

    def plain(self, arg: relax.Expr) -> relax.Expr:
        """An argument that is no activation (indices, a mask) as the integer module has it."""

    def emit(self, value: relax.Expr, name: str) -> relax.Var:
        """Bind a new variable in the integer module."""

    def code_bounds(self, qparams: QParams, group: Group) -> tuple[int, int]:
        """Lowest and highest code of a result whose real values are clipped to the group's "low" and "high"."""

    def rescaled(self, part: Codes, common: QParams, group: Group) -> Codes:
        """The same activation in the codes of another scale."""

    def note(self, group: Group, **facts: object) -> None:
        """Write plain data about a group into the ledger, for explain."""

    def requantized(self, acc: relax.Var, scale: np.ndarray, group: Group, *, axis: int = -1) -> Codes | relax.Var:
        """Accumulators of the given real scale as codes of the group's output, or as floats if no codes are wanted.

        Bounds come from the facts "low" and "high" of the group.
        """


class Family(Protocol):
    """One operator family."""

    name: str

    def group(self, view: View, var: relax.Var, value: relax.Call) -> Group | str:
        """The group that begins at this operator, or the reason why it stays float."""

    def realize(self, realizer: Realizer, group: Group) -> Codes | relax.Expr:
        """Emit the integer form; gives the codes, or a float expression where no codes are wanted."""


class OwnFamily(Family, Protocol):
    """A family that stands in another package and is named by `qconfig(operators=["module:object"])`.

    name         of the family, unlike all of tvmq's: that of its layers in the ledger
    operators    what it treats, without "relax.": ("cumsum",); functions of single elements (sigmoid, ...) need none
    group        the Group that begins at an operator, or why it stays float: "limit: ..."
    realize      emits the integer form and gives its Codes, from `realizer.requantized` say; where nothing reads codes,
                 `requantized` gives floats

    A dict `definitions`, {operator: function(call, *arrays)}, says in NumPy what operators give on integers that tvmq
    does not define: with it `tvmq.verify` compares them, without it they are compared around.
    """

    operators: tuple[str, ...]


def absorb_bias(view: View, name: str, is_bias: Callable[[np.ndarray], bool]) -> str | None:
    """The variable add(name, constant) if that is the only reader of `name` and the constant is a bias."""
    reader = view.only_reader(name)
    if reader is None or op_name(view.value[reader]) != "add":
        return None
    a, b = view.value[reader].args
    if is_const(a) or not is_const(b) or not is_bias(const_value(b)):
        return None
    return reader


def is_channel_constant(array: np.ndarray, rank: int, axis: int, channels: int) -> bool:
    """True for a single number, or for values that vary along `axis` of a tensor of that rank only."""
    if array.size == 1:
        return True
    expected = [1] * rank
    expected[axis] = channels
    return [1] * (rank - array.ndim) + list(array.shape) == expected


def absorb_clip(view: View, name: str) -> tuple[str, float, float] | None:
    """The relu or clip that alone reads `name`: its variable and bounds. Bounds without 0 stay a table: 0 needs
    a code."""
    reader = view.only_reader(name)
    if reader is None:
        return None
    bounds = clip_bounds(view.value[reader], op_name(view.value[reader]))
    return (reader, *bounds) if bounds and bounds[0] <= 0.0 <= bounds[1] else None


def absorb_channel_bounds(view: View, name: str, rank: int, axis: int, channels: int) -> list[str]:
    """The variables maximum(name, constant) and minimum(., constant) that each alone read the one before; a constant
    varies along the channels only and is one bound a channel."""
    found: list[str] = []
    for wanted in ("maximum", "minimum"):
        reader = view.only_reader(found[-1] if found else name)
        if reader is None or op_name(view.value[reader]) != wanted:
            continue
        a, b = view.value[reader].args
        if not is_const(a) and is_const(b) and is_channel_constant(const_value(b), rank, axis, channels):
            found.append(reader)
    return found


def clip_bounds(call: relax.Expr, name: str) -> tuple[float, float] | None:
    """(low, high) of relu and clip (relu6 is a clip in Relax); None for other operators."""
    if name == "nn.relu":
        return 0.0, float("inf")
    if name == "clip":
        return float(call.args[1].value), float(call.args[2].value)
    return None


def group_names(view: View, group: Group) -> tuple[str, ...]:
    """Source names of all members of a group."""
    return merge(*(view.sources(name) for name in group.members))
