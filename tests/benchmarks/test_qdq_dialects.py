"""Codes of a file that another tool runs, by the names of our variables, and the bounds of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.formats.onnx.exporter.test_dialects import quantized, residual
from tests.support.models.networks import feeds_of

pytest.importorskip("onnxruntime")


@pytest.mark.slow
def test_codes_are_compared_by_name(script: Any, tmp_path: Path) -> None:
    dialects, module = script("qdq_dialects"), quantized(residual())
    tvmq.to_onnx(module, tmp_path / "net.onnx")
    run = dialects.onnxruntime_run(dialects.watched(tmp_path / "net.onnx"), optimized=False)
    feeds = feeds_of(residual())[:2]
    codes, _, largest = dialects.compare_codes(module, run, feeds)
    assert codes == 2 * (3 * 64 + 3 * 4 * 64 + 2 * 4) and largest <= 1

    def wrong(feed: Any) -> dict[str, np.ndarray]:
        found = {name: np.array(value) for name, value in run(feed).items()}
        name = next(name for name in found if name.endswith(dialects.CODES))
        found[name].flat[0] = found[name].flat[0] ^ 64
        return found

    assert dialects.compare_codes(module, wrong, feeds)[2] == 64


def test_bounds(script: Any) -> None:
    failures = script("qdq_dialects").failures
    good = {"name": "a W8A8", "differing": 5, "back": 0, "operators": {"largest": 1, "worst": "-"}}
    assert (
        failures(
            [good, good | {"name": "a tensorrt", "back": 7, "refused": 0}, good | {"name": "b exact", "floats": 2}]
        )
        == []
    )
    bad = [
        good | {"back": 3},
        good | {"refused": 2},
        good | {"operators": {"largest": 2, "worst": "conv"}},
        good | {"name": "a exact", "floats": 0},
    ]
    assert failures(bad) == [
        "a W8A8: 3 values differ after the way back", "a W8A8: TensorRT would refuse 2 places",
        "a W8A8: 'conv' differs by 2 steps", "a exact: 5 values differ",
    ]  # fmt: skip
    assert failures(bad[2:3], saturating=True) == []
