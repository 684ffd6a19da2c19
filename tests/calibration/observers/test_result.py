"""CalibrationResult: saving, loading, and refusal of files that are damaged or of something else."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tvmq.calibration.observers.result import CalibrationResult, TensorResult
from tvmq.calibration.observers.rounding import Rounding
from tvmq.errors import CalibrationError, OutputError


def result() -> CalibrationResult:
    tensors = {
        "input": TensorResult(-1.0, 0.1 + 0.2, "minmax", seen=(-1.0, 2.0), samples=7),
        "block.0/conv \u00e4": TensorResult(
            -0.5,
            1e-300,
            "percentile_99.99",
            {"minmax": 0.25, "percentile_99.99": 0.1},
            (-0.75, 1.0),
            np.array([0.1, -2.5, 1 / 3]),
            7,
        ),
        "empty": TensorResult(0.0, 0.0, "auto", {"minmax": float("inf")}, channel_means=np.zeros(0)),
        "fc": TensorResult(0.0, 6.0, "histogram", channel_means=np.array([1.5])),
    }
    roundings = {
        "conv": Rounding(np.arange(-4, 4, dtype=np.int8).reshape(2, 2, 2), np.array([0.5, -1e-9])),
        "fc": Rounding(np.zeros((0, 3), np.int8)),
    }
    return CalibrationResult(tensors, "model-1", "data-1", {"calibrate_mode": "auto", "bits": 8}, roundings)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "calibration.npz"
    result().save(path)
    return path


def test_round_trip(saved: Path) -> None:
    again = CalibrationResult.load(saved, model_hash="model-1", data_hash="data-1")
    assert again == result() and list(again.tensors) == list(result().tensors)
    for name, tensor in result().tensors.items():
        if tensor.channel_means is None:
            assert again[name].channel_means is None
        else:
            np.testing.assert_array_equal(again[name].channel_means, tensor.channel_means)


def test_equal_results_give_equal_bytes(saved: Path, tmp_path: Path) -> None:
    CalibrationResult.load(saved).save(tmp_path / "again.npz")
    assert saved.read_bytes() == (tmp_path / "again.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.npz", "calibration.npz"]


def test_the_file_is_readable_without_us(saved: Path) -> None:
    with np.load(saved, allow_pickle=False) as arrays:
        document = json.loads(arrays["document"].tobytes())
    assert document["schema_version"] == 2 and document["tensors"][0]["observer"] == "minmax"


@pytest.mark.parametrize("options", [{"model_hash": "model-2"}, {"data_hash": "data-2"}])
def test_stale(saved: Path, options: dict[str, str]) -> None:
    with pytest.raises(CalibrationError, match=r"made for (model|data) '\w+-1', this is '\w+-2'"):
        CalibrationResult.load(saved, **options)


def rewrite(path: Path, **members: np.ndarray) -> None:
    with np.load(path) as arrays:
        np.savez(path, **{**arrays, **members})


def with_document(path: Path, **changes: object) -> None:
    with np.load(path) as arrays:
        document = json.loads(arrays["document"].tobytes())
    text = json.dumps({**document, **changes}).encode()
    rewrite(path, document=np.frombuffer(text, np.uint8))


def test_other_schema_version(saved: Path) -> None:
    with_document(saved, schema_version=1)
    with pytest.raises(CalibrationError, match="schema version 1, this tvmq reads 2; calibrate again"):
        CalibrationResult.load(saved)


@pytest.mark.parametrize("changes", [
    {"tensors": [{"name": "x"}]},
    {"tensors": [{"name": "x", "channels": None, "seen": [0, 1], "low": 1, "high": 0, "observer": ""}]},
    {"tensors": 5},
    {"tensors": []},
    {"settings": 5},
    *({"settings": {"config": config}} for config in (5, {"rules": 5}, {"rules": [5]}, {"rules": None})),
    *(
        {"settings": {"outliers": outliers}}
        for outliers in (
            5, {"x": 5}, {"x": {"split": 5}}, {"x": {"split": [-1]}}, {"x": {"split": ["a"]}}, {"x": {"factors": [1]}},
            {"x": {"factors": {"a": 1}}}, {"x": {"factors": {"-1": 1}}}, {"x": {"factors": {"0": "2"}}},
            {"x": {"factors": {"0": 0}}}, {"x": {"factors": {"0": float("nan")}}},
        )
    ),
])  # fmt: skip
def test_documents_that_make_no_sense(saved: Path, changes: dict[str, object]) -> None:
    with_document(saved, **changes)
    with pytest.raises(CalibrationError, match="damaged, or no calibration result"):
        CalibrationResult.load(saved)


def test_damaged_files(saved: Path) -> None:
    whole = saved.read_bytes()
    flipped = bytearray(whole)
    flipped[whole.index(b"schema_version")] ^= 1
    for damaged in (whole[: len(whole) // 2], b"", b"no zip", bytes(flipped)):
        saved.write_bytes(damaged)
        with pytest.raises(CalibrationError, match="damaged, or no calibration result"):
            CalibrationResult.load(saved)


def test_foreign_archives(saved: Path) -> None:
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("other.txt", "hello")
    with pytest.raises(CalibrationError, match="damaged"):
        CalibrationResult.load(saved)
    rest = {"channel_means": np.zeros(0), "weight_codes": np.zeros(0, np.int8), "shifts": np.zeros(0)}
    np.savez(saved, document=np.frombuffer(b"[1]", np.uint8), **rest)
    with pytest.raises(CalibrationError, match="not a calibration result"):
        CalibrationResult.load(saved)
    np.savez(saved, document=np.array([{"pickled": 1}], dtype=object), **rest)
    with pytest.raises(CalibrationError, match="damaged.*allow_pickle"):
        CalibrationResult.load(saved)


def test_too_large(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvmq.calibration.observers.result.MOST_BYTES", 100)
    with pytest.raises(CalibrationError, match="at most 100 are read"):
        CalibrationResult.load(saved)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match=r"nowhere\.npz.*no such file"):
        CalibrationResult.load(tmp_path / "nowhere.npz")
    with pytest.raises(CalibrationError, match="damaged"):
        CalibrationResult.load(tmp_path)


def test_unwritable(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write .*No such file or directory"):
        result().save(tmp_path / "no" / "folder.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        result().save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_interrupted_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        CalibrationResult({}).save(saved)
    assert saved.read_bytes() == before and list(saved.parent.iterdir()) == [saved]


def test_unknown_tensor_and_impossible_thresholds() -> None:
    with pytest.raises(CalibrationError, match="tensor 'head': no thresholds among those of 4"):
        result()["head"]
    for low, high in ((1.0, 0.0), (float("nan"), 1.0), (0.0, float("inf"))):
        with pytest.raises(CalibrationError, match="observer 'minmax'"):
            TensorResult(low, high, "minmax")
