"""Powers of two that make channels alike where each token gets a scale of its own, found in calibration data.

A scale for each token is that of its largest channel. Decoders have channels that are ten and a hundred times the
others; dividing them by a power of two, and multiplying the rows of the weights that read them, leaves the floats as
they are (scale_outliers.py). Which powers is decided by the expected error of the products that read a tensor:

    rounding of the tokens      mean over tokens of (largest |x| / factor / 127)^2 * sum of factor^2 * |weight row|^2,
                                without the largest channel, which is a code exactly
    rounding of the weights     mean over tokens of sum of (x / factor)^2 * sum of (column step)^2

each / 12. Tried are factors between those that make activations alike and those that make weights alike.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.view import View, const_value, is_const, op_name, rank_of
from tvmq.passes.calibrate.observed_model import Evaluator, Feed, return_intermediates
from tvmq.passes.calibrate.outliers import candidates

SHARES = (0.35, 0.5, 0.65, 0.8)  # of the activations in a factor
LARGEST_FACTOR, LARGEST_CODE = 64.0, 127.0
ROWS = 128  # tokens of a batch, evenly spread, that are kept
WORTH = 0.9  # expected error that must remain at most


def find_token_factors(
    mod: tvm.IRModule,
    batches: Callable[[], Iterable[tuple[Feed, int]]],
    evaluator: Evaluator,
    in_groups: Container[str] = (),
) -> dict[str, dict[str, Any]]:
    """Treatments for scale_outliers of a prepared module, {tensor: {"factors": {channel: power of two}}}.

    in_groups  products whose rows have a scale for each group of channels: what they read stays as it is
    """
    view = View(mod)
    tensors = {one.name: one.products for one in candidates(view) if not one.chain} | gated_tensors(view)
    tensors = {name: products for name, products in tensors.items() if not any(p in in_groups for p in products)}
    if not tensors:
        return {}
    run = evaluator(return_intermediates(mod, list(tensors)))
    rows: list[list[np.ndarray]] = [[] for _ in tensors]
    for feed, count in batches():
        for kept, value in zip(rows, run(feed), strict=True):
            tokens = np.asarray(value)[:count].reshape(-1, value.shape[-1])
            kept.append(np.abs(tokens[:: max(1, len(tokens) // ROWS)], dtype=np.float64))
    chosen = {}
    for (name, products), kept in zip(tensors.items(), rows, strict=True):
        weight = np.concatenate([const_value(view.value[product].args[1]) for product in products], axis=1)
        factors = choose_factors(np.concatenate(kept), weight.astype(np.float64)) if kept else None
        if factors is not None:
            chosen[name] = {"factors": {str(i): float(factors[i]) for i in np.flatnonzero(factors != 1)}}
    return chosen


def gated_tensors(view: View) -> dict[str, tuple[str, ...]]:
    """{product of a gate and of what a matrix gives: the products that alone read it}."""
    tensors = {}
    for var, value in view.bindings:
        readers = view.readers[var.name]
        if gate_of(view, value) is not None and readers and not view.is_output(var.name):
            if all(_reads_rows(view, reader, var.name) for reader in readers):
                tensors[var.name] = tuple(readers)
    return tensors


def gate_of(view: View, value: relax.Expr) -> relax.Var | None:
    """Operand of a product of two tensors that is a product with a constant matrix, and read by nothing else."""
    if op_name(value) != "multiply" or any(is_const(arg) for arg in value.args):
        return None
    for arg in reversed(list(value.args)):
        operand = view.value.get(arg.name) if isinstance(arg, relax.Var) else None
        if operand is not None and view.only_reader(arg.name) and _is_layer(operand):
            return arg
    return None


def _is_layer(value: relax.Expr) -> bool:
    is_product = op_name(value) == "matmul" and is_const(value.args[1]) and not is_const(value.args[0])
    return is_product and rank_of(value.args[1]) == 2


def _reads_rows(view: View, name: str, x: str) -> bool:
    value = view.value[name]
    return _is_layer(value) and value.args[0].name == x


def choose_factors(rows: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
    """Powers of two for the channels; None where no choice is worth it.

    rows    magnitudes [tokens, channels]
    weight  [channels, columns]

    >>> choose_factors(np.ones((4, 8)), np.ones((8, 3))) is None
    True
    """
    largest, heaviest = rows.max(axis=0), np.abs(weight).max(axis=1)
    best, least = None, WORTH * expected_error(rows, weight, np.ones(len(largest)))
    tiny = max(float(largest.max()), 1e-30) * 1e-6, max(float(heaviest.max()), 1e-30) * 1e-6
    for share in SHARES:
        logs = share * np.log2(np.maximum(largest, tiny[0])) - (1 - share) * np.log2(np.maximum(heaviest, tiny[1]))
        factors = np.clip(np.exp2(np.rint(logs - np.median(logs))), 1 / LARGEST_FACTOR, LARGEST_FACTOR)
        error = expected_error(rows, weight, factors)
        if error < least:
            best, least = factors, error
    return best


def expected_error(rows: np.ndarray, weight: np.ndarray, factors: np.ndarray) -> float:
    """Mean squared error of a row of results, see the head of this file."""
    scaled, tokens = weight * factors[:, None], rows / factors
    steps = np.square(tokens.max(axis=1) / LARGEST_CODE)
    weights = np.square(scaled).sum(axis=1)
    rounded = weights.sum() - weights[tokens.argmax(axis=1)]
    columns = np.square(np.abs(scaled).max(axis=0) / LARGEST_CODE).sum()
    return float((steps * rounded).mean() + np.square(tokens).sum(axis=1).mean() * columns) / 12
