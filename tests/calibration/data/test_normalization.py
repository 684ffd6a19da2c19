"""Normalizations by name and by numbers, and the guess of one from data."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.calibration.data.guess import by_custom, from_facts, from_pixels, information
from tvmq.calibration.data.normalization import NORMALIZATIONS, Normalization, candidates, replace_numbers
from tvmq.errors import ConfigError

PIXELS = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=-1)
CLASSES, COUNT = 8, 24


def test_imagenet_is_torchvisions():
    x = PIXELS.astype(np.float32) / np.float32(255)
    expected = (x - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    assert np.array_equal(NORMALIZATIONS["imagenet"](PIXELS), expected)


def test_caffe_turns_the_channels():
    red = np.uint8([[[[200, 0, 0]]]])
    assert np.allclose(NORMALIZATIONS["caffe"](red), [[[[-103.939, -116.779, 200 - 123.68]]]])


@pytest.mark.parametrize("one", NORMALIZATIONS.values(), ids=lambda one: one.name)
def test_flags_and_formula_name_it(one):
    assert f"--normalize {one.name}" in one.flags() and "pixel" in one.formula()


def test_own_numbers():
    own = replace_numbers(NORMALIZATIONS["unit"], 3, mean=(0.4, 0.5, 0.6), std=(0.2,))
    assert own == Normalization("own", 1 / 255, (0.4, 0.5, 0.6), (0.2,), "rgb")
    assert own.flags() == "--scale 0.00392157 --mean 0.4,0.5,0.6 --std 0.2"
    assert replace_numbers(NORMALIZATIONS["unit"], 3, color="bgr").flags() == "--normalize unit --color bgr"


@pytest.mark.parametrize("given, message", [
    ({"mean": (1.0, 2.0)}, "--mean: 2 numbers for 3 channels"), ({"std": (0.0,)}, "--std: must be positive. Got 0"),
])  # fmt: skip
def test_numbers_that_do_not_fit(given, message):
    with pytest.raises(ConfigError, match=message):
        replace_numbers(NORMALIZATIONS["unit"], 3, **given)


def classifier(trained: Normalization):
    """Outputs of a nearest-prototype classifier, trained under a normalization, on pictures of all classes.

    Its layers have an offset and saturate as networks do: the norm of its inputs moves its answers.
    """
    random = np.random.default_rng(3)
    prototypes = random.integers(0, 256, (CLASSES, 6, 6, 3))
    noisy = prototypes[np.arange(COUNT) % CLASSES] + random.normal(0, 30, (COUNT, 6, 6, 3))
    pictures = np.clip(noisy, 0, 255).astype(np.uint8)
    weights = trained(prototypes.astype(np.uint8)).reshape(CLASSES, -1).astype(np.float64)

    def scores_of(one: Normalization) -> np.ndarray:
        x = one(pictures).reshape(COUNT, -1).astype(np.float64)
        scale = (weights**2).mean()
        return 4 * (x @ weights.T - (weights**2).sum(axis=1) / 2) / scale / 20

    return scores_of


@pytest.mark.parametrize("name", ["imagenet", "unit", "signed", "raw", "caffe"])
def test_the_right_one_is_found_from_the_outputs(name):
    guess = from_pixels(3, classifier(NORMALIZATIONS[name]))
    best = max(guess.scores.values())
    assert guess.scores.get(guess.normalization.name, best) >= 0.97 * best
    if name in ("raw", "caffe"):  # of another magnitude than the rest
        assert guess.normalization.scale == 1.0
    assert name in str(guess) and guess.confidence in ("likely", "not sure")


def test_bgr_is_noticed():
    from dataclasses import replace

    trained = replace(NORMALIZATIONS["signed"], color="bgr")
    guess = from_pixels(3, classifier(trained))
    assert guess.normalization.color == "bgr"


def test_a_model_that_says_nothing_is_a_guess():
    guess = from_pixels(3, lambda _: np.zeros((COUNT, CLASSES)))
    assert (guess.normalization.name, guess.confidence) == ("imagenet", "not sure")
    assert "usual; the model hardly tells these 24 pictures apart" in guess.why


def test_information_is_not_fooled_by_certainty():
    """Sure of one and the same class for all: nothing is known of the pictures."""
    same = np.zeros((COUNT, CLASSES))
    same[:, 2] = 100
    assert information(same) == pytest.approx(0)
    assert information(np.full((4, 4), np.nan)) == 0.0


@pytest.mark.parametrize("dtype, first, metadata, name, confidence", [
    ("uint8", [], {}, "raw", "sure"),
    ("float32", [("subtract", 123.7), ("nn.conv2d", 1.0)], {}, "raw", "sure"),
    ("float32", [("divide", 255.0)], {}, "raw", "sure"),
    ("float32", [("multiply", 1 / 255)], {}, "raw", "sure"),
    ("float32", [("batch_norm", 117.0)], {}, "raw", "sure"),
    ("float32", [("subtract", 0.485)], {}, "unit", "likely"),
    ("float32", [], {"Image.NominalPixelRange": "Normalized_1_1"}, "signed", "sure"),
    ("float32", [], {"task": "detect", "stride": "32"}, "unit", "sure"),
])  # fmt: skip
def test_what_the_model_says(dtype, first, metadata, name, confidence):
    guess = from_facts(3, dtype, first, metadata)
    assert (guess.normalization.name, guess.confidence) == (name, confidence)


def test_the_order_that_the_file_names():
    metadata = {"Image.NominalPixelRange": "NominalRange_0_255", "Image.BitmapPixelFormat": "Bgr8"}
    assert from_facts(3, "float32", [], metadata).normalization.color == "bgr"


def test_nothing_said():
    assert from_facts(3, "float32", [("nn.conv2d", 0.5), ("add", 0.1)], {}) is None
    assert by_custom(3, classifier=True).normalization.name == "imagenet"
    assert by_custom(3, classifier=False).normalization.name == "unit"
    assert by_custom(1, classifier=True).normalization == candidates(1)[0]


def test_pictures_of_one_class_tell_nothing():
    """Nor does any normalization win then by what noise makes of it."""
    scores_of = classifier(NORMALIZATIONS["imagenet"])

    def of_one_class(one):
        outputs = scores_of(one)
        return np.repeat(outputs[:1], COUNT, axis=0)

    guess = from_pixels(3, of_one_class)
    assert (guess.normalization.name, guess.confidence) == ("imagenet", "not sure")


def test_labels_decide_where_they_fit():
    """Between two normalizations that differ in certainty alone, the one with the right classes wins."""
    labels = np.arange(COUNT) % CLASSES

    def scores_of(one):
        shift = 1 if one.name == "signed" else 0
        sure = 9.0 if one.name == "signed" else 4.0
        return (
            sure * np.eye(CLASSES)[(labels + shift) % CLASSES]
            if one.name in ("signed", "unit")
            else np.zeros((COUNT, CLASSES))
        )

    assert from_pixels(3, scores_of).normalization.name == "signed"
    guess = from_pixels(3, scores_of, labels)
    assert (guess.normalization.name, guess.confidence) == ("unit", "likely")
    assert "24 of 24 pictures get the class of their folder" in guess.why
    other_order = from_pixels(3, scores_of, (labels + 3) % CLASSES)
    assert other_order.normalization.name == "signed"


def test_pictures_of_one_class_that_others_scatter():
    """Sure of one class under the usual one, and of several under a wrong one: no reason to take the wrong one."""
    random = np.random.default_rng(0)
    scattered = 2.0 * np.eye(10)[random.integers(0, 4, COUNT)]
    one_class = 6.0 * np.eye(10)[np.full(COUNT, 3)]

    def scores_of(one):
        return one_class if one.name == "imagenet" else scattered * (2 if one.name == "raw" else 0.5)

    guess = from_pixels(3, scores_of)
    assert (guess.normalization.name, guess.confidence) == ("imagenet", "not sure")
    assert "are they of one class?" in guess.why
