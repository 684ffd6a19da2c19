"""Which normalization a model was trained with: from what it says and begins with, else from how decided it is.

A classifier on rightly prepared pictures is sure of each one and gives different ones different classes. Both are in
one number, the mutual information between picture and class,

    H(mean of p) - mean of H(p)        p: softmax of the outputs, H: entropy in nats

(the logarithm of the Inception Score: Salimans et al., "Improved Techniques for Training GANs", 2016). The mean of
the largest softmax alone fails: unscaled pixels make any network sure of one and the same class. Measured on six
classifiers of five normalizations, 32 pictures each: this picks the right one, or one under which as many pictures
are classified rightly within 3 of 32, six times; the largest softmax is fooled by one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvmq.data.normalization import BGR, NORMALIZATIONS, Normalization, candidates

PICTURES = 24
MARGIN = 0.03  # relative; the usual normalization is kept unless another one is better by more
SAME = 0.9  # of the classes
YOLO = ("detect", "segment", "pose", "obb", "classify")
OFFSETS = ("subtract", "divide", "batch_norm")
DECIDED = 0.35  # of the greatest possible information: below it the pictures tell nothing


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
    found = _entropy(p.mean(axis=0)) - _entropy(p).mean()
    return float(found) if np.isfinite(found) else 0.0


def _probabilities(outputs: np.ndarray) -> np.ndarray:
    if outputs.min() >= 0 and np.allclose(outputs.sum(axis=1), 1, atol=1e-2):
        return outputs
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, 1e-30))).sum(axis=-1)


def from_pixels(channels: int, scores_of: Callable[[Normalization], np.ndarray]) -> Guess:
    """The guess for a classifier.

    scores_of   outputs (pictures, classes) for the same pictures under a normalization
    """
    tried = candidates(channels)
    outputs = {one.name: scores_of(one) for one in tried}
    found = {name: information(values) for name, values in outputs.items()}
    usual, best = tried[0], max(tried, key=lambda one: found[one.name])
    if best.scale == 1.0:
        best = next((one for one in tried if one.scale != 1.0 and _same_classes(outputs, one, best)), best)
    if found[usual.name] >= (1 - MARGIN) * found[best.name]:
        best = usual
    if channels == 3 and best.color != BGR:
        turned = replace(best, color=BGR)
        found["bgr"] = information(scores_of(turned))
        best = turned if found["bgr"] > (1 + MARGIN) * found[best.name] else best
    return _judged(best, found, scores_of(best).shape)


def _same_classes(outputs: Mapping[str, np.ndarray], one: Normalization, best: Normalization) -> bool:
    """True if the second differs from the first in its certainty alone: without biases 255 times the pixels do that."""
    classes = [outputs[which.name].argmax(axis=1) for which in (one, best)]
    return bool((classes[0] == classes[1]).mean() >= SAME)


def _judged(best: Normalization, found: Mapping[str, float], shape: Sequence[int]) -> Guess:
    """How sure the choice is."""
    most = float(np.log(min(shape)))
    own = found["bgr"] if best.color == BGR and best.name != "caffe" else found[best.name]
    others = sorted((value for name, value in found.items() if name not in (best.name, "bgr")), reverse=True)
    shown = ", ".join(f"{name} {value:.2f}" for name, value in sorted(found.items(), key=lambda one: -one[1]))
    if own < DECIDED * most:
        return Guess(best, "not sure", f"the model tells {shape[0]} pictures apart under none ({shown})", found)
    clear = own > (1 + MARGIN) * others[0]
    how = "tells pictures apart best under it" if clear else "tells pictures apart as well under another"
    return Guess(best, "likely" if clear else "not sure", f"the model {how} (nats: {shown})", found)


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
        found = replace(NORMALIZATIONS[named], color=order)
        return Guess(found, "sure", f"the file says Image.NominalPixelRange={pixels}")
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
    """What is usual, where neither the model nor pictures tell."""
    if channels == 3 and classifier:
        return Guess(NORMALIZATIONS["imagenet"], "not sure", "usual for classifiers of colour pictures")
    usual = candidates(1)[0] if channels == 1 else NORMALIZATIONS["unit"]
    return Guess(usual, "not sure", "usual, and nothing tells more")
