"""Check whether samples are preprocessed as in training: alternatives are tried and compared.

There are three kinds of evidence; the first available one decides:

    labels       accuracy is higher with another preprocessing
    batch norms  the first ones store mean and variance of their inputs in training
    outputs      a classifier distinguishes samples: mutual information of sample and class, H(mean p) - mean H(p);
                 samples unlike those of training get the same answer, or an uncertain one

Tests: tests/tools/doctor/test_model_checks.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tvmq.tools.doctor.batch_norms import TrainingStatistics, deviation_ratio
from tvmq.tools.doctor.check_context import CheckContext, accuracy, class_scores, first_samples
from tvmq.tools.doctor.findings import PROBLEM, Finding, note, ok, problem
from tvmq.tools.doctor.preprocessing_candidates import Preprocessing, candidate_preprocessings, is_picture

TRIED = 48  # samples
# Score: better by so much, and by so many standard errors of the paired difference
BETTER, ERRORS = 0.05, 3.0
# Batch norms: trained networks on data of their kind lie at 0.05 to 0.15, on swapped scales at 0.5 to 10
FAR, NEARER, LOST = 0.3, 0.5, 1.0
# Nats: right and wrong preparations of trained classifiers are 0.2 and more apart, harmless ones up to 0.02
TELLING, SURE = 0.1, 0.25
SAME = 0.9  # of the classes


@dataclass(frozen=True)
class Evidence:
    """Evidence for a preprocessing, by kind; None if a kind is not available.

    correct    1.0 or 0.0 for each labelled sample
    distance   at the batch norms, see `TrainingStatistics.distance`
    nats       mutual information of sample and class
    chance     accuracy of guessing
    classes    that the outputs name, of a classifier
    """

    correct: np.ndarray | None
    distance: float | None
    nats: float | None
    chance: float | None = None
    classes: np.ndarray | None = None


def check_preprocessing(context: CheckContext) -> Iterator[Finding]:
    """Yield one finding: how the samples should be changed, or that they are as the model expects."""
    name = _name_of_input(context)
    if name is None:
        return
    memory = TrainingStatistics(context)
    own = _collect_evidence(context, memory, context.arrays[name], name)
    tried = _try_candidates(context, memory, name)
    if not tried and context.ran_out_of_time:
        return
    finding = judge_by_labels(own, tried) or judge_by_batch_norms(own, tried)
    finding = finding or judge_by_outputs(context.arrays[name].shape, own, tried)
    if finding is None and own.distance is not None and own.distance > LOST:
        finding = _report_distance(context, memory, own.distance)
    figures = {"distance": own.distance, "told": own.nats, "tried": len(tried)}
    text = f"{_describe_evidence(own)}; none of {len(tried)} other preprocessings is better"
    yield finding or ok("preprocessing", text, **figures)


def compare_preprocessings(context: CheckContext) -> tuple[Finding | None, bool]:
    """The finding that another preparation is clearly better, or None; and whether labels say so, or outputs alone.

    Batch norms are not asked, whose inputs take a build of their own: for commands that do more than search for faults.
    """
    name = _name_of_input(context)
    if name is None:
        return None, False
    own, tried = _collect_evidence(context, None, context.arrays[name], name), _try_candidates(context, None, name)
    by_labels = judge_by_labels(own, tried)
    finding = by_labels or judge_by_outputs(context.arrays[name].shape, own, tried)
    return finding if finding is not None and finding.status == PROBLEM else None, by_labels is not None


def _name_of_input(context: CheckContext) -> str | None:
    """The first input that may be prepared otherwise: numbers, no indices."""
    return next((name for name, array in context.arrays.items() if array.ndim >= 2 and array.dtype.kind in "fu"), None)


def _try_candidates(
    context: CheckContext, memory: TrainingStatistics | None, name: str
) -> list[tuple[Preprocessing, Evidence]]:
    """Evidence for each candidate, as many as there is time for."""
    samples = context.arrays[name][:TRIED].astype(np.float32)
    tried: list[tuple[Preprocessing, Evidence]] = []
    for candidate in candidate_preprocessings(samples):
        if context.is_late():
            break
        values = np.ascontiguousarray(candidate.apply(samples), np.float32)
        tried.append((candidate, _collect_evidence(context, memory, values, name)))
    return tried


def _collect_evidence(
    context: CheckContext, memory: TrainingStatistics | None, values: np.ndarray, name: str
) -> Evidence:
    arrays = first_samples(context.arrays, TRIED)
    arrays[name] = values[:TRIED]
    outputs = context.outputs(context.float_run, arrays)
    labels = None if context.labels is None else context.labels[: len(arrays[name])]
    correct = None if labels is None else accuracy(outputs, labels)
    scores = class_scores(outputs)
    nats = None if scores is None else mutual_information(scores)
    chance = None if scores is None else 1 / scores.shape[1]
    distance = memory.distance(arrays) if memory is not None and memory.norms else None
    return Evidence(correct, distance, nats, chance, None if scores is None else scores.argmax(axis=1))


def mutual_information(scores: np.ndarray) -> float:
    """Mutual information of sample and class, nats: 0 if all samples get the same answer, at most log(classes).

    scores  (samples, classes): probabilities, or logits

    >>> round(mutual_information(np.eye(4)), 3), round(mutual_information(np.ones((4, 4))), 3)
    (1.386, 0.0)
    """
    p = scores.astype(np.float64)
    if not np.isfinite(p).all():
        return 0.0
    if (p < 0).any() or not np.allclose(p.sum(axis=1), 1, atol=1e-3):
        p = np.exp(p - p.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
    return max(0.0, _entropy(p.mean(axis=0)) - float(np.mean([_entropy(row) for row in p])))


def _entropy(p: np.ndarray) -> float:
    return float(-(p * np.log(np.maximum(p, 1e-300))).sum())


def judge_by_labels(own: Evidence, tried: list[tuple[Preprocessing, Evidence]]) -> Finding | None:
    """Finding from the labels; None without labels, or if they do not fit the model."""
    if own.correct is None:
        return None
    gains = [
        (candidate, evidence.correct - own.correct) for candidate, evidence in tried if evidence.correct is not None
    ]
    candidate, gain = max(gains, key=lambda pair: float(pair[1].mean()), default=(None, np.zeros(1)))
    here = float(own.correct.mean())
    chance = own.chance or 0.0
    if here + max(float(gain.mean()), 0) < min(2 * chance, (1 + chance) / 2):
        return None  # labels of other classes than the model's are no evidence
    error = float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else 1.0
    if candidate is not None and gain.mean() > max(BETTER, ERRORS * error):
        what = f"{here:.1%} accuracy with the samples as given, {here + gain.mean():.1%} with them "
        what += candidate.description
        return _suggest_candidate(candidate, what, sure=True)
    text = f"{here:.1%} accuracy on {len(own.correct)} labels; none of {len(tried)} other preprocessings is better"
    return ok("preprocessing", text, score=here)


def judge_by_batch_norms(own: Evidence, tried: list[tuple[Preprocessing, Evidence]]) -> Finding | None:
    """Finding from the statistics in batch norms; None unless another preprocessing fits them clearly better."""
    known = [(candidate, e.distance) for candidate, e in tried if e.distance is not None]
    if own.distance is None or not known:
        return None
    candidate, distance = min(known, key=lambda pair: pair[1])
    # the order of channels moves the statistics less than a scale does
    far = FAR / 3 if candidate.reorders_channels else FAR
    if own.distance < far or distance > NEARER * own.distance:
        return None
    what = (
        f"mean and variance at the first batch norms are {own.distance:.2f} off training, {distance:.2f} with samples"
    )
    return _suggest_candidate(candidate, f"{what} {candidate.description}", sure=True)


def judge_by_outputs(
    shape: Sequence[int], own: Evidence, tried: list[tuple[Preprocessing, Evidence]]
) -> Finding | None:
    """Finding from how well the model distinguishes pictures; None unless another preprocessing is clearly better.

    shape   of the samples; sounds and tables are large or small for reasons of their own, so nothing is said of them
    """
    if not is_picture(shape):
        return None
    known = [(candidate, e.nats) for candidate, e in tried if e.nats is not None and not _name_alike(own, e)]
    if own.nats is None or not known:
        return None
    candidate, nats = max(known, key=lambda pair: pair[1])
    if nats - own.nats < max(TELLING, 0.1 * nats):
        return None
    what = f"the outputs carry {own.nats:.2f} nats about the sample, {nats:.2f} with samples {candidate.description}"
    return _suggest_candidate(candidate, what, sure=nats - own.nats > max(SURE, 0.5 * nats))


def _name_alike(one: Evidence, other: Evidence) -> bool:
    """True if both give nearly all samples the same class: then one is only surer, as of larger numbers."""
    if one.classes is None or other.classes is None:
        return False
    return bool((one.classes == other.classes).mean() >= SAME)


def _suggest_candidate(candidate: Preprocessing, what: str, *, sure: bool) -> Finding:
    figures = {"candidate": candidate.description, "code": candidate.code}
    if sure:
        return problem("preprocessing", what, f"prepare samples as: {candidate.in_full}", **figures)
    remedy = f"if the model was trained on such inputs, prepare samples as: {candidate.in_full}   (--labels would tell)"
    return note("preprocessing", what, remedy, **figures)


def _report_distance(context: CheckContext, memory: TrainingStatistics, distance: float) -> Finding:
    """Report that the samples are far from the training data, and no candidate brings them nearer."""
    norm, mean, variance = next(iter(memory.statistics({n: a[:TRIED] for n, a in context.arrays.items()})))
    factor = deviation_ratio(variance, norm.variance)
    what = (
        f"the input of batch norm '{norm.name}' is {distance:.2f} from training: deviation "
        f"{np.sqrt(variance.mean()):.3g} here, {np.sqrt(norm.variance.mean()):.3g} in training"
    )
    remedy = f"the samples are of another kind, or wrongly scaled: a factor of about {factor:.3g} would fit"
    return problem("preprocessing", what, remedy, distance=distance, factor=factor, layer=norm.name)


def _describe_evidence(own: Evidence) -> str:
    """Describe the evidence for the samples as given."""
    parts = []
    if own.distance is not None:
        parts.append(f"batch norm statistics {own.distance:.2f} from training")
    if own.nats is not None:
        parts.append(f"{own.nats:.2f} nats of mutual information between sample and class")
    return ", ".join(parts) or "no batch norms and no class scores to judge by; --labels would help"
