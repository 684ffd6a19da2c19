"""Stages of static quantization as data: which pass follows which, and its arguments.

    PREPARATION  prepare, fold_constants, passes of the user                     float, without a decision
    SCALING      equalize                                                        the same floats, other weights
    DECISIONS    scale_outliers, partition, annotate, unify_scales               which layers, in which codes
                 here data choose thresholds and roundings: `run_calibration`
    ROUNDING     round_biases, calibrate, round_weights, correct_bias            float, rounded as the integers will be
    INTEGERS     realize, quantize_dynamic_layers, fold_constants, pack_weights  codes

`quantize`, `run_calibration` and what the guard tries walk these lists. Called by hand, one after the other, the passes
give the same module (docs/by-hand.md): whoever wants to can stop behind any of them, look, change something, go on.

Tests: tests/quantization/search/test_workers.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.options.config import QConfig
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.correct_bias import correct_bias
from tvmq.passes.equalize import equalize
from tvmq.passes.extensions import run_passes
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare
from tvmq.passes.quantize_dynamic_layers import quantize_dynamic_layers
from tvmq.passes.realize import realize
from tvmq.passes.round_biases import round_biases
from tvmq.passes.round_weights import round_weights
from tvmq.passes.scale_outliers import scale_outliers
from tvmq.passes.unify_scales import unify_scales


@dataclass(frozen=True)
class StageContext:
    """Arguments of the stages other than the module.

    config       options
    backend      target
    params       {name: weight} of a module that has its weights as parameters
    outliers     channels that stand out in the data, as `find_outliers` gives them
    calibration  thresholds and roundings, which ROUNDING needs
    """

    config: QConfig
    backend: Backend = field(default_factory=lambda: backend_named(None))
    params: Mapping[str, np.ndarray] | None = None
    outliers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calibration: CalibrationResult = field(default_factory=lambda: CalibrationResult({}))


Stage = Callable[[tvm.IRModule, StageContext], tvm.IRModule]
Stages = tuple[tuple[str, Stage], ...]

PREPARATION: Stages = (
    ("prepare", lambda mod, context: prepare(mod, context.params)),
    ("fold_constants", lambda mod, _: fold_constants(mod)),
    ("passes", lambda mod, context: run_passes(mod, context.config.passes)),
)
SCALING: Stages = (("equalize", lambda mod, context: equalize(mod) if context.config.equalization else mod),)
DECISIONS: Stages = (
    ("scale_outliers", lambda mod, context: scale_outliers(mod, context.outliers)),
    ("partition", lambda mod, context: partition(mod, context.config, context.backend)),
    ("annotate", lambda mod, _: annotate(mod)),
    ("unify_scales", lambda mod, _: unify_scales(mod)),
)
ROUNDING: Stages = (
    ("round_biases", lambda mod, _: round_biases(mod)),
    ("calibrate", lambda mod, context: calibrate(mod, context.calibration.ranges())),
    ("round_weights", lambda mod, context: round_weights(mod, context.calibration.roundings)),
    ("correct_bias", lambda mod, context: _correct_bias(mod, context)),
)
INTEGERS: Stages = (
    ("realize", lambda mod, _: realize(mod)),
    ("quantize_dynamic_layers", lambda mod, _: quantize_dynamic_layers(mod)),
    ("fold_constants", lambda mod, _: fold_constants(mod)),
    ("pack_weights", lambda mod, _: pack_weights(mod)),
)


def _correct_bias(mod: tvm.IRModule, context: StageContext) -> tvm.IRModule:
    return correct_bias(mod, context.calibration.means()) if context.config.bias_correction else mod


def run_stages(mod: tvm.IRModule, stages: Stages, context: StageContext) -> tvm.IRModule:
    """The module behind these stages."""
    for _, stage in stages:
        mod = stage(mod, context)
    return mod
