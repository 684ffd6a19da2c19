"""benchmarks/formats_out.py and litert_kernels.py: rows of the embedded example, and which kernels have which rule."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def needs_the_runtimes() -> None:
    for package in ("tflite", "ai_edge_litert", "tflite_micro"):
        pytest.importorskip(package, reason="pip install 'tvmq[tflite]' ai-edge-litert tflite-micro")


def test_rows_of_the_example(script: Any) -> None:
    task = script("harness.zoo").digits_task()
    rows = {row["tool"]: row for row in script("formats_out").tflite_rows(task, 1)}
    assert (rows["LiteRT reference"]["values"], rows["LiteRT reference"]["differing"]) == (10, 0)
    assert rows["LiteRT reference, layers"]["values"] > 50000 and rows["LiteRT reference, layers"]["differing"] == 0
    assert rows["tflite-micro"]["differing"] == 0
    if (Path(sys.executable).parent / "vela").exists():
        assert int(rows["LiteRT reference"]["u55"]) > 10000


def test_a_value_that_differs_is_counted(script: Any, tmp_path: Path) -> None:
    task, script = script("harness.zoo").digits_task(), script("formats_out")
    qmod, compared = script.network(task, 1, "tflite")

    export = tvmq.to_tflite(qmod, tmp_path / "digits.tflite")
    wanted = export.outputs[0].to_file(compared[0][1][0])
    assert script.differing(export, compared, lambda given: [wanted]) == (10, 0)
    other = np.where(np.arange(10) == 3, wanted ^ 1, wanted).astype(np.int8)
    assert script.differing(export, compared, lambda given: [other]) == (10, 1)


def test_rules_of_kernels(script: Any) -> None:
    script = script("litert_kernels")
    random = np.random.default_rng(1)
    data, shape, weight, bias, factor = script.made("CONV_2D", random)
    codes = random.integers(-128, 128, shape).astype(np.int8)
    sums = ((codes.astype(np.int32) - script.ZX) @ weight.T.astype(np.int32) + bias).astype(np.int32)
    found = script.interpreters(data)["LiteRT, no delegate"](codes)
    wrong = {
        name: int((found != script.apply(rule, sums, factor, zero_point=script.ZY, axis=3, dtype="int8")).sum())
        for name, rule in script.RULES.items()
    }
    assert [name for name, count in wrong.items() if count == 0] == ["twice: up, up"]
