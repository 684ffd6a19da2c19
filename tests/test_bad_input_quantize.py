"""Bad calibration data, calibrations and options, through Python and the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.bad_input import X, make_place, network, quantize
from tests.support.models.networks import Net
from tvmq.calibration.dataset import Dataset, Input
from tvmq.errors import CalibrationError, ConfigError, DataError, OutputError


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    """Folder without the saved model."""
    return make_place(tmp_path, monkeypatch, capsys)


# ---- calibration data


def npz(**arrays: Any) -> Callable[[Path], None]:
    """Writes these arrays."""
    return lambda path: np.savez(path, **arrays)


def spoilt(value: float) -> np.ndarray:
    """Data with one value of another kind."""
    data = X.copy()
    data[5, 2, 0, 7] = value
    return data


def truncated(path: Path) -> None:
    """An .npz without its end."""
    np.savez(path, x=X)
    path.write_bytes(path.read_bytes()[:3000])


NAMES = {"a": X, "b": X}
DATA = [
    ("missing", lambda path: None, None, ["data.npz"]),
    ("empty file", lambda path: path.write_bytes(b""), None, ["data.npz"]),
    ("text", lambda path: path.write_text("1, 2, 3"), None, ["data.npz"]),
    ("truncated", truncated, None, ["data.npz"]),
    ("pickled", npz(x=np.array([{}], dtype=object)), None, ["data.npz"]),
    ("wrong name", npz(**NAMES), NAMES, ["'x'", "'a', 'b'"]),
    ("wrong shape", npz(x=X[:, :, :4]), {"x": X[:, :, :4]}, ["input 'x' has shape|input 'x' takes", "batchx3x8x8|1x3x8x8"]),
    ("missing channel", npz(x=X[:, :1]), {"x": X[:, :1]}, ["input 'x' has shape|input 'x' takes", "batchx3x8x8|1x3x8x8"]),
    ("rank", npz(x=X.reshape(8, -1)), {"x": X.reshape(8, -1)}, ["input 'x' has shape", "(1, 192)|(8, 192)"]),
    ("text in an array", npz(x=X.astype(str)), {"x": X.astype(str)}, ["input 'x' is <U32, the model takes float32"]),
    ("complex", npz(x=X.astype(complex)), {"x": X.astype(complex)}, ["input 'x' is complex128, the model takes"]),
    ("NaN", npz(x=spoilt(np.nan)), {"x": spoilt(np.nan)}, ["input 'x' holds 1 NaN or infinite", "0, 7]", "repair"]),
    ("inf", npz(x=spoilt(-np.inf)), {"x": spoilt(-np.inf)}, ["input 'x' holds 1 NaN or infinite", "0, 7]"]),
    ("no samples", npz(x=X[:0]), {"x": X[:0]}, ["0"]),
]  # fmt: skip


@pytest.mark.slow_cases("NaN", "inf", "text in an array", "complex")
@pytest.mark.parametrize("write, data, words", [d[1:] for d in DATA], ids=[d[0] for d in DATA])
def test_calibration_data(place, write, data, words):
    path = place / "data.npz"
    path.unlink()
    write(path)
    mod, params = tvmq.from_onnx(network())
    with pytest.raises((DataError, CalibrationError)) as caught:
        tvmq.quantize(mod, params, path if data is None else data)
    for sentence in (str(caught.value), quantize(place)):
        for word in words:
            assert any(choice in sentence for choice in word.split("|")), sentence
        assert "\n" not in sentence


def test_data_of_a_kind_that_cannot_be_read():
    mod, params = tvmq.from_onnx(network())
    with pytest.raises(DataError, match="cannot read int; give an iterable of arrays"):
        tvmq.quantize(mod, params, 5)


def test_several_inputs_of_different_length():
    n = Net((1, 3, 8, 8), (1, 3, 8, 8))
    mod, params = tvmq.from_onnx(n.model(n.op("Add", n.conv("x", 3, 4), n.conv("x1", 3, 4))))
    with pytest.raises(DataError, match="inputs differ in their number of samples: {'x': 8, 'x1': 5}"):
        tvmq.quantize(mod, params, {"x": X, "x1": X[:5]})
    with pytest.raises(DataError, match="input 'x1' is missing"):
        tvmq.quantize(mod, params, [(x[None],) for x in X])


def test_nan_in_a_later_batch_is_found(place):
    batches = [{"x": x[None]} for x in spoilt(np.nan)]
    mod, params = tvmq.from_onnx(network())
    with pytest.raises(DataError, match="batch 5: input 'x' holds 1 NaN"):
        tvmq.quantize(mod, params, iter(batches))


def test_data_that_can_be_read_once_on_a_full_disk(monkeypatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    mod, params = tvmq.from_onnx(network())
    with pytest.raises(OutputError, match=r"batch 0 could not be copied .* \(No space left on device\); make room"):
        tvmq.quantize(mod, params, iter(X[:, None]))


def test_inputs_without_samples():
    inputs = [Input("x", (1, 3), "float32"), Input("rate", (), "int64")]
    with pytest.raises(DataError, match=r"input 'rate' has shape \(8,\), the model takes a single number"):
        list(Dataset([{"x": X[:8, 0, 0, :3], "rate": np.arange(8)}], inputs))
    with pytest.raises(DataError, match="the model has no inputs"):
        Dataset([], [])


# ---- calibrations


@pytest.mark.slow
def test_stale_calibrations(tmp_path):
    """Made for other weights, or for other options."""
    mod, params = tvmq.from_onnx(network())
    calibration = tvmq.run_calibration(mod, params, X)
    calibration.save(tmp_path / "calibration.npz")
    read = tvmq.CalibrationResult.load(tmp_path / "calibration.npz")
    tvmq.quantize(mod, params, calibration=read)
    other = {name: value * 2 for name, value in params.items()}
    words = "the calibration was made for another model or other options .*; calibrate this model anew"
    with pytest.raises(CalibrationError, match=words):
        tvmq.quantize(mod, other, calibration=read)
    with tvmq.qconfig(rules=[tvmq.Rule("/conv_0", None)]), pytest.raises(CalibrationError, match=words):
        tvmq.quantize(mod, params, calibration=read)


# ---- options


@pytest.mark.parametrize("option, words", [
    ({"calibrate_mood": "auto"}, ["calibrate_mood", "calibrate_mode"]),
    ({"calibrate_mode": "hystogram"}, ["hystogram", "histogram"]),
    ({"nbit_weight": 40}, ["nbit_weight", "40"]),
    ({"rules": [tvmq.Rule("*/nothing", None)]}, ["'*/nothing'", "matches none of"]),
])  # fmt: skip
def test_options(option, words):
    mod, params = tvmq.from_onnx(network())
    with pytest.raises(ConfigError) as caught, tvmq.qconfig(**option):
        tvmq.quantize(mod, params, X)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.slow_cases("options0-2-words0", "options1-2-words1")
@pytest.mark.parametrize("options, code, words", [
    (["--calibrate-mood", "auto"], 2, ["--calibrate-mood", "--calibrate-mode"]),
    (["--calibrate-mode", "hystogram"], 2, ["hystogram", "histogram"]),
    (["--nbit-weight", "forty"], 2, ["--nbit-weight", "'forty' is no whole number"]),
    (["--nbit-weight", "40"], 1, ["nbit_weight", "40"]),
    (["--rule", "*/nothing=float"], 1, ["'*/nothing'", "matches none of"]),
    (["--rule", "nonsense"], 1, ["'nonsense' is not PATTERN=SPEC"]),
    (["--target", "llvm -mcpu=haswel"], 1, ["'haswel'", "haswell"]),
    (["--shape", "y=1,3,8,8"], 1, ["'y'"]),
])  # fmt: skip
def test_options_of_the_command_line(place, options, code, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    files = ("quantize", place / "model.onnx", "--data", place / "data.npz", "-o", place / "out.tvmq")
    before = place.listing()
    result = place.command(*files, *options)
    assert result.code == code and result.out == "" and "Traceback" not in result.err
    assert all(word in result.err for word in words), result.err
    assert place.listing() == before
