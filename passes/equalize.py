"""Give the channels between two convolutions ranges of one size, so that one scale serves a whole weight.

Before                                            After
    a = conv2d(x, w1) + b1                            a = conv2d(x, f * w1) + f * b1
    r = relu(a)                                       r = relu(a)
    c = conv2d(r, w2)                                 c = conv2d(r, w2 / f)

Known as  cross-layer equalization.
Needs     a prepared module; between the convolutions relu, leaky relu, pooling, padding with 0.
Leaves    a tensor that anything but convolutions over single or all channels reads; what a clip bounds (relu6), whose
          channels have one range already.
Numerics  the factors of the channels are powers of two: the same floats, but those in between.
Source    M. Nagel, M. van Baalen, T. Blankevoort, M. Welling: Data-Free Quantization Through Weight Equalization and
          Bias Correction, 2019, section 4.1: f = sqrt(r2 / r1) with the ranges r1, r2 of a channel in both weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, is_const, make_const, op_name, rank_of

CONVOLUTIONS = where(kind=CONVOLUTION)
# What f * x goes through as f * (what x becomes), channel by channel, for f > 0
HOMOGENEOUS = where(homogeneous=True)


# Rounds over all pairs: a weight in the middle of a chain belongs to two.
SWEEPS = 3
LARGEST_FACTOR = 2.0**8


@dataclass
class ConvPair:
    """A convolution, what its result goes through, and the convolutions that read it."""

    first: str
    between: list[str] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)


def equalize(mod: tvm.IRModule) -> tvm.IRModule:
    """Scale the channels between two convolutions by powers of two, so that their ranges have one size."""
    ledger = require_stage(mod, "equalize", ("prepared",))
    view = View(mod)
    conv_pairs = pairs(view)
    factors = channel_factors(view, conv_pairs)
    if all((f == 1).all() for f in factors.values()):
        return mod
    ledger.notes.append(f"equalization: the channels of {len(conv_pairs)} convolutions are scaled by powers of two")
    return with_ledger(_apply_factors(mod, conv_pairs, factors), ledger)


def pairs(view: View) -> list[ConvPair]:
    """All convolutions whose channels can be scaled, in the order of the module."""
    return [pair for var, value in view.bindings if _scalable(value) for pair in [_find_pair(view, var.name)] if pair]


def _scalable(value: relax.Expr) -> bool:
    """True for a convolution of a constant weight with the channels second."""
    if op_name(value) not in CONVOLUTIONS or not is_const(value.args[1]):
        return False
    return str(value.attrs.data_layout).startswith("NC") and str(value.attrs.kernel_layout).startswith("OI")


def _find_pair(view: View, name: str) -> ConvPair | None:
    """The pair that begins at a convolution, None if anything else reads its channels."""
    pair, current = ConvPair(name), name
    while True:
        readers = view.readers[current]
        if not readers or view.is_output(current):
            return None
        if all(_reads_channels(view.value[reader], current) for reader in readers):
            pair.readers = list(readers)
            return pair
        if len(readers) > 1 or not _passes(view, readers[0], current):
            return None
        current = readers[0]
        pair.between.append(current)


def _reads_channels(value: relax.Expr, name: str) -> bool:
    """True for a convolution over single channels, or over all of them."""
    if not _scalable(value) or value.args[0].name != name:
        return False
    groups, per_group = int(value.attrs.groups), int(value.args[1].ty.shape[1])
    return groups == 1 or per_group == 1


def _passes(view: View, name: str, source: str) -> bool:
    """True for a bias, and for what passes factors of the channels on."""
    value = view.value[name]
    op = op_name(value)
    if op == "add":
        a, b = value.args
        return isinstance(a, relax.Var) and a.name == source and is_const(b) and _is_channel_constant(b, rank_of(value))
    if op == "nn.pad":
        return str(value.attrs.pad_mode) == "constant" and float(value.attrs.pad_value) == 0.0
    return op in HOMOGENEOUS


def _is_channel_constant(constant: relax.Expr, rank: int) -> bool:
    shape = const_value(constant).shape
    return len(shape) == rank and all(size == 1 for axis, size in enumerate(shape) if axis != 1)


def channel_factors(view: View, conv_pairs: list[ConvPair]) -> dict[str, np.ndarray]:
    """{first convolution of a pair: float32 factors of its output channels}, powers of two in 2^-8..2^8."""
    names = {name for pair in conv_pairs for name in (pair.first, *pair.readers)}
    weights = {name: np.abs(const_value(view.value[name].args[1]).astype(np.float64)) for name in names}
    factors = {pair.first: np.ones(len(weights[pair.first])) for pair in conv_pairs}
    for _ in range(SWEEPS):
        for pair in conv_pairs:
            step = _step(view, pair, weights, factors[pair.first])
            factors[pair.first] *= step
            weights[pair.first] *= step.reshape(-1, *[1] * (weights[pair.first].ndim - 1))
            for reader in pair.readers:
                weights[reader] /= _factors_of_input(view.value[reader], step)
    return {name: f.astype(np.float32) for name, f in factors.items()}


def _step(view: View, pair: ConvPair, weights: Mapping[str, np.ndarray], known: np.ndarray) -> np.ndarray:
    """Factors that make both ranges of each channel equal, as far as powers of two and the limit allow."""
    first = weights[pair.first].reshape(len(known), -1).max(axis=1)
    second = np.zeros(len(known))
    for reader in pair.readers:
        ranges = _input_ranges(view.value[reader], weights[reader], len(known))
        second = np.maximum(second, ranges / max(float(ranges.max()), np.finfo(np.float64).tiny))
    usable = (first > 0) & (second > 0)
    ratio = np.sqrt(np.where(usable, second, 1.0) / np.where(usable, first, 1.0))
    centre = np.exp2(np.rint(np.log2(np.median(ratio[usable])))) if usable.any() else 1.0
    wanted = np.where(usable, np.exp2(np.rint(np.log2(ratio / centre))), 1.0)
    return np.asarray(np.clip(wanted * known, 1 / LARGEST_FACTOR, LARGEST_FACTOR) / known)


def _input_ranges(value: relax.Call, weight: np.ndarray, channels: int) -> np.ndarray:
    """Largest magnitude of the weights that read each channel."""
    rows = np.moveaxis(weight, 1, 0) if int(value.attrs.groups) == 1 else weight
    return np.asarray(rows.reshape(channels, -1).max(axis=1))


def _factors_of_input(value: relax.Call, factors: np.ndarray) -> np.ndarray:
    """Factors of the channels that a convolution reads, in the shape of its weight."""
    weight = value.args[1].ty.shape
    ones = [1] * (len(weight) - 2)
    if int(value.attrs.groups) == 1:
        return factors.reshape(1, -1, *ones)
    return factors.repeat(int(weight[0]) // len(factors)).reshape(-1, 1, *ones)


def _apply_factors(mod: tvm.IRModule, conv_pairs: list[ConvPair], factors: Mapping[str, np.ndarray]) -> tvm.IRModule:
    inside = {name: factors[pair.first] for pair in conv_pairs for name in pair.between}
    read = {name: factors[pair.first] for pair in conv_pairs for name in pair.readers}

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if var.name in inside and op_name(value) == "add":
            bias = const_value(value.args[1])
            scaled = bias * inside[var.name].reshape(1, -1, *[1] * (bias.ndim - 2))
            return relax.op.add(value.args[0], make_const(scaled.astype(np.float32)))
        if var.name not in factors and var.name not in read:
            return None
        weight = const_value(value.args[1])
        if var.name in factors:
            weight = weight * factors[var.name].reshape(-1, *[1] * (weight.ndim - 1))
        if var.name in read:
            weight = weight / _factors_of_input(value, read[var.name])
        new = make_const(weight.astype(np.float32))
        return relax.Call(value.op, [value.args[0], new], value.attrs, value.ty_args, value.span)

    return rewrite(mod, visit)
