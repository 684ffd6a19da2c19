"""How many results a sample has: what is counted, and the bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.support.models.dynamic_models import encoder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    onnx.save(encoder(), tmp_path / "encoder.onnx")
    return tmp_path / "encoder.onnx"


def test_results_are_counted(script: Any, path: Path) -> None:
    """A run that adds what is not the sample's own gives several results, one of its own words gives one."""
    table = script("invariance")
    texts = table.read_texts(None, ["ids", "mask"], 50, 4)
    case = table.Case("encoder", path, [], texts)

    def whole(feed: dict[str, np.ndarray], _threads: int) -> list[np.ndarray]:
        return [feed["ids"].sum(axis=1, keepdims=True).astype(np.float32)]

    def own(feed: dict[str, np.ndarray], _threads: int) -> list[np.ndarray]:
        return [(feed["ids"] * feed["mask"]).sum(axis=1, keepdims=True).astype(np.float32)]

    alone, hashes = table.count_results(case, own, 10)
    assert [len(results) for results in hashes] == [1] * 4
    assert [int(result[0]) for result in alone] == [int(text["ids"].sum()) for text in texts]
    assert max(len(results) for results in table.count_results(case, whole, 10)[1]) > 1


def test_texts_end_at_their_first_zero(script: Any, tmp_path: Path) -> None:
    np.savez(tmp_path / "texts.npz", x=np.uint16([[5, 6, 0, 0], [7, 8, 9, 0]]))
    first, second = script("invariance").read_texts(tmp_path / "texts.npz", ["ids", "mask"], 0, 2)
    assert first["ids"].tolist() == [[5, 6]] and second["mask"].tolist() == [[1, 1, 1]]


def test_bound(script: Any) -> None:
    row = {"model": "m", "contestant": "tvmq int8", "most": 1}
    table = script("invariance")
    assert not table.missed([row, {**row, "contestant": "onnxruntime int8", "most": 9}], None)
    assert table.missed([{**row, "most": 2}], None) == ["m: tvmq int8 gives a sample up to 2 results"]
