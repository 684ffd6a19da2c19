"""`tvmq.check_backend`: is there anything in the core of an integer module that a backend description lacks?

What of one operator of a core lies outside of a backend description: one function a rule, listed in CHECKS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import tvm
from tvm import relax

from tvmq.backends import backend_named
from tvmq.backends.description import NEEDS, Backend
from tvmq.graph.core_bounds import Bounds
from tvmq.graph.functions import inline_functions, plain_module, unpack_weights
from tvmq.graph.integer_core import regions
from tvmq.graph.ledger import require_stage
from tvmq.graph.operators import where
from tvmq.graph.operators.record import COMPARISON, CONVOLUTION
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of
from tvmq.passes import OPS
from tvmq.passes.integrality import integrality

FLOATS = ("float16", "float32", "float64", "bfloat16")
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "conv_transpose")
# Operator -> families it serves; () is part of any: biases, paddings, what makes codes of sums.
OPERATORS: dict[str, tuple[str, ...]] = {
    **{
        name: (OPS[name].split(".")[-1].removesuffix(":FAMILY"),)
        for name in OPS.keys() & (where(on_codes=True) | where(kind=(CONVOLUTION, COMPARISON)))
    },
    "tvmq.conv_transpose": ("conv_transpose",),
    "matmul": ("dense", "matmul"),
    "tvmq.matmul": ("matmul",),
    "tvmq.add": ("add",),
    "tvmq.multiply": ("multiply",),
    "tvmq.scale_shift": ("scale_shift",),
    "tvmq.prelu": ("prelu",),
    "tvmq.sum": ("mean",),
    **dict.fromkeys(("tvmq.integer_softmax", "tvmq.add_mask"), ("integer_softmax",)),
    **{f"tvmq.{name}": (name,) for name in ("integer_layer_norm", "masked_mean")},
    **dict.fromkeys(("tvmq.sum_pool", "tvmq.adaptive_sum_pool"), ("avg_pool",)),
    **dict.fromkeys(("maximum", "minimum"), ("select", *CONVOLUTIONS)),
    "where": ("select",),
    "take": ("shape", "embedding"),
    **dict.fromkeys(("tvmq.requantize", "tvmq.table", "nn.pad", "add", "multiply", "astype"), ()),
}  # fmt: skip
DIVISIONS = ("divide", "floor_divide", "mod", "floor_mod", "mean")
# Attributes that hold the code of 0.0, and those that hold factors of int32.
ZERO_POINTS = ("zero_point", "a_zero", "b_zero", "x_zero")
FACTORS = ("a_multiplier", "b_multiplier", "multiplier")
WITH_CONSTANT_FACTORS = {"multiply": (0, 1), "tvmq.scale_shift": (1,), "tvmq.prelu": (1,)}


class Site(NamedTuple):
    """One binding of a core, and what is known around it."""

    view: View
    var: relax.Var
    value: relax.Expr
    bounds: Bounds
    backend: Backend


def _tensors(site: Site) -> Iterator[relax.Expr]:
    """The result and the arguments that are tensors, those in tuples too."""
    args = site.value.args if isinstance(site.value, relax.Call) else ()
    items = [item for arg in args for item in (arg.fields if isinstance(arg, relax.Tuple) else (arg,))]
    for expr in (site.var, *items):
        if isinstance(getattr(expr, "ty", None), relax.TensorType):
            yield expr


def _types(site: Site) -> Iterator[tuple[str, str]]:
    backend = site.backend
    known = {*backend.activations, *backend.weights, *backend.streams, "int32", "bool"}
    for dtype in map(dtype_of, _tensors(site)):
        if dtype in FLOATS:
            if not backend.floats:
                yield "float", f"computes with {dtype}"
        elif dtype in ("int64", "uint64"):
            if not backend.wide:
                yield "int64", f"computes with {dtype}"
        elif dtype not in known:
            yield "dtype", f"computes with {dtype}"


def _operator(site: Site) -> Iterator[tuple[str, str]]:
    name, backend = op_name(site.value), site.backend
    if name in DIVISIONS:
        if not backend.division:
            yield "division", f"{name} divides"
        return
    if not isinstance(site.value, relax.Call) or any(dtype_of(tensor) in FLOATS for tensor in _tensors(site)):
        return  # tuples and their parts; floats are told by their type
    if name not in OPERATORS:
        yield "operator", f"{name or 'this call'} is none of the integer operators"
    elif backend.families is not None and OPERATORS[name] and not backend.families.intersection(OPERATORS[name]):
        yield "operator", f"{name} needs {' or '.join(OPERATORS[name])}"
    if not backend.wide and any(NEEDS.get(family) == "wide" for family in OPERATORS.get(name, ())):
        yield "int64", f"{name} counts in 64 bits"
    if name == "tvmq.table" and not backend.tables:
        yield "table", "looks codes up in a table"


def _zero_points(site: Site) -> Iterator[tuple[str, str]]:
    if site.backend.zero_points:
        return
    for name in ZERO_POINTS:
        zero = getattr(getattr(site.value, "attrs", None), name, 0)
        if int(zero):
            yield "zero_point", f"{name}={int(zero)}"


def _requantize(site: Site) -> Iterator[tuple[str, str]]:
    if op_name(site.value) != "tvmq.requantize":
        return
    attrs, backend = site.value.attrs, site.backend
    if attrs.mode not in backend.requantize:
        yield "requantize", f"mode {attrs.mode}"
    if attrs.mode != "float" and attrs.rounding not in backend.roundings:
        yield "rounding", f"rounding {attrs.rounding}"
    scales = max(const_value(arg).size for arg in site.value.args[1:] if is_const(arg))
    if scales > 1 and not backend.per_channel:
        yield "per_channel", f"{scales} factors, one for each channel"


def _factors(site: Site) -> Iterator[tuple[str, str]]:
    """Constants that int32 is multiplied by outside of convolutions and products."""
    if site.backend.multipliers:
        return
    attrs = getattr(site.value, "attrs", None)
    found = [int(getattr(attrs, name)) for name in FACTORS if hasattr(attrs, name)]
    places = WITH_CONSTANT_FACTORS.get(op_name(site.value), ())
    constants = [site.value.args[i] for i in places if is_const(site.value.args[i])]
    for factor in [*found, *(int(v) for arg in constants for v in np.unique(const_value(arg))[:64])]:
        if not _is_shift(factor):
            yield "multiplier", f"multiplies by {factor}"
            return


def _is_shift(factor: int) -> bool:
    return factor == 0 or abs(factor) & (abs(factor) - 1) == 0


def _accumulators(site: Site) -> Iterator[tuple[str, str]]:
    reach = site.bounds.reach.get(site.var.name, 0)
    most = 2 ** (site.backend.accumulator_bits - 1) - 1
    if reach is None:
        yield "accumulator", "how large its sums get is not known"
    elif reach > most:
        yield "accumulator", f"sums reach {reach}, {site.backend.accumulator_bits} bits end at {most}"


def _kernels(site: Site) -> Iterator[tuple[str, str]]:
    largest = site.backend.largest_kernel
    families = OPERATORS.get(op_name(site.value), ())
    if largest is None or not set(families).intersection(CONVOLUTIONS) or len(families) > 1:
        return
    side = max(shape_of(site.value.args[1])[2:])
    if side > largest:
        yield "kernel", f"a kernel of {side}, {largest} is the largest"


CHECKS: tuple[Callable[[Site], Iterator[tuple[str, Any]]], ...] = (
    _types, _operator, _zero_points, _requantize, _factors, _accumulators, _kernels,
)  # fmt: skip


RULES = (
    "float", "int64", "dtype", "operator", "zero_point", "per_channel", "requantize", "rounding", "multiplier",
    "table", "division", "accumulator", "kernel",
)  # fmt: skip


@dataclass(frozen=True)
class Violation:
    """One thing outside of the description.

    variable  of the module
    layers    names in the source
    operator  as it prints, without R.
    rule      one of RULES
    what      in words, with the numbers
    """

    variable: str
    layers: tuple[str, ...]
    operator: str
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: layer '{', '.join(self.layers)}', {self.operator} '{self.variable}': {self.what}"


@dataclass(frozen=True)
class Conformity:
    """What was found; prints "conforms: yes", or "conforms: no" and every violation.

    backend     name of the description
    operators   {operator: how many of them the core has}
    dtypes      {element type: how many results of the core have it}
    violations  everything outside of the description, in the order of the module
    """

    backend: str
    operators: dict[str, int]
    dtypes: dict[str, int]
    violations: tuple[Violation, ...]

    @property
    def conforms(self) -> bool:
        """True if nothing is outside of the description."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"conforms": self.conforms, **asdict(self)}

    def __str__(self) -> str:
        total = sum(self.operators.values())
        if self.conforms:
            return f"conforms: yes (all {total} operators of the core are in the description of {self.backend})"
        outside = len({violation.variable for violation in self.violations})
        head = f"conforms: no ({outside} of {total} operators of the core are outside of {self.backend})"
        return "\n  ".join([head, *map(str, self.violations)])


def check_backend(mod: tvm.IRModule, backend: str | Backend | None) -> Conformity:
    """Compare every operator, type and attribute of an integer module's core with a backend description.

    mod      as `quantize` gives it, in one function or in four; its core is what lies between the conversions of inputs
             and results (partition_conversions), and whatever floats stand behind it that are more than functions of
             one result
    backend  a tvmq.Backend, its "module:object", or the name of one of tvmq.backends; None is the portable CPU
    raises   StageError for a module that is not quantized, ConfigError for an unknown backend

    Nothing that quantize decided is believed: types, zero points, factors and sizes are read from the module, and how
    large the sums can get is computed anew from weights and codes.
    """
    mod = plain_module(mod)
    require_stage(mod, "check_backend", ("realized",))
    description, mod = backend_named(backend), unpack_weights(inline_functions(mod))
    view = View(mod)
    core = {*regions(view).core, *(found.variable for found in integrality(mod).floats)}
    bounds = Bounds()
    violations: list[Violation] = []
    operators: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    for var, value in view.bindings:
        bounds.add(var, value)
        if var.name not in core:
            continue
        operators[_named(value)] += 1
        if isinstance(var.ty, relax.TensorType):
            dtypes[dtype_of(var)] += 1
        violations += _violations(Site(view, var, value, bounds, description))
    return Conformity(description.name, dict(operators), dict(dtypes), tuple(violations))


def _violations(site: Site) -> Iterator[Violation]:
    """Everything that the checks find at one binding, each once."""
    found = dict.fromkeys(fault for check in CHECKS for fault in check(site))
    for rule, what in found:
        name = site.var.name
        yield Violation(name, site.view.sources(name), _named(site.value), rule, what)


def _named(value: relax.Expr) -> str:
    return op_name(value) or type(value).__name__


__all__ = ["RULES", "Conformity", "Violation", "check_backend"]
