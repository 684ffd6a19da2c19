"""Codes of weights without calibrated scales: to the nearest code, or rounded by what their layers read.

Before                                            After
    w                                                 int8 w and s_w, along an axis or in groups along it; groups
                                                      that are on a grid (weight_grids.py) have an offset as well

A weight that several layers share is rounded once and stays one constant.

Tests: tests/passes/test_quantize_dynamic.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from tvm import relax

from tvmq.calibration.observers.signed_steps import signed_steps
from tvmq.calibration.observers.weight_grids import find_grid
from tvmq.errors import ConfigError
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics.codes import PACKED_BITS
from tvmq.numerics.moments import Moments
from tvmq.numerics.rounding import nearest_codes
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig
from tvmq.passes.families.base import encode_constant
from tvmq.passes.families.weight_scales import constant_qparams
from tvmq.passes.round_weights import round_groups, round_shared

DEFAULT_SCALE = "lanes"  # the option weight_scale where nobody asks for another one


@dataclass(frozen=True, eq=False)
class RoundingByData:
    """Weights rounded by what their layers read.

    moments  {variable of a convolution or product: its moments}
    rounded  numerics.rounding.round_weights, or compiled code of equal bits
    """

    moments: Mapping[str, Moments]
    rounded: Callable[..., np.ndarray]


@dataclass(frozen=True)
class WeightOptions:
    """Codes of a layer's weight; observer: that of a rule, which chooses its scale."""

    spec: QuantSpec
    observer: str | None = None


class WeightEncoder:
    """Encodes the weights of a module.

    by_data  layers whose weights the data rounded
    on_grid  layers whose weights were on a grid, which they keep
    """

    def __init__(self, view: View, config: QConfig, rounding: RoundingByData | None) -> None:
        self._view, self._config, self._rounding = view, config, rounding
        self.by_data: set[str] = set()
        self.on_grid: set[str] = set()
        self._grids: dict[Any, tuple[relax.Expr, ...] | None] = {}
        self._known: dict[Any, tuple[relax.Expr, relax.Expr]] = {}
        self._rounded: set[relax.Expr] = set()  # codes that data rounded

    def encode(
        self, layer: str, weight: relax.Expr, options: WeightOptions, axis: int, group_size: int | None = None
    ) -> tuple[relax.Expr, relax.Expr]:
        """Codes and scales of a layer's weight, as constants.

        axis        that has a scale for each index, -1: one for all; of groups that which they lie along
        group_size  neighbours along the axis that share a scale
        """
        key = weight, options, axis, group_size
        if key not in self._known:
            make = self._encode_whole if group_size is None else self._encode_groups
            codes, scale = make(layer, const_value(weight), options, axis, group_size or 0)
            self._known[key] = relax.const(codes), relax.const(scale)
        codes = self._known[key][0]
        if layer in self.by_data:
            self._rounded.add(codes)
        elif codes in self._rounded:  # another layer got them
            self.by_data.add(layer)
        return self._known[key]

    def encode_groups(
        self, layer: str, weight: relax.Expr, options: WeightOptions, axis: int, size: int
    ) -> tuple[relax.Expr, ...]:
        """Codes and scales of a weight in groups of at most 4 bits; and offsets where it is on a grid that needs them.

        axis  they lie along
        """
        key = weight, "grid", options.spec.bits, axis, size
        if key not in self._grids:
            self._grids[key] = self._find_grid(const_value(weight), options, axis, size)
        grid = self._grids[key]
        if grid is None:
            return self.encode(layer, weight, options, axis, size)
        self.on_grid.add(layer)
        return grid

    def _find_grid(
        self, weight: np.ndarray, options: WeightOptions, axis: int, size: int
    ) -> tuple[relax.Expr, ...] | None:
        if weight.shape[axis] % size or not self._is_free(options):
            return None
        last = np.moveaxis(weight, axis, -1)
        grid = find_grid(last.reshape(-1, size), options.spec.bits)
        if grid is None:
            return None
        of_groups = (array.reshape(*last.shape[:-1], -1) for array in (grid.steps, grid.offsets) if array is not None)
        arrays = (grid.codes.reshape(last.shape), *of_groups)
        return tuple(relax.const(np.ascontiguousarray(np.moveaxis(array, -1, axis))) for array in arrays)

    def _is_free(self, options: WeightOptions) -> bool:
        """True where steps of small groups may have a sign: no observer was asked for."""
        return (options.observer or self._config.weight_scale) == DEFAULT_SCALE and options.spec.bits <= PACKED_BITS

    def _encode_whole(
        self, layer: str, weight: np.ndarray, options: WeightOptions, axis: int, _group_size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        channel, names = axis if axis >= 0 else None, ", ".join(self._view.sources(layer))
        known = constant_qparams(weight, options.spec, channel, self._config, names, options.observer)
        codes = self._round_by_moments(layer, weight, known.scale, options.spec)
        return encode_constant(weight, known) if codes is None else codes, np.asarray(known.scale)

    def _encode_groups(
        self, layer: str, weight: np.ndarray, options: WeightOptions, axis: int, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        shape, names = list(weight.shape), ", ".join(self._view.sources(layer))
        if shape[axis] % size:
            raise ConfigError(
                f"quantize_dynamic, layer '{names}': axis {axis} of its weight {shape} has {shape[axis]} entries, "
                f"which group_size={size} does not divide; use a divisor, or Rule(..., None) to keep the layer in float"
            )
        last = np.moveaxis(weight, axis, -1)
        rows, limits = last.reshape(-1, size), (options.spec.qmin, options.spec.qmax)
        if self._is_free(options):
            steps, limits = signed_steps(rows, options.spec.bits, names), (-limits[1] - 1, limits[1])
        else:
            steps = constant_qparams(rows, options.spec, 0, self._config, names, options.observer).scale
        scale = np.ascontiguousarray(np.moveaxis(steps.reshape(*last.shape[:-1], -1), -1, axis))
        codes = self._round_by_moments(layer, weight, scale, options.spec, limits)
        if codes is None:
            nearest: np.ndarray = nearest_codes(rows / steps.reshape(-1, 1), *limits).astype(np.int8)
            codes = np.moveaxis(nearest.reshape(last.shape), -1, axis)
        return np.ascontiguousarray(codes), scale

    def _round_by_moments(
        self,
        layer: str,
        weight: np.ndarray,
        scale: np.ndarray,
        spec: QuantSpec,
        limits: tuple[int, int] | None = None,
    ) -> np.ndarray | None:
        """Codes of a weight as the data of its layers ask for them; None where nothing is known of them.

        limits  lowest and highest code of a weight in groups; None: it is in none
        """
        if self._rounding is None or layer not in self._rounding.moments or spec.dtype != "int8":
            return None
        call, rounded = self._view.value[layer], self._rounding.rounded
        uses, steps = self._moments_by_weight[_weight_use(call)], np.asarray(scale, np.float64)
        if limits is not None:
            codes = round_groups(weight, steps, limits, uses, rounded=rounded)
        else:
            codes = round_shared(call, weight, steps, spec, uses, bias=False, rounded=rounded)[0].codes
        self.by_data |= set() if codes is None else {layer}
        return codes

    @cached_property
    def _moments_by_weight(self) -> dict[Any, list[Moments]]:
        """Moments of the layers that use the same weight."""
        by_weight: dict[Any, list[Moments]] = {}
        for name, moments in self._rounding.moments.items() if self._rounding is not None else ():
            by_weight.setdefault(_weight_use(self._view.value[name]), []).append(moments)
        return by_weight


def _weight_use(call: relax.Call) -> tuple[Any, ...]:
    """Key of the layers whose weights are rounded together."""
    return op_name(call), int(getattr(call.attrs, "groups", 1)), call.args[1]
