"""Stages of quantization as data: which pass follows which, its arguments, and the legal form of what it gives.

    PREPARATION  prepare, fold_constants, passes of the user                     float, without a decision
    SCALING      equalize                                                        the same floats, other weights
    DECISIONS    scale_outliers, partition, annotate, unify_scales               which layers, in which codes
                 here data choose thresholds and roundings: `run_calibration`
    ROUNDING     round_biases, calibrate, round_weights, correct_bias            float, rounded as the integers will be
    INTEGERS     realize, fold_constants, state_codes, pack_weights              codes

    OWN_SCALES   import_qdq, then INTEGERS                                       a model that is quantized already
    AT_RUN_TIME  group_queries, quantize_dynamic, define_floats,                 codes with scales made at run time
                 encode_state_rows, pack_weights

`quantize`, `run_calibration` and the guard run these lists. Called by hand, one after the other, the passes give the
same module (docs/by-hand.md): one can stop after any of them, look, change something, go on.

With the environment variable TVMQ_CHECK_STAGES, as in the tests, the module after each stage must have the stage's form
(tvmq/graph/legal_forms.py); the error names the pass that broke it. Without it nothing is checked: the checks take
3 to 9 percent of the CPU seconds of `quantize`, two thirds of that in TVM's well_formed (resnet8, ppocr_cls).
Passes of the user are always checked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.base.stage_progress import observed_stage
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.graph.legal_forms import (
    ANNOTATED,
    CALIBRATED,
    FLOAT,
    OWN,
    PARTITIONED,
    PREPARED,
    REALIZED,
    REALIZED_STATE,
    SIMULATED,
    LegalForm,
    check_form,
)
from tvmq.options.config import QConfig
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.correct_bias import correct_bias
from tvmq.passes.equalize import equalize
from tvmq.passes.extensions import run_passes
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.import_qdq import import_qdq
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare
from tvmq.passes.quantize_dynamic import quantize_dynamic
from tvmq.passes.realize import realize
from tvmq.passes.realize.define_floats import define_floats
from tvmq.passes.realize.group_queries import group_queries
from tvmq.passes.realize.state_rows import encode_state_rows
from tvmq.passes.realize.weight_codes import RoundingByData
from tvmq.passes.round_biases import round_biases
from tvmq.passes.round_weights import round_weights
from tvmq.passes.scale_outliers import scale_outliers
from tvmq.passes.state_codes import state_codes
from tvmq.passes.unify_scales import unify_scales


@dataclass(frozen=True)
class StageContext:
    """Arguments of the stages other than the module.

    config       options
    backend      target
    params       {name: weight} of a module that has its weights as parameters
    outliers     channels that stand out in the data, as `find_outliers` gives them
    calibration  thresholds and roundings, which ROUNDING needs
    rounding     of weights by data, where scales are made at run time
    """

    config: QConfig
    backend: Backend = field(default_factory=lambda: backend_named(None))
    params: Mapping[str, np.ndarray] | None = None
    outliers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calibration: CalibrationResult = field(default_factory=lambda: CalibrationResult({}))
    rounding: RoundingByData | None = None


@dataclass(frozen=True)
class Stage:
    """A pass in its place: the form of the module that it gives, and the operators of ours that it may add."""

    name: str
    run: Callable[[tvm.IRModule, StageContext], tvm.IRModule]
    form: LegalForm
    adds: frozenset[str] = frozenset()


Stages = tuple[Stage, ...]

PREPARATION: Stages = (
    Stage("prepare", lambda mod, context: prepare(mod, context.params), PREPARED, FLOAT),
    Stage("fold_constants", lambda mod, _: fold_constants(mod), PREPARED),
    Stage("passes", lambda mod, context: run_passes(mod, context.config.passes), PREPARED, OWN),
)
SCALING: Stages = (
    Stage("equalize", lambda mod, context: equalize(mod) if context.config.equalization else mod, PREPARED),
)
DECISIONS: Stages = (
    Stage("scale_outliers", lambda mod, context: scale_outliers(mod, context.outliers), PREPARED),
    Stage("partition", lambda mod, context: partition(mod, context.config, context.backend), PARTITIONED),
    Stage("annotate", lambda mod, _: annotate(mod), ANNOTATED, SIMULATED),
    Stage("unify_scales", lambda mod, _: unify_scales(mod), ANNOTATED),
)
ROUNDING: Stages = (
    Stage("round_biases", lambda mod, _: round_biases(mod), ANNOTATED),
    Stage("calibrate", lambda mod, context: calibrate(mod, context.calibration.ranges()), CALIBRATED),
    Stage("round_weights", lambda mod, context: round_weights(mod, context.calibration.roundings), CALIBRATED),
    Stage("correct_bias", lambda mod, context: _correct_bias(mod, context), CALIBRATED),
)
INTEGERS: Stages = (
    Stage("realize", lambda mod, _: realize(mod), REALIZED, OWN),
    Stage("fold_constants", lambda mod, _: fold_constants(mod), REALIZED),
    Stage("state_codes", lambda mod, _: state_codes(mod), REALIZED_STATE, OWN),
    Stage("pack_weights", lambda mod, _: pack_weights(mod), REALIZED, OWN),
)
OWN_SCALES: Stages = (
    Stage("import_qdq", lambda mod, context: import_qdq(mod, context.config, context.backend), CALIBRATED, SIMULATED),
)
AT_RUN_TIME: Stages = (
    Stage("group_queries", lambda mod, c: group_queries(mod) if c.config.activations == "dynamic" else mod, PREPARED),
    Stage("quantize_dynamic", lambda mod, c: quantize_dynamic(mod, c.config, c.rounding), REALIZED, OWN),
    Stage("define_floats", lambda mod, _: define_floats(mod), REALIZED, OWN),
    Stage("encode_state_rows", lambda mod, _: encode_state_rows(mod), REALIZED_STATE, OWN),
    INTEGERS[-1],
)


def _correct_bias(mod: tvm.IRModule, context: StageContext) -> tvm.IRModule:
    return correct_bias(mod, context.calibration.means()) if context.config.bias_correction else mod


def run_stages(mod: tvm.IRModule, stages: Stages, context: StageContext) -> tvm.IRModule:
    """The module after these stages.

    raises  StageError where a stage gives an illegal module, if these are checked (TVMQ_CHECK_STAGES)
    """
    is_checked = bool(os.environ.get("TVMQ_CHECK_STAGES"))
    for stage in stages:
        with observed_stage(stage.name):
            before, mod = mod, stage.run(mod, context)
        if is_checked:
            check_form(f"quantize, stage '{stage.name}'", before, mod, stage.form, stage.adds)
    return mod
