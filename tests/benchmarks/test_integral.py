"""benchmarks/integral.py on a network of two convolutions and a softmax: rows, bounds, texts."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.support.models.networks import Net

FOLDER = Path(__file__).parents[2] / "benchmarks"


class Task:
    """Three pictures of noise; the score is the mean of the first output."""

    name, metric = "tiny", "psnr"

    def __init__(self, path: Path) -> None:
        n = Net((1, 3, 6, 6))
        y = n.op("GlobalAveragePool", n.conv(n.op("Relu", n.conv("x", 3, 8)), 8, 4))
        onnx.save(n.model(n.op("Softmax", y, axis=1)), path)
        self.model_path, self.per_sample = str(path), np.zeros(0)

    def test_inputs(self, batch: int) -> Iterator[dict[str, np.ndarray]]:
        """Three inputs, the same in each call."""
        random = np.random.default_rng(0)
        return ({"x": random.standard_normal((batch, 3, 6, 6)).astype(np.float32)} for _ in range(3))

    def calibration(self, batch: int, limit: int | None = None) -> Iterator[dict[str, np.ndarray]]:
        """The test samples, for once."""
        del limit
        return self.test_inputs(batch)

    def evaluate(self, predict: Any, batch: int) -> float:
        """Mean of the first output."""
        self.per_sample = np.array([float(predict(feed)[0].mean()) for feed in self.test_inputs(batch)])
        return float(self.per_sample.mean())


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """The script, and its rows about the network, one a setting."""
    pytest.importorskip("onnxruntime")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield measured(tmp_path_factory.mktemp("tiny"))


def measured(folder: Path) -> tuple[Any, list[dict[str, Any]]]:
    """The rows, in the folder of the model."""
    script, zoo, model = (importlib.import_module(name) for name in ("integral", "harness.zoo", "harness.model"))
    task = Task(folder / "tiny.onnx")
    feeds, model = zoo.Feeds(task), model.Model.of_task(task)
    floats = zoo.evaluate(task, model.floats().run)
    return script, [script.measure(task, model, feeds, name, floats) for name in ("usual", "fixed_point")]


@pytest.mark.slow
def test_rows_and_bounds(rows: tuple[Any, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]) -> None:
    script, (usual, fixed) = rows
    assert not usual["integral"] and usual["reasons"] and "float 2" in script.kinds(usual)
    assert fixed["integral"] and fixed["differing"] == 0 and script.kinds(fixed).endswith("float 0")
    assert fixed["sqnr"] > 15 and fixed["ends"].startswith("uint8 to ")
    assert [op.split(" ")[0] for op in fixed["last"]] == ["softmax"]
    assert script.missed(usual) == script.missed(fixed) == []
    script.tell([usual, fixed])
    assert "tiny, fixed_point: behind the core, in floats: softmax '/softmax" in capsys.readouterr().out
    for figures in (usual, fixed):
        assert "-" not in importlib.import_module("harness.report").cells_of(script.COLUMNS, figures)
    assert script.changes([usual, fixed], "integer functions") and script.changes([usual], "fixed_point")
    assert not script.changes([{**fixed, "last": []}], "integer functions")


@pytest.mark.slow
def test_bounds_that_are_missed(rows: tuple[Any, list[dict[str, Any]]]) -> None:
    script, (_, fixed) = rows
    assert script.missed({**fixed, "integral": False}) == ["tiny, fixed_point: not fully integral, 0 reasons"]
    assert script.missed({**fixed, "differing": 3}) == ["tiny, fixed_point: 3 values differ"]
    assert script.missed({**fixed, "operators": {"float32": 1}}) == ["tiny, fixed_point: integral, and yet float 1"]
    assert script.missed({**fixed, "integral": False, "task": "vit_cifar10"}) == []
