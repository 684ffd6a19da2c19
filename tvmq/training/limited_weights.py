"""Weights that are trained inside of their accumulators: the codes of the moment always keep the limit.

forward   the nearest codes within the limit (numerics/sum_limits.py); weights inside of it are what they were
backward  straight through. Where a limit holds weights back, what would push all of them beyond it together is taken
          off the gradient (the projection on the simplex has that derivative), so that weights do not run away where
          nobody sees them; what brings them inside passes
start     each channel's scale, times that power of 2^(1/2) with which the codes within the limit are nearest to the
          weights: a narrow accumulator wants small codes rather than a few large ones

Tests: tests/training/test_accumulators.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tvmq import numerics
from tvmq.errors import AccumulatorError, ConfigError, UnsupportedOpError
from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import TRANSPOSED
from tvmq.graph.view import View, op_name
from tvmq.passes.families.base import PRODUCT_SUFFIX
from tvmq.training.accumulators import Accumulators, Order, order_of
from tvmq.training.trainable_parts import CalibratedLayer

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork
    from tvmq.training.parameters import LearnedScale, WeightedLayer

FACTORS = 2.0 ** (np.arange(0, 21) / 2)  # of a start scale
POWERS = FACTORS[::2]  # where scales are powers of two
ENOUGH = 3  # of them in turn that made no channel better


class _LimitedRounding(torch.autograd.Function):
    """Real weights in steps -> the nearest codes within the limit."""

    @staticmethod
    def forward(
        ctx: Any, steps: torch.Tensor, order: Order, most: np.ndarray, together: bool, low: int, high: int
    ) -> torch.Tensor:
        rounded = torch.round(steps)
        inside = (rounded >= low) & (rounded <= high)
        values = torch.nan_to_num(steps, nan=float(low)).clamp(low, high).detach().numpy()
        rows = order.rows(values)
        codes = numerics.nearest_weights(rows, most, together=together)
        ctx.order, ctx.held = order, _held_back(rows, most, together)
        ctx.save_for_backward(inside)
        return torch.from_numpy(order.back(codes, values.shape).astype(np.float32))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (inside,) = ctx.saved_tensors
        grad = grad * inside
        if any(sign.any() for sign in ctx.held):
            rows = ctx.order.rows(grad.numpy())
            for sign in ctx.held:
                rows = _without_outward(rows, sign)
            grad = torch.from_numpy(ctx.order.back(rows, tuple(grad.shape)))
        return grad, None, None, None, None, None


def _held_back(rows: np.ndarray, most: np.ndarray, together: bool) -> list[np.ndarray]:
    """The signs of weights that a limit holds back, 0 elsewhere: of both signs at once, or of one after the other."""
    signs = np.sign(np.rint(rows)).astype(np.int8)
    sizes = np.abs(np.rint(rows))
    held = []
    for part in [signs] if together else [np.maximum(signs, 0), np.minimum(signs, 0)]:
        over = (sizes * (part != 0)).sum(axis=1) > most
        held.append(part * over[:, None])
    return held


def _without_outward(grad: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """The gradient whose descent makes no group of weights larger together.

    sign  of the weights of each group, 0 of all others

    >>> _without_outward(np.float32([[-3, -1, 5]]), np.int8([[1, 1, 0]])).tolist()
    [[-1.0, 1.0, 5.0]]
    """
    count = np.maximum(np.abs(sign).sum(axis=1, keepdims=True), 1)
    outward = np.minimum((grad * sign).sum(axis=1, keepdims=True) / count, 0)
    result: np.ndarray = (grad - outward * sign).astype(grad.dtype)
    return result


@dataclass(eq=False)
class WeightLimit:
    """The limit of one layer.

    name          of the layer, for messages
    accumulators  how its sums are made
    order         which weights meet
    x             scale and codes of what it reads
    is_centred    its codes lose their zero point before they are multiplied
    constant      -zero_point * sum(w) is part of what is added
    """

    name: str
    accumulators: Accumulators
    order: Order
    x: LearnedScale
    is_centred: bool
    constant: bool

    def most(self, layer: WeightedLayer, factor: Any = 1.0) -> tuple[np.ndarray, bool]:
        """Limit of each accumulator, for the scales of the moment times a factor; see numerics.most_of_weights."""
        zero, bits = self.x.zero_point, self.accumulators.bits
        low, high = (end - zero if self.is_centred else end for end in self.accumulators.factors(self.x.spec))
        if self.accumulators.products is not None:  # what is added to widened sums has more bits
            most, together = numerics.most_of_weights(bits, low, high)
            return np.broadcast_to(most, self.order.filter.shape), together
        bias = _bias_steps(layer, self.x, factor)
        most, together = numerics.most_of_weights(bits, low, high, zero_point=zero if self.constant else 0, bias=bias)
        return np.broadcast_to(most, (self.order.filter.max() + 1,))[self.order.filter], together

    def codes(self, layer: WeightedLayer, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """The codes within the limit, as float32, shape of the weight.

        scale  shaped to broadcast against the weight
        """
        most, together = self.most(layer)
        spec = layer.scale.spec
        codes: torch.Tensor = _LimitedRounding.apply(weight / scale, self.order, most, together, spec.qmin, spec.qmax)
        return codes

    @torch.no_grad()
    def begin(self, layer: WeightedLayer, factors: np.ndarray) -> None:
        """Choose the start scales.

        raises  AccumulatorError where a bias alone leaves the accumulators by every scale
        """
        start, spec = layer.scale.start, layer.scale.spec
        weight = layer.weight.detach().numpy().astype(np.float64)
        least, best, worse = np.full(start.shape, np.inf), np.ones(start.shape), 0
        for factor in factors:
            if worse >= ENOUGH and np.isfinite(least).all():
                break
            scale = layer.along(layer.scale()).double().numpy() * factor
            most, together = self.most(layer, factor)
            rows = self.order.rows(np.clip(weight / scale, spec.qmin, spec.qmax))
            codes = self.order.back(numerics.nearest_weights(rows, most, together=together), weight.shape)
            error = _by_scale(layer, np.square(codes * scale - weight))
            too_much = np.zeros(int(self.order.filter.max()) + 1, bool)
            too_much[self.order.filter[most < 0]] = True
            error = np.where(_by_scale_of_filters(layer, too_much), np.inf, error)
            better = error < least * 0.98  # of equal ones the finest
            least, best = np.where(better, error, least), np.where(better, factor, best)
            worse = 0 if better.any() else worse + 1
        if np.isinf(least).any():
            raise AccumulatorError.of_layer(
                "training", self.name, f"its bias alone leaves {self.accumulators.bits} bits",
                "give accumulators= more bits, or keep it in float with a Rule",
            )  # fmt: skip
        start.mul_(torch.from_numpy(best.astype(np.float32)))


def _bias_steps(layer: WeightedLayer, x: LearnedScale, factor: Any) -> np.ndarray:
    """The integer bias of each filter without its part of zero points."""
    if layer.bias is None:
        return np.zeros((), np.int64)
    with torch.no_grad():
        step = x().double() * layer.channel_scale().double() * factor
        return torch.round(layer.bias.reshape(-1).double() / step).numpy().astype(np.int64)


def _by_scale(layer: WeightedLayer, values: np.ndarray) -> np.ndarray:
    """Sums of values in the shape of the weight, in the shape of its scales."""
    axis = layer.scale_axis
    others = tuple(a for a in range(values.ndim) if a != axis)
    total = values.sum(axis=others if axis is not None else None)
    return np.asarray(total).reshape(layer.scale.start.shape)


def _by_scale_of_filters(layer: WeightedLayer, flags: np.ndarray) -> np.ndarray:
    """Whether any filter of a scale has a flag."""
    shape = layer.scale.start.shape
    count = max(int(np.prod(shape)), 1)
    if flags.size % count:
        return np.full(shape, flags.any())
    return flags.reshape(-1, count).any(axis=0).reshape(shape)


def limit_weights(net: IntegerNetwork, accumulators: Accumulators) -> None:
    """Give every layer whose products meet in such accumulators its limit, and scales to begin with.

    raises  AccumulatorError for a layer that cannot be brought within, ConfigError for one with a quantizer of its own
    """
    view = View(net.integers)
    factors = POWERS if net.choices.config.requantize == "power_of_two" else FACTORS
    for root, layer in net.weighted_layers():
        weighted = net.source.calibrated_layers[root]
        x = _input_of(net, view, weighted, root)
        if _meets(weighted, layer, x, accumulators):
            if layer.quantizer is not None:
                raise ConfigError(
                    f"training, layer '{weighted.layer}': accumulators= and quantizers= both make the codes of its "
                    "weight; leave it out of quantizers"
                )
            layer.limit = _limit(view, weighted, layer, x, accumulators)
            layer.limit.begin(layer, factors)
    net.accumulators = accumulators


def _meets(weighted: CalibratedLayer, layer: WeightedLayer, x: LearnedScale, accumulators: Accumulators) -> bool:
    """True if a layer's sums are made so: in lanes those of bytes, depthwise convolutions excepted."""
    if accumulators.products is None:
        return True
    return weighted.group.strategy.sums_in_lanes(tuple(layer.weight.shape)) and x.spec.dtype != "int16"


def _limit(
    view: View, weighted: CalibratedLayer, layer: WeightedLayer, x: LearnedScale, accumulators: Accumulators
) -> WeightLimit:
    call = view.value[_product_of(view, weighted.group.root)]
    attrs, name = call.attrs, op_name(call)
    transposed = OPERATORS[name].kind == TRANSPOSED
    order = order_of(
        tuple(layer.weight.shape), layer.axis, accumulators, groups=int(getattr(attrs, "groups", 1)),
        transposed=transposed, dilated=int(list(getattr(attrs, "dilation", [1]))[-1]) > 1,
    )  # fmt: skip
    centres = accumulators.products is None and (transposed or name == "tvmq.matmul")
    return WeightLimit(weighted.layer, accumulators, order, x, is_centred=centres, constant=name != "tvmq.matmul")


def _product_of(view: View, root: str) -> str:
    """The variable of the integer module that holds the products of a layer."""
    product = f"{root}{PRODUCT_SUFFIX}"
    return product if product in view.value else root


def _input_of(net: IntegerNetwork, view: View, weighted: CalibratedLayer, root: str) -> LearnedScale:
    """The scale of the codes that a layer reads: those of a padding around them are theirs."""
    name = view.value[_product_of(view, root)].args[0].name
    while name not in net.tensor_of:
        args = getattr(view.value.get(name), "args", ())
        if not args or not hasattr(args[0], "name"):
            raise UnsupportedOpError(f"training, layer '{weighted.layer}': accumulators= needs the scale of its input")
        name = args[0].name
    return net.scale_of(name)
