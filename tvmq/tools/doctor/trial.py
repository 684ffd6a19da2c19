"""Trials of quantization, each compared with float on samples that were not used for calibration.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.compile.build import build
from tvmq.errors import AccuracyWarning
from tvmq.graph.analysis.class_scores import class_outputs
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import op_name
from tvmq.options.config import QConfig
from tvmq.quantization.guard.bound import Guard
from tvmq.quantization.meaning.agreement import bound_readings, worst_decibels
from tvmq.quantization.pipeline import quantize, static_quantization
from tvmq.quantization.static_quantization import StaticQuantization
from tvmq.tools.analysis.explanation import explain
from tvmq.tools.doctor.check_context import CheckContext, accuracy, class_scores

# Noise of a tenth of the signal's amplitude; all trained networks in the benchmarks stay above
PASS_DB, FAIL_DB = 20.0, 10.0  # dB
SCORE_DROP, ERRORS = 0.01, 2.0  # of labels met; standard errors of the paired difference
SAME_CLASS = 0.95


@dataclass(frozen=True)
class Outcome:
    """Comparison of a model with float on the judging samples.

    sqnr       of the worst output, as it is read (quantization/meaning/), dB
    same_class share of samples with the same class in both; None if the model is not a classifier
    score      accuracy; None without labels
    drop       (float's accuracy minus this one, standard error of the difference)
    int8       share of multiply-accumulates in int8; 1 for simulations
    """

    sqnr: float
    same_class: float | None = None
    score: float | None = None
    drop: tuple[float, float] | None = None
    int8: float = 1.0

    @property
    def is_acceptable(self) -> bool:
        """True if the loss is acceptable: of accuracy if there are labels, else by the SQNR of the outputs."""
        if self.drop is not None:
            return self.drop[0] <= max(SCORE_DROP, ERRORS * self.drop[1]) and self.sqnr >= FAIL_DB
        return self.sqnr >= PASS_DB

    @property
    def is_unusable(self) -> bool:
        """True if the loss makes the model useless."""
        lost = self.drop is not None and self.drop[0] > max(5 * SCORE_DROP, 3 * self.drop[1])
        return lost or self.sqnr < FAIL_DB or (self.same_class is not None and self.same_class < SAME_CLASS - 0.15)

    def __str__(self) -> str:
        parts = [f"{self.sqnr:.1f} dB"]
        if self.score is not None:
            parts.append(f"{self.score:.1%} of labels")
        if self.same_class is not None:
            parts.append(f"same class on {self.same_class:.1%}")
        return ", ".join(parts)

    def figures(self) -> dict[str, Any]:
        """Figures by name, for JSON."""
        return {"sqnr": self.sqnr, "same_class": self.same_class, "score": self.score, "int8_share": self.int8}


class ModelTrials:
    """Trials on one model: samples are read once, and float outputs are computed once."""

    def __init__(self, context: CheckContext) -> None:
        self.context = context
        self.judged_samples = context.half(1)
        self.labels = context.labels_of_half(1)
        self.float_outputs = context.outputs(context.float_run, self.judged_samples)
        self.readings = bound_readings(context.mod)

    @cached_property
    def quantization(self) -> StaticQuantization:
        """Static quantization of the model, calibrated on the other half of the samples."""
        return static_quantization(
            self.context.mod, self.context.params, self.context.half(0), config=self.context.config
        )

    def simulated_module(self, **options: Any) -> tvm.IRModule:
        """Module that simulates the quantized model in float, with equal rounding."""
        config = replace(self.quantization.config, do_simulation=True, **options)
        return self.quantization.module(config=config)

    def judge(self, run: Callable[[Mapping[str, Any]], Sequence[np.ndarray]], int8: float = 1.0) -> Outcome:
        """Judge a compiled model on the judging samples."""
        got = self.context.outputs(run, self.judged_samples)
        says_class = self.labels is not None or class_outputs(self.context.mod).get(0) == "scores"
        wanted, scores = (class_scores(one) if says_class else None for one in (self.float_outputs, got))
        same = None
        if wanted is not None and scores is not None and wanted.shape[1] > 1:
            same = float((wanted.argmax(axis=1) == scores.argmax(axis=1)).mean())
        score, drop = self._compare_accuracy(got)
        return Outcome(worst_decibels(self.readings, self.float_outputs, got), same, score, drop, int8)

    def _compare_accuracy(self, got: Sequence[np.ndarray]) -> tuple[float | None, tuple[float, float] | None]:
        if self.labels is None:
            return None, None
        before, after = accuracy(self.float_outputs, self.labels), accuracy(got, self.labels)
        if before is None or after is None:
            return None, None
        lost = before - after
        error = float(lost.std(ddof=1) / np.sqrt(len(lost))) if len(lost) > 1 else 0.0
        return float(after.mean()), (float(lost.mean()), error)

    def quantize_and_judge(self, config: QConfig) -> Outcome:
        """Quantize the model with other options and judge it."""
        return self.judge_integer(
            quantize(self.context.mod, self.context.params, self.context.half(0), config=config, guard=None)
        )

    def apply_guard(self, module: tvm.IRModule) -> tvm.IRModule:
        """Let the guard raise precision in the integer module until the deadline."""
        guard = Guard(PASS_DB, data=self.judged_samples, is_late=self.context.is_late)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # the findings say it
            return self.quantization.apply_guard(module, guard)

    def judge_integer(self, module: tvm.IRModule) -> Outcome:
        """Compile an integer module and judge it."""
        return self.judge(build(module).run, explain(module).int8_share())

    def judge_sides(self) -> dict[str, Outcome]:
        """Outcomes with only the weights rounded, and with only the activations."""
        # corrected biases and optimized weights compensate for rounded weights, which are float here
        plain = self.simulated_module(bias_correction=False, weight_rounding="nearest")
        return {
            "weights": self.judge(build(leave_unrounded(self.simulated_module(), "activations")).run),
            "activations": self.judge(build(leave_unrounded(plain, "weights")).run),
        }


def leave_unrounded(module: tvm.IRModule, kind: str) -> tvm.IRModule:
    """Simulated module whose "weights" or "activations" stay float."""

    def visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if op_name(value) != "tvmq.simulated_quantize":
            return None
        side = "weights" if value.attrs.kind == "weight" else "activations"
        return value.args[0] if side == kind else None

    return rewrite(module, visit)
