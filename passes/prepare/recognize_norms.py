"""Normalizations written out: subtract, mean, square, mean, add, sqrt, divide, then multiply and add.

The quotient comes first, as a layer norm (or rms norm) without factors; a product behind it becomes gamma, a sum beta.
Factors of channels make it an instance norm or a group norm of one group; reshapes around it, a group norm of several.

Tests: tests/passes/prepare/test_recognize.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tvm import relax, tirx

from tvmq.graph.patterns.rules import RewriteRule, RewriteRules
from tvmq.graph.view import const_value, is_const, op_name, sizes_of
from tvmq.passes.prepare import algebra
from tvmq.passes.prepare import algebra_functions as functions
from tvmq.passes.prepare.algebra import Coefficient, Polynomial, variable

CENTRED = ("nn.layer_norm", "nn.instance_norm", "nn.group_norm")
NEAR = 1e-5  # coefficients that are the same number: constants are float32


def normalization(x: relax.Var, form: Polynomial) -> relax.Expr | None:
    """The normalization of x that a polynomial says, None if it says another thing."""
    norm = norm_of(form)
    unit = _unit_norm(x, norm.axes, norm.epsilon, centred=norm.centred) if norm is not None else None
    return _apply_factors(unit, norm) if unit is not None and norm is not None else None


# ---- quotients


class NormForm(NamedTuple):
    """(x - mean(x)) / sqrt(variance(x) + epsilon) * gamma + beta; without the mean where it is not centred.

    gamma, beta  numbers, or arrays that broadcast to x
    """

    axes: tuple[int, ...]
    centred: bool
    epsilon: float
    gamma: Coefficient
    beta: Coefficient


def norm_of(form: Polynomial) -> NormForm | None:
    """Normalization of x that a polynomial describes; None if it is none."""
    roots = {base for product in form for base, e in product if base.kind in ("sum", "mean") and e == -0.5}
    if len(roots) != 1:
        return None
    (root,) = roots
    radicand = root.inside if root.kind == "sum" else {((root, 1.0),): 1.0}
    parts = _radicand(radicand)
    if parts is None:
        return None
    axes, centred, size, epsilon = parts
    x, mean = variable(), functions.mean(variable(), axes)
    inverse: Polynomial = {((root, -0.5),): 1.0}
    above = {product: value for product, value in form.items() if product}
    (scaled_x,), (scaled_mean,) = (algebra.times(p, inverse) for p in (x, mean))
    gamma = above.pop(scaled_x, None)
    shift = above.pop(scaled_mean, 0.0)
    if gamma is None or above or not np.allclose(shift, -gamma if centred else 0.0, rtol=NEAR, atol=0):
        return None
    factor = gamma / math.sqrt(size)
    return NormForm(tuple(sorted(axes)), centred, epsilon, factor, form.get(algebra.ONE, 0.0))


def _radicand(form: Polynomial) -> tuple[frozenset[int], bool, float, float] | None:
    """Axes, whether it is centred, s and epsilon of s * (variance + epsilon) or s * (mean of squares + epsilon)."""
    bases = [base for product in form for base, _ in product if base.kind == "mean"]
    if not bases or any(np.ndim(value) for value in form.values()):
        return None
    axes, rest = bases[0].axes, dict(form)
    x, mean = variable(), functions.mean(variable(), axes)
    (squares,) = functions.mean(algebra.times(x, x), axes)
    (squared_mean,) = algebra.times(mean, mean)
    size, less = rest.pop(squares, 0.0), rest.pop(squared_mean, 0.0)
    epsilon = rest.pop(algebra.ONE, 0.0)
    if rest or size <= 0 or epsilon < 0 or not (less == 0 or math.isclose(less, -size, rel_tol=NEAR)):
        return None
    return axes, less != 0, float(size), float(epsilon / size)


def _apply_factors(unit: relax.Expr, norm: NormForm) -> relax.Expr:
    """The norm with its factors, as products and sums where it does not take them."""
    builder = relax.BlockBuilder()
    result = builder.normalize(unit)
    for position, (factor, operator) in enumerate(((norm.gamma, relax.op.multiply), (norm.beta, relax.op.add)), 1):
        if np.allclose(factor, 2 - position, rtol=1e-7, atol=0):
            continue
        array = relax.const(np.asarray(factor, np.float32))
        takes = op_name(result) in (*CENTRED, "nn.rms_norm") and position < len(result.args)
        inside = _with_parameter(result, array, position) if takes else None
        result = builder.normalize(operator(result, array) if inside is None else inside)
    return result


def _unit_norm(x: relax.Expr, axes: tuple[int, ...], epsilon: float, *, centred: bool) -> relax.Expr | None:
    shape = [x.ty.shape[axis] for axis in axes]
    if not axes or not all(isinstance(size, tirx.IntImm) for size in shape):
        return None
    ones, zeros = (relax.const(np.full([int(size) for size in shape], value, np.float32)) for value in (1, 0))
    if centred:
        return relax.op.nn.layer_norm(x, ones, zeros, list(axes), epsilon)
    return relax.op.nn.rms_norm(x, ones, list(axes), epsilon)


# ---- factors


def _with_gamma(norm: relax.Call, gamma: relax.Expr) -> relax.Expr | None:
    """norm * constant as a norm."""
    has_beta = op_name(norm) != "nn.rms_norm" and not _is_filled(norm.args[2], 0)
    return None if has_beta or not is_const(norm.args[1]) else _with_parameter(norm, gamma, 1)


def _with_parameter(norm: relax.Call, factor: relax.Expr, position: int) -> relax.Expr | None:
    """The normalization with gamma (position 1) or beta (2) from a constant that broadcasts to its result."""
    sizes = list(norm.ty.shape)
    array = algebra.without_repeats(const_value(factor))
    full = array.reshape((1,) * (len(sizes) - array.ndim) + array.shape)
    if op_name(norm) in ("nn.layer_norm", "nn.rms_norm"):
        axes = [int(axis) % len(sizes) for axis in norm.attrs.axes]
        row = [int(sizes[axis]) for axis in axes]
        if array.size == 1 or (full.size == np.prod(row) and [full.shape[axis] for axis in axes] == row):
            flat = np.broadcast_to(full.reshape([full.shape[axis] for axis in axes]), row)
            return _with_factor(norm, flat, position)
        norm = _as_channel_norm(norm, axes)
    channel = int(norm.attrs.channel_axis) if op_name(norm) in CENTRED[1:] else None
    if channel is None or full.size != full.shape[channel]:
        return None
    return _with_factor(norm, np.broadcast_to(full.reshape(-1), const_value(norm.args[1]).shape), position)


def _as_channel_norm(norm: relax.Call, axes: list[int]) -> relax.Call:
    """A layer norm of all positions as an instance norm, of all but the batch as a group norm; else as it is."""
    rank, channels = len(list(norm.ty.shape)), norm.ty.shape[1] if len(list(norm.ty.shape)) > 1 else None
    unit = op_name(norm) == "nn.layer_norm" and all(_is_filled(norm.args[i], 2 - i) for i in (1, 2))
    if not unit or not isinstance(channels, tirx.IntImm):
        return norm
    factors = [relax.const(np.full(int(channels), value, np.float32)) for value in (1, 0)]
    x, epsilon = norm.args[0], float(norm.attrs.epsilon)
    if axes == list(range(2, rank)):
        replacement = relax.op.nn.instance_norm(x, *factors, 1, axes, epsilon)
    elif axes == list(range(1, rank)):
        replacement = relax.op.nn.group_norm(x, *factors, 1, 1, axes[1:], epsilon)
    else:
        return norm
    return relax.BlockBuilder().normalize(replacement)


def _with_factor(norm: relax.Call, factor: np.ndarray, position: int) -> relax.Expr:
    """The normalization with a factor in place of a neutral one, which its attributes may have said to leave out."""
    args = list(norm.args)
    if position == 1 and (op_name(norm) == "nn.rms_norm" or norm.attrs.scale):
        factor = factor * const_value(args[1])
    args[position] = relax.const(np.ascontiguousarray(factor, np.float32))
    if op_name(norm) == "nn.rms_norm":
        return relax.Call(norm.op, args, norm.attrs, norm.ty_args, norm.span)
    for index, used in ((1, norm.attrs.scale), (2, norm.attrs.center)):
        if index != position and not used:
            args[index] = relax.const(np.full(const_value(args[index]).shape, 2 - index, np.float32))
    axes, epsilon = [int(axis) for axis in norm.attrs.axes], float(norm.attrs.epsilon)
    if op_name(norm) == "nn.layer_norm":
        return relax.op.nn.layer_norm(*args, axes, epsilon)
    if op_name(norm) == "nn.instance_norm":
        return relax.op.nn.instance_norm(*args, int(norm.attrs.channel_axis), axes, epsilon)
    groups, channel = int(norm.attrs.num_groups), int(norm.attrs.channel_axis)
    return relax.op.nn.group_norm(*args, groups, channel, axes, epsilon)


# ---- groups


def _group_norm(x: relax.Expr, norm: relax.Call) -> relax.Expr | None:
    """group_norm for a norm of x, reshaped to [batch, groups, ...] or [batch, ..., groups, channels of one]."""
    sizes, inner = sizes_of(x), sizes_of(norm)
    rank, last = len(inner), len(sizes) - 1
    if len(sizes) < 3 or rank < 3 or sizes[0] != inner[0]:
        return None
    if _is_over(norm, range(2, rank)):
        place, channel, axes = 1, 1, list(range(2, len(sizes)))
    elif _is_over(norm, [*range(1, rank - 2), rank - 1]) and _product(inner[-2:]) == sizes[last]:
        place, channel, axes = rank - 2, last, list(range(1, last))
    else:
        return None
    count, channels = inner[place], sizes[channel]
    if isinstance(count, str) or isinstance(channels, str) or channels % count:
        return None
    factors = _factors_of_groups(norm, count, channels)
    if factors is None:
        return None
    return relax.op.nn.group_norm(x, *factors, count, channel, axes, float(norm.attrs.epsilon))


def _is_over(norm: relax.Call, axes: Sequence[int]) -> bool:
    """True if a norm is over these axes; one of a single element need not be named."""
    sizes = sizes_of(norm)
    named = {int(axis) % len(sizes) for axis in norm.attrs.axes}
    return named.issubset(axes) and all(axis in named or sizes[axis] == 1 for axis in axes)


def _product(sizes: Sequence[int | str]) -> int | None:
    """Number of elements, None if it is dynamic."""
    numbers = [size for size in sizes if not isinstance(size, str)]
    return math.prod(numbers) if len(numbers) == len(sizes) else None


def _factors_of_groups(norm: relax.Call, groups: int, channels: int) -> list[relax.Expr] | None:
    """gamma and beta of channels from those of groups."""
    if not all(is_const(arg) for arg in norm.args[1:3]):
        return None
    if op_name(norm) == "nn.instance_norm":
        values = [const_value(arg).repeat(channels // groups) for arg in norm.args[1:3]]
    elif _is_filled(norm.args[1], 1) and _is_filled(norm.args[2], 0):
        values = [np.full(channels, value) for value in (1, 0)]
    else:
        return None
    return [relax.const(np.asarray(value, np.float32)) for value in values]


def _is_filled(expr: relax.Expr, value: float) -> bool:
    return is_const(expr) and bool((const_value(expr) == value).all())


FACTORS = RewriteRules(
    RewriteRule(
        "y := multiply(norm := (nn.layer_norm | nn.instance_norm | nn.group_norm | nn.rms_norm)(x), const(gamma))",
        _with_gamma,
        lambda y, norm: sizes_of(y) == sizes_of(norm),
        dtype="float32",
    ),
    RewriteRule(
        "y := add(norm := (nn.layer_norm | nn.instance_norm | nn.group_norm)(x), const(beta))",
        lambda norm, beta: _with_parameter(norm, beta, 2),
        lambda y, norm: sizes_of(y) == sizes_of(norm) and _is_filled(norm.args[2], 0),
        dtype="float32",
    ),
    RewriteRule(
        "y := reshape(norm := (nn.layer_norm | nn.instance_norm)(reshape(x)))",
        _group_norm,
        lambda y, x: sizes_of(y) == sizes_of(x),
        dtype="float32",
    ),
)
