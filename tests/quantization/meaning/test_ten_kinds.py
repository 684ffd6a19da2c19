"""Ten kinds of outputs: noise below and above what matters, and float runtimes, which are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest

import tvmq
from tests.quantization.meaning.test_detections import DENSE, HEADS, ROWS, SORTED
from tests.quantization.meaning.test_peaks import MAPS
from tests.quantization.meaning.test_peaks import READING as PEAKS
from tests.quantization.meaning.test_places import outputs as drawn_offsets
from tests.quantization.meaning.test_recognition import NETWORKS, Net
from tests.quantization.meaning.test_value_readings import BLOBS, SCORES, STEPS, VECTORS
from tvmq.passes.prepare import prepare
from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.reading import Reading, decibels_of, sum_powers
from tvmq.quantization.meaning.recognition import fit_readings, read_outputs
from tvmq.quantization.meaning.value_readings import (
    ClassReading,
    EmbeddingReading,
    MaskReading,
    NumberReading,
    SequenceReading,
)
from tvmq.reference import Reference

Outputs = list[np.ndarray]
BOUND, EQUAL = 20.0, 60.0  # dB
THREE = [[rows[0, :, :4], rows[0, :, 4], rows[0, :, 5]] for rows in ROWS]
TWO = [[np.moveaxis(head, 1, 2)[..., :4], np.moveaxis(head, 1, 2)[..., 4:]] for head in HEADS]
OFFSETS = [[image[None]] for image in drawn_offsets()]


def noise(shape: tuple[int, ...], size: float) -> np.ndarray:
    return np.random.default_rng(7).normal(0, size, shape)


def fitted(reading: Reading, samples: list[Outputs]) -> Any:
    """The reading of these outputs of float."""
    known = reading.fit(samples)
    assert known is not None
    return known


def at(place: int, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Outputs], Outputs]:
    """A change of one output."""
    return lambda outputs: [change(one) if i == place else one for i, one in enumerate(outputs)]


def moved(columns: slice, part: float) -> Callable[[np.ndarray], np.ndarray]:
    """Columns of the last axis that are larger by a part."""
    return lambda rows: rows * (1 + part * np.isin(np.arange(rows.shape[-1]), np.arange(rows.shape[-1])[columns]))


# kind -> (reading, float's outputs, what nobody sees, what matters)
KINDS: dict[str, tuple[Any, list[Outputs], Callable[[Outputs], Outputs], Callable[[Outputs], Outputs]]] = {
    "sorted rows": (
        SORTED, [[rows] for rows in ROWS],
        at(0, lambda rows: rows + noise(rows.shape, 0.5) * (rows > 3)), at(0, moved(slice(2, 4), 0.1)),
    ),
    "sorted rows in three outputs": (
        fitted(DetectionReading((0, 1, 2), doubles=False), THREE), THREE,
        at(0, lambda boxes: boxes + noise(boxes.shape, 0.5)), at(1, lambda scores: scores * 0.7),
    ),
    "columns of a dense head": (
        DENSE, [[head] for head in HEADS],
        at(0, lambda head: head + noise(head.shape, 0.5) * (head > 3)), at(0, lambda head: head[:, [0, 1, 2, 3, 5, 6, 4]]),
    ),
    "boxes beside scores": (
        fitted(DetectionReading((0, 1)), TWO), TWO,
        at(0, lambda boxes: boxes + noise(boxes.shape, 0.3)), at(0, lambda boxes: boxes * [1, 1, 1.4, 1.4]),
    ),
    "offsets of places": (
        fitted(DetectionReading((0,), sizes=(4, 1, 1)), OFFSETS), OFFSETS,
        at(0, lambda rows: rows + noise(rows.shape, 0.02)), at(0, moved(slice(4, 5), -0.3)),
    ),
    "heat map": (
        PEAKS, MAPS, at(1, lambda one: one + noise(one.shape, 0.03)), at(0, lambda heat: heat * 0.7),
    ),
    "classes": (ClassReading((0,)), [[SCORES]], at(0, lambda x: x * 0.5 + noise(x.shape, 0.2)), at(0, lambda x: np.roll(x, 1, 1))),
    "sequence": (SequenceReading((0,)), [[STEPS]], at(0, lambda x: x + noise(x.shape, 0.1)), at(0, lambda x: x[:, ::-1])),
    "embedding": (
        EmbeddingReading((0,)), [[VECTORS]],
        at(0, lambda x: x * 3 + noise(x.shape, 0.1)), at(0, lambda x: x + noise(x.shape, 0.3)),
    ),
    "mask": (MaskReading((0,)), [[BLOBS]], at(0, lambda x: x + noise(x.shape, 0.003)), at(0, lambda x: np.roll(x, 2, -1))),
    "numbers": (NumberReading((0,)), [[SCORES]], at(0, lambda x: x + noise(x.shape, 0.1)), at(0, lambda x: x + noise(x.shape, 1))),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_noise_below_what_matters_is_above_the_bound_and_noise_above_it_below(kind: str) -> None:
    reading, samples, small, large = KINDS[kind]

    def worst(change: Callable[[Outputs], Outputs]) -> float:
        return min(decibels_of(sum_powers(reading, [(wanted, change(wanted)) for wanted in samples])))

    assert worst(list) == np.inf
    assert worst(lambda outputs: [one * (1 + noise(one.shape, 1e-6)) for one in outputs]) > EQUAL
    assert worst(small) > BOUND > worst(large)


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in ("sorted rows", "separate rows", "heat map")])
def test_two_float_runtimes_are_equal(name: str) -> None:
    """onnxruntime and our definition in NumPy, whose last bits differ, on networks of random weights; those that are
    left out have no box or peak with such weights."""
    net = Net((1, 3, 8, 8))
    model = net.model(*NETWORKS[name][0](net))
    mod, params = tvmq.from_onnx(model)
    session, definition = onnxruntime.InferenceSession(model.SerializeToString()), Reference(prepare(mod, params))
    feeds = [{"x": 2 * np.random.default_rng(seed).standard_normal((1, 3, 8, 8)).astype(np.float32)} for seed in range(4)]
    pairs = [(session.run(None, feed), [np.asarray(y) for y in definition.run(feed)]) for feed in feeds]
    assert any(np.any(a != b) for one in pairs for a, b in zip(*one, strict=True))
    readings: list[Any] = fit_readings(read_outputs(mod), [wanted for wanted, _ in pairs]) or [NumberReading((0,))]
    assert [one.kind for one in readings] == [kind for kind, _ in NETWORKS[name][1] or [("numbers", ())]]
    assert min(figure for one in readings for figure in decibels_of(sum_powers(one, pairs))) > EQUAL
