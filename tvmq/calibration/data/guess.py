"""Which normalization a model was trained with: from what it says and begins with, else from how decided it is.

A classifier on rightly prepared pictures is sure of each one and gives different ones different classes. Both are in
one number, the mutual information between picture and class,

    H(mean of p) - mean of H(p)        p: softmax of the outputs, H: entropy in nats

(the logarithm of the Inception Score: Salimans et al., "Improved Techniques for Training GANs", 2016). The mean of
the largest softmax alone fails: unscaled pixels make any network sure of one and the same class. Measured on six
classifiers of five normalizations, 24 pictures each, without labels: this picks the right one, or the nearest of the
usual ones where the network had the mean of its own data, five times; of the sixth, which tells two classes apart, it
says that it is not sure. The largest softmax alone is wrong about one of them.

Tests: tests/calibration/data/test_normalization.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvmq.calibration.data.normalization import BGR, NORMALIZATIONS, Normalization, candidates

PICTURES = 24
MARGIN = 0.03  # relative; the usual normalization is kept unless another one is better by more
SAME = 0.9  # of the classes
CLOSE = 0.1  # of the pictures: fewer that are right tell nothing
YOLO = ("detect", "segment", "pose", "obb", "classify")
OFFSETS = ("subtract", "divide", "batch_norm")
DECIDED = 0.4  # of the greatest possible information: below it the pictures tell nothing (right ones: 0.43 to 0.96)
CLEARLY, SURE = 0.6, 0.7


@dataclass(frozen=True)
class Guess:
    """A normalization, how sure it is ("sure", "likely", "not sure") and why, in one clause."""

    normalization: Normalization
    confidence: str
    why: str
    scores: Mapping[str, float] | None = None

    def __str__(self) -> str:
        return f"{self.normalization.formula()}: {self.confidence}, {self.why}"


def information(outputs: np.ndarray) -> float:
    """Mutual information of picture and class, in nats; outputs (pictures, classes) are logits or probabilities.

    >>> round(information(np.eye(4) * 50), 3), information(np.zeros((4, 4)))
    (1.386, 0.0)
    """
    p = _probabilities(outputs.astype(np.float64))
    nats = _entropy(p.mean(axis=0)) - _entropy(p).mean()
    return float(nats) if np.isfinite(nats) else 0.0


def _probabilities(outputs: np.ndarray) -> np.ndarray:
    if outputs.min() >= 0 and np.allclose(outputs.sum(axis=1), 1, atol=1e-2):
        return outputs
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, 1e-30))).sum(axis=-1)


@dataclass(frozen=True)
class _Answer:
    """Answer of a model under one normalization.

    nats     information
    sure     mean of the largest softmax
    classes  of the pictures, out of `count`
    right    how many of them are
    """

    normalization: Normalization
    nats: float
    sure: float
    classes: np.ndarray
    count: int
    right: int

    @property
    def name(self) -> str:
        one = self.normalization
        return f"{one.name} in BGR" if one.color == BGR and NORMALIZATIONS[one.name].color != BGR else one.name


def from_pixels(
    channels: int, scores_of: Callable[[Normalization], np.ndarray], labels: np.ndarray | None = None
) -> Guess:
    """The guess for a classifier.

    scores_of   outputs (pictures, classes) for the same pictures under a normalization
    labels      classes of the pictures; they are believed where some normalization makes most of them right
    """

    def answer(one: Normalization) -> _Answer:
        outputs = scores_of(one)
        classes = outputs.argmax(axis=1)
        sure = float(_probabilities(outputs.astype(np.float64)).max(axis=1).mean())
        right = 0 if labels is None else int((classes == labels).sum())
        return _Answer(one, information(outputs), sure, classes, outputs.shape[1], right)

    answers = [answer(one) for one in candidates(channels)]
    best = _best_answer(answers)
    if channels == 3 and best.normalization.color != BGR:
        answers.append(answer(replace(best.normalization, color=BGR)))
        best = _best_answer([best, answers[-1]])
    return _rate_choice(best, answers)


def _best_answer(answers: Sequence[_Answer]) -> _Answer:
    """The one with most right classes, if labels tell; of those alike the one with most information; then the usual."""
    most = max(one.right for one in answers)
    alike = [one for one in answers if _count_right(answers) == 0 or one.right > most - CLOSE * len(one.classes)]
    best = max(alike, key=lambda one: one.nats)
    if best.normalization.scale == 1.0:  # without biases 255 times the pixels make a model surer, nothing else
        small = (one for one in alike if one.normalization.scale != 1.0)
        best = next((one for one in small if (one.classes == best.classes).mean() >= SAME), best)
    return alike[0] if alike[0].nats >= (1 - MARGIN) * best.nats else best


def _count_right(answers: Sequence[_Answer]) -> int:
    """How many classes are right at best; 0 where labels tell nothing: there are none, or their order is another."""
    most = max(one.right for one in answers)
    return most if most >= 0.5 * len(answers[0].classes) else 0


def _rate_choice(best: _Answer, answers: Sequence[_Answer]) -> Guess:
    """How sure the choice is."""
    scores = {one.name: one.nats for one in answers}
    ranked = sorted(answers, key=lambda one: -one.nats)
    shown = "nats: " + ", ".join(f"{one.name} {one.nats:.2f}" for one in ranked)
    count, believed = len(best.classes), _count_right(answers)
    others = [one for one in answers if one.normalization.name != best.normalization.name]
    clear = best.nats > (1 + MARGIN) * max(one.nats for one in others)
    if believed:
        by_right = ", ".join(f"{one.name} {one.right}" for one in sorted(answers, key=lambda one: -one.right))
        clear = clear or best.right > max(one.right for one in others) + CLOSE * count / 2
        why = f"{best.right} of {count} pictures get the class of their folder or label ({by_right})"
        return Guess(best.normalization, "likely" if clear else "not sure", why, scores)
    share = best.nats / np.log(max(2, min(count, best.count)))
    usual = answers[0]
    # pictures of one class are told apart best where they are mistaken for others
    one_class = usual.sure > SURE and share < CLEARLY and usual.nats < DECIDED * best.nats
    if share < DECIDED or one_class:
        why = f"usual; the model hardly tells these {count} pictures apart, are they of one class? ({shown})"
        return Guess(usual.normalization, "not sure", why, scores)
    how = "tells pictures apart best under it" if clear else "tells pictures apart as well under another"
    return Guess(best.normalization, "likely" if clear else "not sure", f"the model {how} ({shown})", scores)


def from_facts(
    channels: int, dtype: str, first: Sequence[tuple[str, float]], metadata: Mapping[str, str]
) -> Guess | None:
    """The guess from what the model says of itself; None where it says nothing.

    dtype     of the input
    first     the operators that the input passes before the first product, each with the largest of its constants
    metadata  properties of the file
    """
    raw, unit = (replace(NORMALIZATIONS[name], color="rgb") for name in ("raw", "unit"))
    if np.dtype(dtype).kind in "iu":
        return Guess(raw, "sure", f"the input is {dtype}")
    order = BGR if metadata.get("Image.BitmapPixelFormat", "").lower().startswith("bgr") else "rgb"
    pixels = metadata.get("Image.NominalPixelRange", "")
    named = {"NominalRange_0_255": "raw", "Normalized_0_1": "unit", "Normalized_1_1": "signed"}.get(pixels)
    if named:
        normalization = replace(NORMALIZATIONS[named], color=order)
        return Guess(normalization, "sure", f"the file says Image.NominalPixelRange={pixels}")
    if metadata.get("task") in YOLO and "stride" in metadata:
        return Guess(unit, "sure", f"the file says task={metadata['task']}, as exporters of YOLO write it")
    for operator, constant in first:  # a model that normalizes by itself: its constants tell what it expects
        how = f"the model begins with {operator} of up to {constant:g}: it normalizes"
        if operator in OFFSETS and constant > 2 or operator == "multiply" and 0 < constant < 0.1:
            return Guess(raw, "sure", f"{how} pixels of 0..255 itself")
        if operator in OFFSETS and 0 < constant <= 1:
            return Guess(unit, "likely", f"{how} 0..1 itself")
    return None


def by_custom(channels: int, *, classifier: bool) -> Guess:
    """Usual normalization, where neither the model nor pictures tell."""
    if channels == 3 and classifier:
        return Guess(NORMALIZATIONS["imagenet"], "not sure", "usual for classifiers of colour pictures")
    usual = candidates(1)[0] if channels == 1 else NORMALIZATIONS["unit"]
    return Guess(usual, "not sure", "usual, and nothing tells more")
