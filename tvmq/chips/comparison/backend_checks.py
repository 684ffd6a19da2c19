"""Violations of a backend description by one operator of a core: one function a rule, listed in CHECKS.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from tvm import relax

from tvmq.backends.description import NEEDS, Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.vocabulary import WEIGHTED
from tvmq.graph.analysis.core_bounds import Bounds
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of, sizes_of
from tvmq.numerics.code_type import CODE_TYPES, CODES_16
from tvmq.passes.operator_families import CONVOLUTIONS, OPERATORS, family_of

FLOATS = ("float16", "float32", "float64", "bfloat16")
DIVISIONS = ("divide", "floor_divide", "mod", "floor_mod", "mean")
# Attributes that hold the code of 0.0, and those that hold factors of int32.
ZERO_POINTS = ("zero_point", "a_zero", "b_zero", "x_zero")
FACTORS = ("a_multiplier", "b_multiplier", "multiplier")
WITH_CONSTANT_FACTORS = {"multiply": (0, 1), "tvmq.scale_shift": (1,), "tvmq.prelu": (1,)}


class BindingSite(NamedTuple):
    """A binding of a core, and what is known around it.

    scales  {variable of codes: (scale, zero point)}
    """

    view: View
    var: relax.Var
    value: relax.Expr
    bounds: Bounds
    backend: Backend
    scales: dict[str, tuple[float, int]]

    @property
    def family(self) -> tuple[str, bool]:
        """Operator family, and whether it is depthwise; "" where none is known."""
        return family_of(self.view, self.var.name)

    @property
    def entry(self) -> OperatorEntry | None:
        """Entry of the description for this family alone."""
        name, depthwise = self.family
        return self.backend.entry(name, depthwise=depthwise) if name else None

    @property
    def is_own(self) -> bool:
        """True for the operator that the family is named after, and not for what finishes its sums."""
        return isinstance(self.value, relax.Call) and bool(OPERATORS.get(op_name(self.value)))


def _tensors(site: BindingSite) -> Iterator[relax.Expr]:
    """The result and the arguments that are tensors, those in tuples too."""
    args = site.value.args if isinstance(site.value, relax.Call) else ()
    items = [item for arg in args for item in (arg.fields if isinstance(arg, relax.Tuple) else (arg,))]
    for expr in (site.var, *items):
        if isinstance(getattr(expr, "ty", None), relax.TensorType):
            yield expr


def _types(site: BindingSite) -> Iterator[tuple[str, str]]:
    backend = site.backend
    own = {CODE_TYPES[name].storage for entry in backend.operators if entry.weights for name in entry.weights.dtype}
    known = {*backend.activations, *backend.weights, *backend.streams, *own, "int32", "bool"}
    for dtype in map(dtype_of, _tensors(site)):
        if dtype in FLOATS:
            if not backend.floats:
                yield "float", f"computes with {dtype}"
        elif dtype in ("int64", "uint64"):
            if not backend.wide:
                yield "int64", f"computes with {dtype}"
        elif dtype not in known:
            yield "dtype", f"computes with {dtype}"


def _operator(site: BindingSite) -> Iterator[tuple[str, str]]:
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


def _zero_points(site: BindingSite) -> Iterator[tuple[str, str]]:
    if site.backend.zero_points:
        return
    for name in ZERO_POINTS:
        zero = getattr(getattr(site.value, "attrs", None), name, 0)
        if int(zero):
            yield "zero_point", f"{name}={int(zero)}"


def _requantize(site: BindingSite) -> Iterator[tuple[str, str]]:
    if op_name(site.value) != "tvmq.requantize":
        return
    attrs, backend, entry = site.value.attrs, site.backend, site.entry
    modes, roundings = backend.requantize, backend.roundings
    if entry is not None and entry.requantize is not None:
        modes, roundings = ((name,) for name in entry.requantize.nearest_mode)
    if attrs.mode not in modes:
        yield "requantize", f"mode {attrs.mode}"
    if attrs.mode != "float" and attrs.rounding not in roundings:
        yield "rounding", f"rounding {attrs.rounding}"
    scales = max(const_value(arg).size for arg in site.value.args[1:] if is_const(arg))
    if scales > 1 and not _takes_channels(backend, entry):
        yield "per_channel", f"{scales} factors, one for each channel"
    yield from _left_shifts(site)


def _takes_channels(backend: Backend, entry: OperatorEntry | None) -> bool:
    granularity = entry.weights.granularity if entry and entry.weights else None
    return backend.per_channel if granularity is None else granularity == "per_channel"


def _left_shifts(site: BindingSite) -> Iterator[tuple[str, str]]:
    """Factors of 1 and more, whose sums leave int32 on the way: a device that wraps gives other codes."""
    name, depthwise = site.family
    rule = site.backend.rule(name, depthwise=depthwise)
    if site.value.attrs.mode == "float" or rule.left_overflow != "wrap" or not is_const(site.value.args[2]):
        return
    left, sums = int(const_value(site.value.args[2]).max(initial=0)), site.bounds.interval_of(site.value.args[0])
    reach = sums.reach if sums is not None else 2**31
    if left > 0 and rule.left_shift == "before" and reach << left >= 2**31:
        yield (
            "left_shift",
            f"sums of up to {reach} are shifted left by {left} and leave int32, where {site.backend.name} wraps",
        )


def _factors(site: BindingSite) -> Iterator[tuple[str, str]]:
    """Constants that int32 is multiplied by outside of convolutions and products."""
    if site.backend.multipliers:
        return
    attrs = getattr(site.value, "attrs", None)
    factors = [int(getattr(attrs, name)) for name in FACTORS if hasattr(attrs, name)]
    places = WITH_CONSTANT_FACTORS.get(op_name(site.value), ())
    constants = [site.value.args[i] for i in places if is_const(site.value.args[i])]
    for factor in [*factors, *(int(v) for arg in constants for v in np.unique(const_value(arg))[:64])]:
        if abs(factor) & (abs(factor) - 1):
            yield "multiplier", f"multiplies by {factor}"
            return


def _accumulators(site: BindingSite) -> Iterator[tuple[str, str]]:
    reach = site.bounds.reach.get(site.var.name, 0)
    name, depthwise = site.family
    bits, overflow = site.backend.accumulators(name, depthwise=depthwise)
    most = 2 ** (bits - 1) - 1
    if overflow != "proved":
        return
    if reach is None:
        yield "accumulator", "how large its sums get is not known"
    elif reach > most:
        yield "accumulator", f"sums reach {reach}, {bits} bits end at {most}"


def _is_float(site: BindingSite) -> bool:
    """True for what gives or reads floats; float constants, which factors are, do not count."""
    return any(dtype_of(tensor) in FLOATS for tensor in _tensors(site) if not is_const(tensor))


def _kernels(site: BindingSite) -> Iterator[tuple[str, str]]:
    entry = site.entry
    largest = entry.largest_kernel if entry and entry.largest_kernel else site.backend.largest_kernel
    families = OPERATORS.get(op_name(site.value), ())
    if largest is None or _is_float(site) or not set(families).intersection(CONVOLUTIONS) or len(families) > 1:
        return
    side = max(shape_of(site.value.args[1])[2:])
    if side > largest:
        yield "kernel", f"a kernel of {side}, {largest} is the largest"


# ---- what entries of `operators` say


def _entries(site: BindingSite) -> Iterator[tuple[str, str]]:
    entry = site.entry
    if entry is None or _is_float(site):
        return
    if entry.computes != "integer" and site.is_own:
        yield "operator", f"{op_name(site.value)} in integers, where it is computed in {entry.computes}"
        return
    if site.is_own:
        yield from _read(site, entry)
        yield from _channels(site, entry)
    yield from _scales(site, entry)
    yield from _output_types(site, entry)


def _read(site: BindingSite, entry: OperatorEntry) -> Iterator[tuple[str, str]]:
    """Codes that an operator reads, and those of its weight, beyond the types that it takes."""
    for place, arg in enumerate(site.value.args):
        form = entry.weights if place == 1 and is_const(arg) and site.family[0] in WEIGHTED else entry.inputs
        if form is None or not form.dtype or (is_const(arg) and form is entry.inputs) or isinstance(arg, relax.Tuple):
            continue
        fault = _beyond(site, arg, form.dtype)
        if fault:
            yield "bits", f"{'its weight has' if form is entry.weights else 'reads'} {fault}"


def _output_types(site: BindingSite, entry: OperatorEntry) -> Iterator[tuple[str, str]]:
    codes = [name for name in entry.output if name in CODE_TYPES]
    fault = _beyond(site, site.var, codes) if codes else None
    if fault:
        yield "bits", f"writes {fault}"


def _beyond(site: BindingSite, expr: relax.Expr, names: tuple[str, ...] | list[str]) -> str | None:
    """Codes that none of these types holds, in words; None where one does, and for what is no code."""
    dtype = dtype_of(expr) if isinstance(getattr(expr, "ty", None), relax.TensorType) else ""
    if dtype not in CODES_16:
        return None
    bound = site.bounds.interval_of(expr)
    low, high = (int(bound.low.min()), int(bound.high.max())) if bound else CODE_TYPES[dtype].limits
    for kind in (CODE_TYPES[name] for name in names):
        if kind.storage == dtype and kind.limits[0] <= low and high <= kind.limits[1]:
            return None
    return f"{dtype} codes {low}..{high}, not {' or '.join(names)}"


def _channels(site: BindingSite, entry: OperatorEntry) -> Iterator[tuple[str, str]]:
    if site.family[0] not in WEIGHTED:
        return
    axis = 1 if site.family[0] in CONVOLUTIONS else -1
    sizes = [sizes_of(tensor)[axis] for tensor in (site.value.args[0], site.var)]
    counts = [count for count in sizes if isinstance(count, int)]
    most, step = entry.most_channels, entry.channel_alignment or 1
    if most is not None and max(counts, default=0) > most:
        yield "channels", f"{max(counts)} channels, {most} are the most"
    odd = [count for count in counts if count % step]
    if odd:
        yield "channels", f"{odd[0]} channels, which is no multiple of {step}"


def _scales(site: BindingSite, entry: OperatorEntry) -> Iterator[tuple[str, str]]:
    """Results whose scale differs from that of their inputs, where the entry requires the same."""
    if not entry.same_scales or site.var.name not in site.scales:
        return
    view, known = site.view, {tuple(site.scales[site.var.name])}
    names, seen = [site.var.name], set()
    while names:  # back to the codes that its sums are made of
        for arg in getattr(view.value.get(names.pop()), "args", ()):
            if isinstance(arg, relax.Var) and arg.name not in seen:
                seen.add(arg.name)
                if arg.name in site.scales:
                    known.add(tuple(site.scales[arg.name]))
                else:
                    names.append(arg.name)
    if len(known) > 1:
        yield "scale", f"scales and zero points {sorted(known)}, where all must be the same"


def _biases(site: BindingSite) -> Iterator[tuple[str, str]]:
    """Constants added to sums of products, beyond the width of biases."""
    name, depthwise = site.family
    if op_name(site.value) != "add" or name not in WEIGHTED or not is_const(site.value.args[1]):
        return
    bits = site.backend.rule(name, depthwise=depthwise).bias_bits
    largest = int(np.abs(const_value(site.value.args[1]).astype(np.int64)).max(initial=0))
    if largest > 2 ** (bits - 1) - 1:
        yield "bias", f"a bias of {largest}, {bits} bits end at {2 ** (bits - 1) - 1}"


CHECKS: tuple[Callable[[BindingSite], Iterator[tuple[str, Any]]], ...] = (
    _types, _operator, _zero_points, _requantize, _factors, _accumulators, _kernels, _entries, _biases,
)  # fmt: skip

RULES = (
    "float", "int64", "dtype", "operator", "zero_point", "per_channel", "requantize", "rounding", "multiplier",
    "table", "division", "accumulator", "kernel", "bits", "channels", "scale", "bias", "left_shift",
)  # fmt: skip
