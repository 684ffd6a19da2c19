"""The parameters of a calibrated module: those of its source where they are known, by their names there.

Tests: tests/training/test_batch_norm.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tvm import relax

from tvmq.errors import ConfigError
from tvmq.passes.families.base import RESCALED_SUFFIX
from tvmq.training.batch_norm import BatchNormTensors, LiveFolding
from tvmq.training.folded_weights import Folding
from tvmq.training.module_tree import Handle, add_buffer, add_module, add_parameter
from tvmq.training.origins import Origin, folded_bias
from tvmq.training.parameters import LearnedScale, WeightedLayer
from tvmq.training.quantizers import Quantizers
from tvmq.training.trainable_parts import CalibratedLayer, CalibratedModule
from tvmq.training.zero_points import tensors_with_zero_points

if TYPE_CHECKING:
    from tvmq.training.network import IntegerNetwork

LIVE, FROZEN = "live", "frozen"


@dataclass(frozen=True, eq=False)
class Learning:
    """Parameters that a network learns, and the source it goes back to.

    scales      of weights and tensors, and zero points
    batch_norm  "frozen" or "live", see batch_norm.py
    quantizers  modules of the user's own that make codes of weights
    origins     {variable of a weight: how it follows from the source's}; those without one are parameters of their own
    weights     {name in the source: array} of all weights there
    """

    scales: bool = True
    batch_norm: str = FROZEN
    quantizers: Quantizers = field(default_factory=lambda: Quantizers({}))
    origins: Mapping[str, Origin] = field(default_factory=dict)
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)


class ParameterBuilder:
    """Registers parameters in a network.

    handles  {name in the source: its parameter or buffer}, of what training changes
    own      names of layers whose parameters the source does not have
    """

    def __init__(self, net: IntegerNetwork, source: CalibratedModule, learning: Learning) -> None:
        self.net, self.source, self.learning = net, source, learning
        self.handles: dict[str, Handle] = {}
        self.own: list[str] = []

    def layers(self) -> dict[str, WeightedLayer]:
        """{root: layer} of all layers with a weight."""
        built = {root: self._layer(weighted) for root, weighted in self.source.calibrated_layers.items()}
        self.learning.quantizers.check_all_used([weighted.layer for weighted in self.source.calibrated_layers.values()])
        return built

    def scales(self, integers: Any) -> dict[str, LearnedScale]:
        """{tensor: scale}; tensors of one scale share it.

        integers  view of the integer module
        """
        source, built = self.source, dict[str, LearnedScale]()
        moving = tensors_with_zero_points(source, integers) if self.learning.scales else set()
        used = {source.first_of_equals.get(tensor) for tensor in source.tensor_of.values()}
        for tensor, first in source.first_of_equals.items():
            if tensor == first:
                scale = LearnedScale(
                    source.scales[tensor], self._values(tensor), learns_zero=tensor in moving, is_power=self._is_shifted
                )
                scale.requires_grad_(self.learning.scales and tensor in used)
                add_module(self.net, f"quantizers.activations.{tensor}", scale)
                built[tensor] = scale
        built |= {tensor: built[first] for tensor, first in source.first_of_equals.items()}
        self._keep_order(built, integers)
        return built

    @property
    def _is_shifted(self) -> bool:
        """True if all scales are powers of two."""
        return self.net.choices.config.requantize == "power_of_two"

    @property
    def _has_powers(self) -> bool:
        """True if scales of weights are powers of two."""
        config = self.net.choices.config
        return self._is_shifted or "power2" in {config.weight_scale, *(rule.weight_observer for rule in config.rules)}

    def _keep_order(self, built: Mapping[str, LearnedScale], integers: Any) -> None:
        """Where tensors of different scales are joined, `realize` takes the largest: that one stays the largest."""
        tensor_of = self.source.tensor_of
        for name, group in self.source.groups.items():
            call = integers.value.get(name)
            if not group.joins or not isinstance(call, relax.Call) or name not in tensor_of:
                continue
            parts = [arg for operand in call.args for arg in (getattr(operand, "fields", None) or [operand])]
            common, is_behind = built[tensor_of[name]], False
            for part in (part.name for part in parts if isinstance(part, relax.Var)):
                if part.startswith(f"{name}{RESCALED_SUFFIX}"):
                    rescaled = integers.value[part].args[0].name
                    built[tensor_of[rescaled]].keep_below(common, strictly=not is_behind)
                elif part in tensor_of:
                    is_behind = is_behind or built[tensor_of[part]] is common

    def _values(self, tensor: str) -> int:
        """How many values of a tensor one sample has, as far as its sizes are fixed."""
        value = self.source.view.value.get(tensor, self.source.view.params.get(tensor))
        dims = list(value.ty.shape)[1:] if value is not None and getattr(value.ty, "shape", None) is not None else []
        return math.prod(size for size in (getattr(d, "value", 1) for d in dims))

    def _layer(self, weighted: CalibratedLayer) -> WeightedLayer:
        weight, qparams = self.source.weight(weighted)
        bias = self.source.bias(weighted)
        origin = self.learning.origins.get(weighted.weight)
        if origin is None:
            folding = self._own_folding(weighted.layer, weight, bias)
        elif self.learning.batch_norm == LIVE and origin.layer.norm is not None:
            folding = self._live_folding(weighted, origin, weight, bias)
        else:
            folding = self._frozen_folding(origin, weight, bias)
        quantizer = self.learning.quantizers.module_for(weighted.layer, torch.from_numpy(np.array(weight)))
        channels = self.source.channels(weighted)
        layer = WeightedLayer(weighted.layer, folding, qparams, *channels, quantizer, is_power=self._has_powers)
        layer.scale.requires_grad_(self.learning.scales)
        add_module(self.net, f"quantizers.weights.{weighted.layer.strip('/').replace('/', '.')}", layer)
        return layer

    def _own_folding(self, name: str, weight: np.ndarray, bias: np.ndarray | None) -> Folding:
        """Parameters by the layer's name, as the calibrated module has them."""
        self.own.append(name)
        name = name.strip("/").replace("/", ".")
        count = 0
        free = name
        while any(known == f"{free}.weight" for known, _ in self.net.named_parameters()):
            count += 1
            free = f"{name}_{count}"
        handle = add_parameter(self.net, f"{free}.weight", torch.tensor(np.array(weight)))
        if bias is None:
            return Folding(handle, None, weight.shape)
        return Folding(handle, add_parameter(self.net, f"{free}.bias", torch.tensor(np.array(bias))), weight.shape)

    def _frozen_folding(self, origin: Origin, weight: np.ndarray, bias: np.ndarray | None) -> Folding:
        """The source's weight, and its bias or what its batch norm adds, with all factors as they are."""
        layer, weights = origin.layer, self.learning.weights
        factor = origin.factor if origin.inner is None else origin.factor * origin.inner
        handle, is_new = self._parameter(layer.weight)
        name = layer.bias if layer.bias is not None else layer.norm.beta if layer.norm is not None else None
        share = summand = other = correction = None
        if bias is not None:
            summand = bias.reshape(-1).astype(np.float64)
            if name is not None and summand.size == origin.factor.size:
                other = self._parameter(name)[0]
                share = origin.factor.reshape(-1) if layer.bias is not None else _beyond_norm(origin, weights)
                summand = summand - weights[name].reshape(-1).astype(np.float64) * share
                if origin.rest is not None:
                    correction = bias.reshape(-1) - folded_bias(origin, weights) - origin.rest
                if np.all(share == 1) and not np.any(summand):
                    share = summand = None
        folding = Folding(
            handle, other, weight.shape, axes=origin.axes, share=share, summand=summand,
            correction=correction, factor=None if np.all(factor == 1) else factor,
        )  # fmt: skip
        if is_new:
            folding.begin_at(weight)
        return folding

    def _live_folding(
        self, weighted: CalibratedLayer, origin: Origin, weight: np.ndarray, bias: np.ndarray | None
    ) -> Folding:
        """The source's weight and batch norm, whose statistics move."""
        layer, weights = origin.layer, self.learning.weights
        norm = layer.norm
        assert norm is not None
        if bias is None:
            raise ConfigError(
                f"training, layer '{weighted.layer}': the batch norm behind it adds nothing yet (mean and bias are 0), "
                "so it is untrained; run the float model on some batches in train() first, or use batch_norm='frozen'"
            )
        axis, qparams = int(np.argmax(origin.factor.shape)), self.source.weight(weighted)[1]
        if qparams.axis != axis or qparams.scale.size != origin.factor.size:
            raise ConfigError(
                f"training, layer '{weighted.layer}': batch_norm='live' needs a scale for each output channel of its "
                f"weight ({origin.factor.size}), it has {qparams.scale.size}; use per_channel=True, or "
                "batch_norm='frozen'"
            )
        if self._has_powers:
            raise ConfigError(
                f"training, layer '{weighted.layer}': batch_norm='live' scales each channel anew, and its scales are "
                "to be powers of two; use batch_norm='frozen'"
            )
        handle, is_new = self._parameter(layer.weight)
        gamma, beta, mean = self._parameter(norm.gamma)[0], self._parameter(norm.beta)[0], self._buffer(norm.mean)
        outer, share = _beyond_norm(origin, weights), origin.factor.reshape(-1)
        rest = outer.reshape(origin.factor.shape) * (1.0 if origin.inner is None else origin.inner)
        before = 0.0 if layer.bias is None else weights[layer.bias].reshape(-1).astype(np.float64)
        added = np.zeros(share.size) if origin.rest is None else origin.rest
        fixed = before + np.divide(added, share, out=np.zeros_like(share), where=share != 0)
        folding = LiveFolding(
            handle, BatchNormTensors(gamma, beta, mean, self._buffer(norm.variance), norm.epsilon, norm.momentum),
            weight.shape, axis=axis, axes=origin.axes, rest=rest, outer=outer, fixed=fixed,
        )  # fmt: skip
        if is_new:
            folding.begin_at(weight)
            # what corrects the mean error of rounded weights is for the running mean to follow
            moved = folded_bias(origin, weights) + added - bias.reshape(-1)
            mean().add_(torch.from_numpy(np.divide(moved, share, out=np.zeros_like(share), where=share != 0)).float())
        return folding

    def _parameter(self, name: str) -> tuple[Handle, bool]:
        is_new = name not in self.handles
        if is_new:
            self.handles[name] = add_parameter(self.net, name, torch.tensor(self.learning.weights[name]))
        return self.handles[name], is_new

    def _buffer(self, name: str) -> Handle:
        if name not in self.handles:
            self.handles[name] = add_buffer(self.net, name, torch.tensor(self.learning.weights[name]))
        return self.handles[name]


def _beyond_norm(origin: Origin, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """The factor of each channel beside that of its batch norm."""
    norm, factor = origin.layer.norm, origin.factor.reshape(-1)
    if norm is None:
        return factor
    gamma, variance = (weights[name].astype(np.float64) for name in (norm.gamma, norm.variance))
    own = gamma / np.sqrt(variance + norm.epsilon)
    return np.divide(factor, own, out=np.ones_like(own), where=own != 0)
