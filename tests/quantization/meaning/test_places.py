"""tvmq.quantization.meaning.places: heads whose boxes are offsets are judged where they have scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.places import PlaceReading
from tvmq.quantization.meaning.reading import decibels_of, sum_powers

RANDOM = np.random.default_rng(0)
PLACES = 64


def outputs(count: int = 4, *, decoded: bool = False) -> np.ndarray:
    """[count, places, 4 + 1 + 1]: offsets and logarithms of sizes, objectness, one class; two objects a picture."""
    rows = np.zeros((count, PLACES, 6), np.float32)
    rows[..., :2] = RANDOM.normal(0.5, 0.3, (count, PLACES, 2))
    rows[..., 2:4] = RANDOM.normal(1.5, 0.4, (count, PLACES, 2))
    rows[..., 4] = RANDOM.uniform(0, 0.02, (count, PLACES))
    rows[..., 5] = 0.9
    for image in rows:
        image[RANDOM.choice(PLACES, 2, replace=False), 4] = RANDOM.uniform(0.7, 0.95, 2)
    if decoded:
        y, x = np.divmod(np.arange(PLACES), 8)
        rows[..., :2] = (rows[..., :2] + np.stack([x, y], axis=1)) * 8
        rows[..., 2:4] = np.exp(rows[..., 2:4]) * 8
    return rows


def fitted(rows: np.ndarray) -> Any:
    return DetectionReading((0,), sizes=(4, 1, 1)).fit([[rows]])


def worst(reading: Any, rows: np.ndarray, others: np.ndarray) -> list[float]:
    return decibels_of(sum_powers(reading, [([rows], [others])]))


def test_offsets_are_told_from_boxes() -> None:
    reading = fitted(outputs())
    assert isinstance(reading, PlaceReading) and "not decoded: boxes 0-3" in reading.describe()
    assert isinstance(fitted(outputs(decoded=True)), DetectionReading)
    alone = DetectionReading((0,), sizes=(4, 1, 1)).fit([[outputs(1, decoded=True)]])
    assert isinstance(alone, DetectionReading)


def test_noise_matters_where_scores_are_and_nowhere_else() -> None:
    rows = outputs()
    reading, used = fitted(rows), rows[..., 4] > 0.5
    assert worst(reading, rows, rows) == [np.inf, np.inf]
    elsewhere = np.where(used[..., None], rows, rows + RANDOM.normal(0, 3, rows.shape) * [1, 1, 1, 1, 0, 0])
    assert worst(reading, rows, elsewhere) == [np.inf, np.inf]
    moved = rows.copy()
    moved[used, 0] += 0.5
    scores, offsets = worst(reading, rows, moved)
    assert scores == np.inf and 10 < offsets < 20
    fainter = rows.copy()
    fainter[used, 4] *= 0.9
    scores, offsets = worst(reading, rows, fainter)
    assert 19.9 < scores < 20.1 and offsets == np.inf


def test_false_rows_and_other_shapes() -> None:
    rows = outputs()
    reading, false = fitted(rows), rows.copy()
    false[0, np.argmin(rows[0, :, 4]), 4] = 0.9
    assert worst(reading, rows, false)[0] < 12
    assert worst(reading, rows, rows[:, :-1]) == [-np.inf, -np.inf]
