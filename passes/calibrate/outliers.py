"""Channels that are far larger than the others, found in calibration data: one scale would leave little of the rest.

Transformers have them: in one token of a sentence a channel of the layer norm, and one of the gelu that feeds it, is
ten times the next one. Which of them to treat, and how (scale_outliers.py), is decided by the expected error of the
products that read the tensor:

    rounding of the tensor      step^2 / 12 * sum over channels of factor^2 * |weight row|^2
    rounding of the weights     sum over channels of mean square / factor^2 * (column step)^2 / 12
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.view import View, const_value, is_const, op_name, rank_of, shape_of
from tvmq.passes.calibrate.observed_model import Evaluator, Feed, return_intermediates
from tvmq.passes.families.table import function_of
from tvmq.passes.partition.float_exceptions import NORMALIZATIONS, why_float_sum

# Levels of a code, and the largest weight.
STEPS, LARGEST_WEIGHT = 255.0, 127.0
# Share of the channels that may go beyond the range of the rest, tried from few to many.
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
MOST_SPLIT, SPLIT_SHARE = 8, 32  # channels of a second product, and at most one in so many
LARGEST_FACTOR = 64.0
# Expected error that must remain at most: a factor costs nothing or a product, a split costs two small products.
WORTH_SCALING, WORTH_SPLITTING = 0.8, 0.5


@dataclass(frozen=True)
class OutlierCandidate:
    """A tensor whose channels may be treated one by one.

    name      the tensor; its channels are the last axis
    products  the products with constant matrices that read it
    chain     element-wise operators from a product to the tensor, in order; () for what a normalization gives
    """

    name: str
    products: tuple[str, ...]
    chain: tuple[str, ...] = ()


@dataclass
class ChannelStatistics:
    """Extremes and mean square of each channel (the last axis)."""

    low: np.ndarray | None = None
    high: np.ndarray | None = None
    squares: np.ndarray | None = None
    count: int = 0

    def update(self, values: np.ndarray) -> None:
        """Add the values of some samples."""
        flat = np.asarray(values).reshape(-1, values.shape[-1])
        low, high = flat.min(axis=0).astype(np.float64), flat.max(axis=0).astype(np.float64)
        squares = np.square(flat, dtype=np.float64).sum(axis=0)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)
        self.squares = squares if self.squares is None else self.squares + squares
        self.count += len(flat)


def find_outliers(
    mod: tvm.IRModule, batches: Callable[[], Iterable[tuple[Feed, int]]], evaluator: Evaluator
) -> dict[str, dict[str, Any]]:
    """Treatments for scale_outliers of a prepared module; {} where nothing stands out. Reads the data if need be.

    {tensor: {"factors": {channel: power of two}}} or {tensor: {"split": [channels]}}, as JSON can hold it
    """
    view = View(mod)
    tensors = candidates(view)
    if not tensors:
        return {}
    run = evaluator(return_intermediates(mod, [candidate.name for candidate in tensors]))
    statistics = [ChannelStatistics() for _ in tensors]
    for feed, count in batches():
        for known, value in zip(statistics, run(feed), strict=True):
            known.update(np.asarray(value)[:count])
    chosen = {c.name: choose(view, c, s) for c, s in zip(tensors, statistics, strict=True) if s.count}
    return {name: choice for name, choice in chosen.items() if choice}


def candidates(view: View) -> list[OutlierCandidate]:
    """Results of normalizations that products read, and functions of one product that another one reads."""
    tensors = []
    for var, value in view.bindings:
        products = tuple(name for name in view.readers[var.name] if _is_product_of(view, name, var.name))
        if not products:
            continue
        if NORMALIZATIONS.get(op_name(value), "softmax") != "softmax":
            tensors.append(OutlierCandidate(var.name, products))
            continue
        chain = function_chain(view, var.name)
        if chain and _ends_in_stream(view, var.name, products):
            tensors.append(OutlierCandidate(var.name, products, chain))
    return tensors


def _is_product_of(view: View, name: str, x: str) -> bool:
    """True for the product of a tensor and a constant matrix."""
    value = view.value[name]
    if op_name(value) != "matmul" or not is_const(value.args[1]) or is_const(value.args[0]):
        return False
    return value.args[0].name == x and rank_of(value.args[1]) == 2 and len(value.args[0].ty.shape) >= 2


def function_chain(view: View, name: str) -> tuple[str, ...]:
    """The product (and its bias) and the element-wise operators by which `name` is a function of it; () if it is none.

    Nobody else reads any of them but the end.
    """
    chain: dict[str, None] = {}
    waiting, product = [name], None
    while waiting:
        current = waiting.pop()
        if current in chain or current == product:
            continue
        value = view.value.get(current)
        is_read_by_product = any(op_name(view.value[reader]) == "matmul" for reader in view.readers[current])
        if value is None or (is_read_by_product and current != name):
            return ()
        if bias_and_product(view, current):
            if product not in (None, current):
                return ()
            product = current
        elif function_of(value, {}, {}) is None and not _is_function_of_two(value):
            return ()
        else:
            chain[current] = None
            waiting.extend(arg.name for arg in value.args if isinstance(arg, relax.Var))
    if product is None or not chain:
        return ()
    inside = {*chain, *bias_and_product(view, product)}
    order = sorted(inside, key=view.place.__getitem__)
    closed = all(r in inside for n in order if n != name for r in view.readers[n])
    return tuple(order) if closed and not any(view.is_output(n) for n in order) else ()


def bias_and_product(view: View, name: str) -> list[str]:
    """[product] or [product, sum with its bias] if the variable `name` is such; [] for anything else."""
    value = view.value.get(name)
    if not isinstance(value, relax.Call):
        return []
    if op_name(value) == "add" and is_const(value.args[1]) and isinstance(value.args[0], relax.Var):
        product, bias = value.args[0].name, shape_of(value.args[1])
        is_bias = not bias or bias[-1:] == (int(np.prod(bias)),)
        return [product, name] if is_bias and _is_product(view, product) else []
    return [name] if _is_product(view, name) else []


def _is_product(view: View, name: str) -> bool:
    value = view.value.get(name)
    if value is None or op_name(value) != "matmul" or is_const(value.args[0]):
        return False
    return _is_product_of(view, name, value.args[0].name)


def _is_function_of_two(value: relax.Expr) -> bool:
    """True for an element-wise operator of two links of one chain, such as x * sigmoid(x)."""
    if not isinstance(value, relax.Call) or not value.args:
        return False
    first = value.args[0]
    return isinstance(first, relax.Var) and op_name(value) in ("add", "subtract", "multiply", "divide")


def _ends_in_stream(view: View, name: str, products: Sequence[str]) -> bool:
    """True if one product alone reads the tensor, and only sums that stay float read its result."""
    if len(view.readers[name]) != 1 or view.is_output(name):
        return False
    result = products[0]
    reader = view.only_reader(result)
    if reader is not None and bias_and_product(view, reader):
        result = reader
    readers = view.readers[result]
    return bool(readers) and not view.is_output(result) and all(_is_float_sum(view, r) for r in readers)


def _is_float_sum(view: View, name: str) -> bool:
    value = view.value[name]
    return op_name(value) == "add" and not is_const(value.args[1]) and why_float_sum(view, name) is not None


def choose(view: View, candidate: OutlierCandidate, statistics: ChannelStatistics) -> dict[str, Any] | None:
    """Treatment of one tensor; None where nothing is worth it."""
    weights = [const_value(view.value[name].args[1]).astype(np.float64) for name in candidate.products]
    model = ProductErrorModel(statistics, np.concatenate(weights, axis=1))
    if candidate.chain:
        return _channels_to_split(model)
    return _factors(model)


@dataclass
class ProductErrorModel:
    """Expected error of products, see the head of this file; weight [channels, columns]."""

    statistics: ChannelStatistics
    weight: np.ndarray
    largest: np.ndarray = field(init=False)
    rows: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        known = self.statistics
        assert known.low is not None and known.high is not None
        self.largest = np.maximum(-known.low, known.high)
        self.rows = np.square(self.weight).sum(axis=1)

    def error(self, factors: np.ndarray, kept: np.ndarray | slice = slice(None)) -> float:
        """Error of the channels `kept`, divided by `factors` [channels] before they are rounded."""
        known = self.statistics
        assert known.low is not None and known.high is not None and known.squares is not None
        low, high = (known.low / factors)[kept].min(initial=0.0), (known.high / factors)[kept].max(initial=0.0)
        step = (high - low) / STEPS
        scaled = (self.weight * factors[:, None])[kept]
        column_steps = np.abs(scaled).max(axis=0, initial=0.0) / LARGEST_WEIGHT
        power = (known.squares / known.count / factors**2)[kept].sum()
        rounding = step**2 * (self.rows * factors**2)[kept].sum()
        return float(rounding + power * np.square(column_steps).sum()) / 12


def _factors(model: ProductErrorModel) -> dict[str, Any] | None:
    """Powers of two by which the largest channels are divided."""
    channels = len(model.largest)
    before = model.error(np.ones(channels))
    best, least = None, WORTH_SCALING * before
    for share in SHARES:
        bound = np.sort(model.largest)[-1 - min(max(1, round(share * channels)), channels - 1)]
        if bound <= 0:
            continue
        factors = np.exp2(np.ceil(np.log2(np.maximum(model.largest / bound, 1.0))))
        factors = np.minimum(factors, LARGEST_FACTOR)
        error = model.error(factors)
        if error < least:
            best, least = factors, error
    if best is None:
        return None
    return {"factors": {str(i): float(best[i]) for i in np.flatnonzero(best != 1.0)}}


def _channels_to_split(model: ProductErrorModel) -> dict[str, Any] | None:
    """Channels that get products of their own."""
    channels = len(model.largest)
    ones, order = np.ones(channels), np.argsort(-model.largest, kind="stable")
    before = model.error(ones)
    best, least = None, WORTH_SPLITTING * before
    for count in range(1, min(MOST_SPLIT, channels // SPLIT_SHARE) + 1):
        alone = np.isin(np.arange(channels), order[:count])
        error = model.error(ones, ~alone) + model.error(ones, alone)
        if error < least * (1 if best is None else WORTH_SCALING):
            best, least = alone, error
    return None if best is None else {"split": [int(i) for i in np.flatnonzero(best)]}
