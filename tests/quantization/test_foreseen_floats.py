"""StaticQuantization.foresee_floats: choices of the guard need no second reading of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.graph.ledger import get_ledger
from tvmq.options.rules import Rule
from tvmq.quantization.guard.regions import regions
from tvmq.quantization.pipeline import static_quantization

DATA = [{"x": np.random.default_rng(seed).standard_normal((1, 3, 8, 8)).astype(np.float32)} for seed in range(4)]


def joined() -> Any:
    """A block of YOLO: half of the channels are filtered and joined with all, and a convolution reads them."""
    net = Net((1, 3, 8, 8))
    halves = net.ops("Split", net.op("Relu", net.conv("x", 3, 8)), net.constant(np.array([4, 4])), outputs=2, axis=1)
    filtered = net.op("Relu", net.conv(halves[1], 4, 4))
    return net.model(net.conv(net.op("Concat", *halves, filtered, axis=1), 12, 2))


def statistics_of(quantization: Any) -> set[str]:
    return set(quantization._kept.statistics)


@pytest.mark.slow
def test_one_reading_serves_modules_with_floats_between_products() -> None:
    foreseeing, plain = (static_quantization(*tvmq.from_onnx(joined()), DATA) for _ in range(2))
    foreseeing.foresee_floats()
    layers = get_ledger(foreseeing.module()).layers
    between = [key for keys in regions(layers) for key in keys]
    plain.module()
    before, known = statistics_of(plain), statistics_of(foreseeing)
    assert before < known and {"concat", "shape"} >= {layers[key]["op"] for key in between} >= {"concat"}
    modules = [one.module(tuple(Rule(key, None) for key in between)) for one in (foreseeing, plain)]
    assert statistics_of(foreseeing) == known >= statistics_of(plain) > before
    assert all(get_ledger(modules[0]).layers[key]["precision"] == "float" for key in between if key in get_ledger(modules[0]).layers)
    results = [tvmq.build(module).run(DATA[0])[0] for module in modules]
    np.testing.assert_array_equal(*results)
