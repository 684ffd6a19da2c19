"""Loss of accuracy in int8: how much, by weights or activations, in which layers, and a remedy.

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tvm

from tvmq.options.rules import short_names
from tvmq.passes.import_qdq import is_prequantized
from tvmq.passes.prepare import prepare
from tvmq.tools.analysis.comparison import compare
from tvmq.tools.analysis.comparison_table import Comparison, LayerComparison
from tvmq.tools.doctor.check_context import CheckContext, first_samples
from tvmq.tools.doctor.findings import Finding, note, ok, problem
from tvmq.tools.doctor.remedies import Remedy, best_option, other_options, try_guard
from tvmq.tools.doctor.trial import ModelTrials, Outcome

SIDE = 3.0  # dB between weights and activations, from which one of them is blamed
COMPARED = 16  # samples
HALF_OF_WORK = 0.5  # of the multiply-accumulates in int8
WORST = 3


@dataclass
class Int8Result:
    """Results of the checks of this file, each of which builds on earlier ones.

    trials      trials of the model
    module      the integer module for the given options
    outcome     its comparison with float
    guard_outcome  comparison of the guard's module; None if it raised no layer
    sides       comparison with only weights quantized, and with only activations
    comparison  with float, layer by layer
    """

    trials: ModelTrials
    module: tvm.IRModule
    outcome: Outcome
    guard_outcome: Outcome | None = None
    sides: dict[str, Outcome] = field(default_factory=dict)
    comparison: Comparison | None = None

    @property
    def is_solved(self) -> bool:
        """True if no other option needs to be tried."""
        return self.outcome.is_acceptable or (self.guard_outcome is not None and self.guard_outcome.is_acceptable)


def check_int8(context: CheckContext) -> Iterator[Finding]:
    """Quantize with the given options, and compare with float."""
    if is_prequantized(prepare(context.mod, context.params)):
        yield note(
            "int8", "the model is quantized already; its own scales are taken", "give the float model it came from"
        )
        return
    trials = ModelTrials(context)
    module = trials.quantization.module()
    context.int8_result = Int8Result(trials, module, trials.judge_integer(module))
    yield _report_int8(context.int8_result.outcome)


def needs_guard(context: CheckContext) -> bool:
    """True where int8 alone loses too much."""
    return context.int8_result is not None and not context.int8_result.outcome.is_acceptable


def has_little_int8(context: CheckContext) -> bool:
    """True where accuracy is kept with less than half of the work in int8."""
    result = context.int8_result
    outcome = result and (result.guard_outcome or result.outcome)
    return outcome is not None and outcome.is_acceptable and outcome.int8 < HALF_OF_WORK


def needs_options(context: CheckContext) -> bool:
    """True where neither int8 nor the guard keeps enough."""
    return context.int8_result is not None and not context.int8_result.is_solved


def check_guard(context: CheckContext) -> Iterator[Finding]:
    """Let the guard of `quantize` raise precision where int8 loses too much."""
    result = context.int8_result
    if result is None or not needs_guard(context) or context.is_late():
        return
    remedy = try_guard(result.trials, result.module)
    if remedy is not None:
        result.guard_outcome = remedy[1]
        yield _report_remedy(*remedy, result.outcome)


def check_share(context: CheckContext) -> Iterator[Finding]:
    """Report a model that keeps its accuracy with less than half of the work in int8."""
    result = context.int8_result
    if result is None or not has_little_int8(context):
        return
    outcome = result.guard_outcome or result.outcome
    yield note(
        "little in int8",
        f"{outcome.int8:.0%} of the multiply-accumulates are in int8 at this accuracy, less than half",
        "to keep more: --calibrate-mode percentile where tensors have outliers, 16 bits for single layers (a rule), "
        "tvmq finetune, or a lower bound (--guard)",
        int8_share=outcome.int8,
    )


def check_weights_and_activations(context: CheckContext) -> Iterator[Finding]:
    """Report whether weights or activations cause the loss."""
    result = context.int8_result
    if result is not None and not context.is_late():
        result.sides = result.trials.judge_sides()
        yield _report_side_to_blame(result.sides, result.outcome)


def check_worst_layers(context: CheckContext) -> Iterator[Finding]:
    """Report the layers that lose most, on the side that causes the loss."""
    result = context.int8_result
    if result is not None and result.sides and not context.is_late():
        judged = first_samples(result.trials.judged_samples, COMPARED)
        result.comparison = compare((context.mod, context.params), result.module, judged)
        yield _report_worst_layers(result.comparison, side_to_blame(result.sides), context, result.outcome)


def check_options(context: CheckContext) -> Iterator[Finding]:
    """Try other options where the guard does not suffice."""
    result = context.int8_result
    if result is None or not needs_options(context):
        return
    before = result.guard_outcome or result.outcome
    ways = other_options(side_to_blame(result.sides) if result.sides else "both", context.config)
    best, count = best_option(result.trials, before, ways)
    yield _report_remedy(*best, result.outcome) if best is not None else _report_no_remedy(context, result, count)


def check_loss(context: CheckContext) -> Iterator[Finding]:
    """Run all checks of this file, in order."""
    checks = (check_int8, check_guard, check_share, check_weights_and_activations, check_worst_layers, check_options)
    for check in checks:
        yield from check(context)


def _report_int8(outcome: Outcome) -> Finding:
    text = f"{outcome} against float, {outcome.int8:.0%} of multiply-accumulates in int8"
    if outcome.is_acceptable:
        return ok("int8", text, **outcome.figures())
    report = problem if outcome.is_unusable else note
    return report("int8", text, "see below for the cause and for a remedy", **outcome.figures())


def side_to_blame(sides: dict[str, Outcome]) -> str:
    """ "weights", "activations" or "both"."""
    gap = sides["activations"].sqnr - sides["weights"].sqnr
    return "both" if not abs(gap) > SIDE else "weights" if gap > 0 else "activations"


def _report_side_to_blame(sides: dict[str, Outcome], outcome: Outcome) -> Finding:
    text = f"weights alone quantized: {sides['weights']}\nactivations alone: {sides['activations']}"
    figures: dict[str, Any] = {f"{kind}_sqnr": side.sqnr for kind, side in sides.items()}
    figures["culprit"] = None if outcome.is_acceptable else side_to_blame(sides)
    if outcome.is_acceptable:
        return ok("blame", text, **figures)
    side = side_to_blame(sides)
    what = "weights and activations are both to blame" if side == "both" else f"the {side} are to blame"
    return note("blame", f"{what}\n{text}", **figures)


def rank_suspects(comparison: Comparison, blamed: str) -> list[LayerComparison]:
    """Rank the layers in int8 as suspects, the worst first.

    For weights, by the loss of the layer alone. For activations alternately: the layers that lose most alone, and
    those with the largest drop of SQNR from input to output; a dominant channel hides the loss in its own layer.
    """
    layers = [layer for layer in comparison.layers if layer.precision[1] == "int8" and layer.operator != "input"]
    own = sorted(layers, key=lambda layer: layer.local.sqnr)
    if blamed == "weights":
        # not by the error of the weight itself: a few large ones hide that all others are gone
        return [layer for layer in own if layer.weight is not None]
    lost = sorted(layers, key=lambda layer: _loss_in_layer(comparison, layer))
    turns = [layer for pair in zip(lost, own, strict=True) for layer in pair]
    return list({layer.names: layer for layer in turns}.values())


def _loss_in_layer(comparison: Comparison, layer: LayerComparison) -> float:
    """Minus the decibels that are lost between the previous layer and this one."""
    index = comparison.layers.index(layer)
    before = comparison.layers[index - 1].accumulated.sqnr if index else math.inf
    return layer.accumulated.sqnr - min(before, layer.local.sqnr, 80.0)


def _report_worst_layers(comparison: Comparison, blamed: str, context: CheckContext, outcome: Outcome) -> Finding:
    worst = rank_suspects(comparison, blamed)[:WORST]
    parts = [f"'{short_names(layer.names)}' {_figures(layer)}" for layer in worst]
    names = [layer.names[0] for layer in worst]
    text = "\n".join(parts) or "none in int8"
    known = [context.outliers[name] for layer in worst for name in layer.names if name in context.outliers]
    places = [f"{place} is {ratio:.0f} times the median of its channel" for place, ratio in known]
    spiked = [f"'{c.name}' channel {c.spike()[0]}" for c in context.channels if _has_spike(c, worst)]
    why = [*places, *(f"{spike} is far larger than the others" for spike in spiked[:1])]
    text += f"\nbecause {'; '.join(why)}" if why and not outcome.is_acceptable else ""
    return ok("worst layers", text, layers=names)


def _has_spike(channels: Any, worst: list[LayerComparison]) -> bool:
    """True for a layer with a channel far beyond the others that is one of the worst."""
    from tvmq.tools.doctor.float_model import LEAST_CHANNELS, SPIKE

    names = {name for layer in worst for name in layer.names}
    return (
        channels.low.size >= LEAST_CHANNELS and channels.spike()[1] > SPIKE and bool(names & set(channels.layer.names))
    )


def _figures(layer: LayerComparison) -> str:
    weight = "" if layer.weight is None else f", weight {layer.weight.sqnr:.1f}"
    return f"{layer.local.sqnr:.1f} dB by itself, {layer.accumulated.sqnr:.1f} from the input on{weight}"


def _report_remedy(remedy: Remedy, after: Outcome, before: Outcome) -> Finding:
    """Finding for a remedy that was tried, with the figures before and after."""
    what = f"{remedy.description}, tried: {before} -> {after}; {after.int8:.0%} of multiply-accumulates stay in int8"
    what = "\n".join([what, *remedy.details])
    figures = {"option": remedy.option, "python": remedy.python, "before": before.figures(), "after": after.figures()}
    figures["rules"] = [repr(rule) for rule in remedy.rules]
    return note("mending", what, f"tvmq quantize ... {remedy.option}\nin Python: {remedy.python}", **figures)


def _report_no_remedy(context: CheckContext, result: Int8Result, count: int) -> Finding:
    """Finding that no other option helped, or that there was no time to try."""
    guard = "the guard does not bring it within the bound; " if result.guard_outcome is not None else ""
    if context.ran_out_of_time:
        what = f"{guard}the time budget ended after {count} other options, none of which gains 2 dB"
        return note("mending", what, "a larger --budget tries more; `tvmq quantize` has no time limit", tried=count)
    what = f"{guard}none of {count} other options gains 2 dB"
    return note("mending", what, "give more varied samples, or train the quantized model: tvmq finetune", tried=count)
