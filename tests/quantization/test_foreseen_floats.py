"""StaticQuantization.foresee_floats: what reads a concat of floats needs no second reading of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.graph.ledger import get_ledger
from tvmq.options.rules import Rule
from tvmq.quantization.pipeline import static_quantization

DATA = [{"x": np.random.default_rng(seed).standard_normal((1, 3, 8, 8)).astype(np.float32)} for seed in range(4)]


def joined() -> Any:
    """Two convolutions, whose results are joined, and one that reads them."""
    net = Net((1, 3, 8, 8))
    parts = [net.op("Relu", net.conv("x", 3, 4)) for _ in range(2)]
    return net.model(net.conv(net.op("Concat", *parts, axis=1), 8, 2))


def statistics_of(quantization: Any) -> set[str]:
    return set(quantization._kept.statistics)


@pytest.mark.slow
def test_one_reading_serves_modules_with_concats_in_float() -> None:
    foreseeing, plain = (static_quantization(*tvmq.from_onnx(joined()), DATA) for _ in range(2))
    foreseeing.foresee_floats()
    layers = get_ledger(foreseeing.module()).layers
    (concat,) = [key for key, entry in layers.items() if entry["op"] == "concat"]
    assert layers[concat]["precision"] == "int8" and concat not in statistics_of(plain)
    known = statistics_of(foreseeing)
    rules = (Rule(concat, None),)
    modules = []
    for quantization in (foreseeing, plain):
        quantization.module()
        modules.append(quantization.module(rules))
    assert concat in known and statistics_of(foreseeing) == known == statistics_of(plain)
    assert get_ledger(modules[0]).layers[concat]["precision"] == "float"
    results = [tvmq.build(module).run(DATA[0])[0] for module in modules]
    np.testing.assert_array_equal(*results)
