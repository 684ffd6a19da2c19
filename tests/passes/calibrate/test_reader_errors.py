"""Ranges judged where they count: rare peaks that the readers of a tensor live on are not clipped."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.networks import snr
from tests.support.models.onnx_models import make_model
from tvmq.passes.calibrate import reader_errors
from tvmq.passes.calibrate.reader_errors import wider_ranges

RANDOM = np.random.default_rng(0)
CHANNELS, SIZE = 32, 48


def first_channel() -> onnx.ModelProto:
    """y = x[:, 0] + small parts of the other channels."""
    array = np.full((1, CHANNELS, 1, 1), 1e-4, np.float32)
    array[0, 0] = 1
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Conv", ["r", "w"], ["y"])]
    return make_model(nodes, {"x": (1, CHANNELS, SIZE, SIZE)}, ["y"], {"w": array}, 17)


def samples(count: int, peaks: int, height: float = 60.0) -> list[np.ndarray]:
    """Noise in all channels but the first, which holds a peak in so many of the samples and zeros."""
    data = [np.abs(RANDOM.normal(size=(1, CHANNELS, SIZE, SIZE))).astype(np.float32) for _ in range(count)]
    for number, x in enumerate(data):
        x[0, 0] = 0
        if number < peaks:
            x[0, 0, number, 7] = height
    return data


def quality(data: list[np.ndarray]) -> float:
    mod, params = tvmq.from_onnx(first_channel())
    exe, quantized = tvmq.build(mod, params=params), tvmq.build(tvmq.quantize(mod, params, data, guard=None))
    outputs = [np.concatenate([e.run({"x": x})[0] for x in data]) for e in (exe, quantized)]
    return snr(*outputs)


def test_peaks_that_a_reader_lives_on_are_kept(monkeypatch):
    data = samples(16, peaks=2)
    widened = quality(data)
    monkeypatch.setattr(reader_errors, "FAR", np.inf)
    assert quality(data) < 10 < 25 < widened


@pytest.mark.slow
def test_without_far_values_nothing_is_asked(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("readers were asked")

    monkeypatch.setattr(reader_errors, "reader_errors", refuse)
    quality(samples(4, peaks=0))


def test_ranges_double_until_they_hold_all():
    assert wider_ranges((-1.0, 3.0), (-2.5, 14.0)) == [(-1.0, 3.0), (-2.0, 6.0), (-2.5, 12.0), (-2.5, 14.0)]
    assert wider_ranges((-1.0, 3.0), (-0.5, 2.0)) == [(-1.0, 3.0)]
    assert wider_ranges((0.0, 1e-30), (0.0, 1.0))[-1] == (0.0, 1.0)
