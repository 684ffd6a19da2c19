"""Operators of a quantized model on the same codes, and the errors of a difference in SQNR."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")


def model(path: Path) -> Path:
    """conv -> hard-swish as quantizers write it: 3.0 lies between two codes of the sum."""
    from tests.support.models.quantized_models import Maker

    make = Maker()
    x = make.rounded(make.input("x", (1, 3, 6, 6)), 0.05, 120)
    conv = make.node("Conv", [x, make.weight((4, 3, 3, 3), 0.004, bits=7), make.bias(4, 0.0001)], "conv")
    a = make.rounded(conv, 0.1, 100)
    three = make.node("DequantizeLinear", [make.constant(np.uint8(255)), *make.scale(3 / 255, 0)])
    six = make.rounded(make.node("Add", [a, three], "plus_3"), 6 / 255, 0)
    make.node("QuantizeLinear", [make.node("Mul", [a, six]), *make.scale(0.3, 10)], "y")
    onnx.save(make.model("y"), str(path))
    return path


def feeds() -> list[dict[str, np.ndarray]]:
    """Two samples."""
    random = np.random.default_rng(0)
    return [{"x": random.normal(size=(1, 3, 6, 6)).astype(np.float32)} for _ in range(2)]


def test_operators_differ_by_one_step_at_most(script: Any, tmp_path: Path) -> None:
    found = script("exact.operators").compare_operators(model(tmp_path / "m.onnx"), feeds(), tmp_path)
    assert found.operators == 4
    assert found.values == 2 * (108 + 3 * 64)
    assert found.largest <= 1


def test_a_cut_model_reads_codes_and_gives_codes(script: Any, tmp_path: Path) -> None:
    operators, path = script("exact.operators"), model(tmp_path / "m.onnx")
    loaded = onnx.load(str(path))
    names = operators.computed_codes(loaded)
    codes = {name: np.zeros((1, 4, 4, 4) if i else (1, 3, 6, 6), np.uint8) for i, name in enumerate(names)}
    parts = operators.cut(loaded, codes)
    assert [value.name for value in parts.graph.output] == names
    assert [value.name for value in parts.graph.input] == ["x", *(f"{name}__read" for name in names[:-1])]


@pytest.mark.slow
def test_a_wrong_operator_is_found(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner of ours with one wrong code."""
    operators = script("exact.operators")
    plain = operators._parts

    def broken(*arguments: Any) -> list[Any]:
        _, theirs = plain(*arguments)

        def ours(given: dict[str, np.ndarray]) -> list[np.ndarray]:
            results = [np.array(result) for result in theirs(given)]
            results[2].flat[5] ^= 3
            return results

        return [ours, theirs]

    monkeypatch.setattr(operators, "_parts", broken)
    found = operators.compare_operators(model(tmp_path / "m.onnx"), feeds()[:1], tmp_path)
    assert (found.differing, found.operators) == (1, 4)
    assert found.largest in (1, 3)
    assert found.worst == operators.computed_codes(onnx.load(str(tmp_path / "m.onnx")))[2]


def test_gap_in_sqnr_has_an_error(script: Any) -> None:
    """Equal errors: no gap; the error of the gap is that of a ratio of means."""
    common, qdq = script("harness.zoo"), script("qdq")
    random = np.random.default_rng(0)
    reference = common.Scored(0.0, np.zeros(400), [np.zeros((400, 1), np.float32)])
    noise = [random.normal(size=(400, 1)).astype(np.float32) for _ in range(2)]
    one, other = (common.Scored(0.0, np.zeros(400), [values]) for values in noise)
    assert qdq.sqnr_gap(reference, one, one) == (0.0, 0.0)
    gap, error = qdq.sqnr_gap(reference, one, other)
    assert gap == pytest.approx(10 * np.log10((noise[1] ** 2).sum() / (noise[0] ** 2).sum()), rel=1e-4)
    assert error == pytest.approx(10 / np.log(10) * np.sqrt(2 * 2 / 400), rel=0.2)  # variance of squares: 2


def test_missed_bounds_are_named(script: Any) -> None:
    row = {
        "name": "m", "gap": (-0.5, 0.1), "operators": {"largest": 2, "worst": "add"}, "definition": 1, "back": 3,
        "difference": -1.0, "standard_error": 0.1,
    }  # fmt: skip
    assert len(script("qdq").failures([row])) == 5
    assert [text.split(", ")[0] for text in script("qdq").failures([row], saturating=True)] == [
        "m: 1 values differ from the definition", "m: 3 values differ after the way out and in",
    ]  # fmt: skip
    good = {**row, "gap": (-0.1, 0.1), "operators": None, "definition": 0, "back": None, "difference": 0.0}
    assert script("qdq").failures([good]) == []
