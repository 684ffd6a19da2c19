"""Which weights of the source the deployed weight and bias of a layer are made of, and how.

The passes before training fold batch norm into weights, turn axes, multiply channels. Instead of asking each of them,
the imported module says which weight, bias and batch norm belong together, and the numbers say the rest: the deployed
weight is a weight of the source with its axes in another order, times factors of its output channels and of its input
channels. What is not of this form has no origin, and its layer has parameters of its own.

Tests: tests/training/test_source_names.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.names import weight_names
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, RESHAPE, TRANSPOSE, TRANSPOSED
from tvmq.graph.view import View, op_name, rank_of
from tvmq.training.trainable_parts import CalibratedModule

LAYERS = where(kind=(CONVOLUTION, TRANSPOSED, PRODUCT), is_own=False)
CLOSE = 1e-5  # of the largest weight: folding rounds once to float32
ROUNDS = 50  # of the fit of factors of both axes


@dataclass(frozen=True)
class BatchNorm:
    """A batch norm behind a layer, by the names of its tensors in the source."""

    gamma: str
    beta: str
    mean: str
    variance: str
    epsilon: float
    momentum: float


@dataclass(frozen=True)
class SourceLayer:
    """A layer of the imported module: names of its weight, of its bias, and the batch norm behind it."""

    variable: str
    weight: str
    bias: str | None
    norm: BatchNorm | None


@dataclass(frozen=True, eq=False)
class Origin:
    """How a deployed weight follows from one of the source.

    layer   its names
    axes    order of the source's axes
    factor  float64, of the deployed weight's output channels: as many ones as its rank, but for their axis
    inner   the same of its input channels; None where they have none
    rest    what is added behind the layer besides the source's bias and batch norm, by channel
    """

    layer: SourceLayer
    axes: tuple[int, ...]
    factor: np.ndarray
    inner: np.ndarray | None
    rest: np.ndarray | None = None


def source_layers(mod: tvm.IRModule) -> list[SourceLayer]:
    """The layers of an imported module whose weight is a parameter of it, in order."""
    return list(_layers(View(mod), weight_names(mod["main"])))


def _layers(view: View, names: Mapping[str, str]) -> Iterator[SourceLayer]:
    for var, call in view.bindings:
        if op_name(call) not in LAYERS:
            continue
        weight = next(filter(None, (_parameter(view, arg) for arg in reversed(call.args[:2]))), None)
        if weight is None:
            continue
        bias, last = None, var.name
        reader = _reader(view, last)
        if reader is not None and op_name(view.value[reader]) == "add":
            others = [arg for arg in view.value[reader].args if not _is(arg, last)]
            bias = _parameter(view, others[0]) if others else None
            last = reader if bias is not None else last
        channels = rank_of(var) - 1 if OPERATORS[op_name(call)].kind == PRODUCT else 1
        norm = _norm(view, names, last, channels)
        yield SourceLayer(var.name, names[weight], names[bias] if bias is not None else None, norm)


def _parameter(view: View, expr: relax.Expr) -> str | None:
    """The parameter whose values, in another shape or order of axes, an expression has."""
    while isinstance(expr, relax.Var) and expr.name not in view.params:
        call = view.value[expr.name]
        record = OPERATORS.get(op_name(call))
        if record is None or record.form not in (RESHAPE, TRANSPOSE):
            return None
        expr = call.args[0]
    return expr.name if isinstance(expr, relax.Var) else None


def _reader(view: View, name: str) -> str | None:
    return None if view.is_output(name) else view.only_reader(name)


def _is(expr: relax.Expr, name: str) -> bool:
    return isinstance(expr, relax.Var) and expr.name == name


def _norm(view: View, names: Mapping[str, str], name: str, channels: int) -> BatchNorm | None:
    """The batch norm that alone reads a variable, along the axis of its channels."""
    reader = _reader(view, name)
    call = view.value[reader] if reader is not None else None
    if call is None or op_name(call) != "nn.batch_norm" or not (call.attrs.scale and call.attrs.center):
        return None
    if int(call.attrs.axis) != channels:
        return None
    parameters = [_parameter(view, arg) for arg in call.args[1:5]]
    tensors = [names[parameter] for parameter in parameters if parameter is not None]
    if len(tensors) < 4:
        return None
    gamma, beta, mean, variance = tensors
    return BatchNorm(gamma, beta, mean, variance, float(call.attrs.epsilon), float(call.attrs.momentum))


def origins_of(
    source: CalibratedModule, layers: Sequence[SourceLayer], weights: Mapping[str, np.ndarray]
) -> dict[str, Origin]:
    """{variable of the weight: origin} of the layers of a calibrated module whose weights are rounded nowhere.

    weights  {name in the source: array}
    """
    origins: dict[str, Origin] = {}
    for root, layer in source.calibrated_layers.items():
        known = [one for one in layers if one.weight in weights]
        likely = [one for one in known if one.variable == root] + [one for one in known if one.variable != root]
        deployed, _ = source.weight(layer)
        axis = source.output_axis(layer, deployed.ndim)
        origin = find_origin(deployed, axis, likely, weights)
        bias = source.bias(layer)
        if origin is not None and bias is not None and bias.size == origin.factor.size:
            origin = with_bias(origin, bias.reshape(-1).astype(np.float64), weights)
        if origin is not None:
            origins[layer.weight] = origin
    return origins


def find_origin(
    deployed: np.ndarray, axis: int, layers: Sequence[SourceLayer], weights: Mapping[str, np.ndarray]
) -> Origin | None:
    """The origin of a deployed weight, None where no layer's weight fits.

    axis     of its output channels
    layers   those that are likelier first
    weights  {name in the source: array}
    """
    for layer in layers:
        array = weights[layer.weight]
        for axes in _orders(array.shape, deployed.shape):
            turned = array.transpose(axes).reshape(deployed.shape).astype(np.float64)
            factors = _factors(deployed.astype(np.float64), turned, axis)
            if factors is not None:
                return Origin(layer, axes, *factors)
    return None


def _orders(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Orders of axes that give the wanted shape, axes of one element aside; the one that changes nothing first.

    >>> list(_orders((4, 3, 1), (3, 4)))
    [(1, 0, 2)]
    """
    if int(np.prod(shape)) != int(np.prod(wanted)) or len(shape) > 5:
        return
    large = [axis for axis, size in enumerate(shape) if size > 1]
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    sizes = [size for size in wanted if size > 1]
    for order in itertools.permutations(large):
        if [shape[axis] for axis in order] == sizes:
            yield (*order, *ones)


def _factors(deployed: np.ndarray, source: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray | None] | None:
    """deployed = source * factors of `axis`, or of it and the other one of the first two axes; None otherwise."""
    others = tuple(a for a in range(source.ndim) if a != axis)
    bound = CLOSE * np.abs(deployed).max(initial=0)
    outer = _ratio(deployed, source, others)
    if np.abs(deployed - source * outer).max(initial=0) <= bound:
        return outer, None
    inner_axis = 1 - axis if source.ndim > 1 and axis < 2 else None
    if inner_axis is None or not np.any(deployed):
        return None
    rest = tuple(a for a in range(source.ndim) if a != inner_axis)
    inner = np.ones([1] * source.ndim)
    for _ in range(ROUNDS):
        inner = _ratio(deployed, source * outer, rest)
        if np.abs(deployed - source * outer * inner).max() <= bound:
            unit = np.median(np.abs(inner[inner != 0]))
            return outer * unit, inner / unit
        outer = _ratio(deployed, source * inner, others)
    return None


def _ratio(a: np.ndarray, b: np.ndarray, axes: Any) -> np.ndarray:
    """The factors by which b is nearest to a, 1 where b is zero; one for what `axes` leave."""
    energy = (b * b).sum(axis=axes, keepdims=True)
    product = (a * b).sum(axis=axes, keepdims=True)
    ratio = np.divide(product, energy, out=np.ones_like(energy), where=energy > 0)
    return np.ones_like(ratio) if np.allclose(ratio, 1, rtol=CLOSE, atol=0) else ratio


def with_bias(origin: Origin, deployed: np.ndarray, weights: Mapping[str, np.ndarray]) -> Origin:
    """The origin that agrees with the bias: factors of both axes alone leave a power of two open.

    deployed  bias in floats, as folded, float64
    """
    options = [1.0] if origin.inner is None else [2.0**power for power in range(-8, 9)]
    rests = [deployed - folded_bias(origin, weights, unit) for unit in options]
    best = int(np.argmin([np.abs(rest).sum() for rest in rests]))
    inner = None if origin.inner is None else origin.inner / options[best]
    return replace(origin, factor=origin.factor * options[best], inner=inner, rest=rests[best])


def folded_bias(origin: Origin, weights: Mapping[str, np.ndarray], unit: float = 1.0) -> np.ndarray:
    """Terms that bias and batch norm of the source add behind the layer, float64, one a channel or a single one."""
    layer, factor = origin.layer, origin.factor.reshape(-1) * unit
    bias = weights[layer.bias].reshape(-1).astype(np.float64) if layer.bias is not None else np.zeros(1)
    if layer.norm is None:
        return bias * factor
    names = layer.norm.gamma, layer.norm.beta, layer.norm.mean, layer.norm.variance
    gamma, beta, mean, variance = (weights[name].astype(np.float64) for name in names)
    norm = gamma / np.sqrt(variance + layer.norm.epsilon)
    share = np.divide(factor, norm, out=np.ones_like(norm), where=norm != 0)
    return (bias - mean) * factor + beta * share


def constants_of_source(mod: tvm.IRModule, params: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """{name in the source: array} of the weights that came beside a module."""
    names = weight_names(mod["main"])
    return {names[name]: _array(value) for name, value in (params or {}).items() if name in names}


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
