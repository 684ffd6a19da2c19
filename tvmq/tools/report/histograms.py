"""Histograms of the calibration data in each tensor, with the thresholds of its codes, as drawn on the page.

Tests: tests/tools/report/test_report.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.codegen.compile.evaluators import Runner, evaluator
from tvmq.graph.ledger import Ledger
from tvmq.options.config import recorded_options
from tvmq.passes.calibrate.collect import collect
from tvmq.quantization.pipeline import static_quantization

BARS = 72


def statistics_of(
    mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None, data: Any, ledger: Ledger, *, target: Any = None
) -> dict[str, TensorStatistics]:
    """Statistics by tensor of a float model, collected with the options of a quantized one.

    Rules are ignored, so that layers that stayed float have histograms too.

    data     data set as for `quantize`; read twice, for outlier channels and for the counts
    raises   DataError for data that do not fit the model
    """
    config = replace(recorded_options(ledger.config), do_simulation=False)
    quantization = static_quantization(mod, params, data, target=target or ledger.backend, config=config)
    assert quantization.data is not None
    annotated = quantization.annotate_model()
    return collect(annotated, quantization.data, evaluator, compile_in_place=Runner)


def thresholds(ledger: Ledger) -> dict[str, dict[str, Any]]:
    """{tensor: {"low", "high", "scale", "zero_point", "dtype"}} for all tensors that are codes."""
    ranges: dict[str, dict[str, Any]] = {}
    for key, entry in ledger.layers.items():
        for name, codes in zip(entry.get("inputs", ()), entry.get("input") or (), strict=False):
            if isinstance(codes, Mapping):
                ranges.setdefault(name, _range(codes))
        if isinstance(entry.get("output"), Mapping):
            ranges[key] = _range(entry["output"])
    return ranges


def _range(codes: Mapping[str, Any]) -> dict[str, Any]:
    """Range of the real numbers that codes can represent.

    >>> _range({"dtype": "uint8", "bits": 8, "scale": 0.5, "zero_point": 3})["high"]
    126.0
    """
    bits, signed = int(codes["bits"]), not str(codes["dtype"]).startswith("uint")
    low = -(2 ** (bits - 1)) if signed else 0
    scale, zero = float(codes["scale"]), int(codes["zero_point"])
    ends = {"low": (low - zero) * scale, "high": (low + 2**bits - 1 - zero) * scale}
    return {**ends, "scale": scale, "zero_point": zero, "dtype": str(codes["dtype"])}


def bars(statistics: TensorStatistics, limits: Mapping[str, Any] | None) -> dict[str, Any]:
    """Histogram as drawn: `counts` of BARS bars from `low` to `high`; zeros are left out and given as a share.

    limits   thresholds of the tensor; then "clipped" is the share of values outside of them

    >>> statistics = TensorStatistics("x")
    >>> statistics.update(np.float32([[0.0, 1.0, 2.0, 4.0]]))
    >>> shown = bars(statistics, {"low": 0.0, "high": 2.0})
    >>> shown["zeros"], shown["clipped"], sum(shown["counts"])
    (0.25, 0.25, 3)
    """
    histogram = statistics.histogram
    edges, counts = histogram.edges, histogram.counts.copy()
    counts[-histogram.first] -= histogram.zeros  # bin 0
    low, high = float(edges[0]), float(edges[-1])
    middles = np.clip((edges[:-1] + edges[1:]) / 2, low, high)
    width = (high - low) or 1.0
    shown = np.bincount(np.minimum(((middles - low) / width * BARS).astype(int), BARS - 1), counts, BARS)
    total = max(1, histogram.values)
    facts = {
        "low": low, "high": high, "counts": [int(count) for count in shown], "values": int(histogram.values),
        "zeros": histogram.zeros / total, "samples": int(statistics.ranges.samples),
    }  # fmt: skip
    if limits is None:
        return facts
    step = limits.get("scale", 0.0) / 2  # half a step beyond the last code is still rounded to it
    outside = (edges[1:] < limits["low"] - step) | (edges[:-1] > limits["high"] + step)
    return {**facts, "limits": dict(limits), "clipped": float(counts[outside].sum()) / total}
