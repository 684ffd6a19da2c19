"""Bad input, once through Python and once through the command line: what is refused, with which words, and that
nothing is left behind.

What concerns one part alone is tested there: ONNX files in frontends/onnx/test_load.py, options in test_config.py, saved
calibrations in observers/test_result.py, arrays in runtime/test_inputs.py, saved models in artifact/test_container.py.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tvmq
from tests.support.models.networks import Net
from tvmq.calibration.dataset import Dataset, Input
from tvmq.errors import (
    CalibrationError,
    ConfigError,
    DataError,
    ModelError,
    OutputError,
    TvmqError,
    UnsupportedOpError,
)
from tvmq.tools.cli.main import main

X = np.random.default_rng(0).standard_normal((8, 3, 8, 8)).astype(np.float32)


def network() -> onnx.ModelProto:
    """A convolution and a head."""
    n = Net((1, 3, 8, 8))
    y = n.op("GlobalAveragePool", n.op("Relu", n.conv("x", 3, 8)))
    return n.model(n.dense(n.op("Flatten", y), 8, 5))


@dataclass
class Place:
    """A folder with a model and its data; `command` runs the command line there."""

    folder: Path
    command: Callable[..., Any]

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def listing(self) -> dict[str, bytes]:
        """All files with their contents."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir()) if path.is_file()}


@dataclass
class Result:
    """What a command left: exit code and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    """Without the saved model."""
    (tmp_path / "model.onnx").write_bytes(network().SerializeToString())
    np.savez(tmp_path / "data.npz", x=X)

    def command(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["tvmq", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        return Result(exit_info.value.code or 0, captured.out, captured.err)

    return Place(tmp_path, command)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """The network, quantized and saved."""
    mod, params = tvmq.from_onnx(network())
    path = tmp_path_factory.mktemp("saved") / "model.tvmq"
    tvmq.build(tvmq.quantize(mod, params, X)).save(path)
    return path


def refused(place: Place, *arguments: object) -> str:
    """The one sentence with which a command ends, having left the folder as it was."""
    before = place.listing()
    result = place.command(*arguments)
    lines = result.err.splitlines()
    assert result.code == 1 and result.out == "", result
    assert lines[-1].startswith("tvmq: ") and "Traceback" not in result.err
    # before it there may be lines of progress, on a terminal a bar
    assert all(line.endswith(" ...") or ": " in line for line in lines[:-1]), result.err
    assert place.listing() == before
    return lines[-1].removeprefix("tvmq: ")


def quantize(place: Place, *more: object) -> str:
    """The sentence of `tvmq quantize`."""
    files = (place / "model.onnx", "--data", place / "data.npz", "-o", place / "out.tvmq")
    return refused(place, "quantize", *files, *more)


# ---- models


def custom(model: onnx.ModelProto) -> None:
    """An operator that nobody knows, after the relu."""
    relu = next(node for node in model.graph.node if node.op_type == "Relu")
    relu.op_type, relu.domain, relu.name = "Swirl", "com.example", "/block/swirl"
    model.opset_import.append(helper.make_opsetid("com.example", 1))


def counting(model: onnx.ModelProto) -> None:
    """An operator whose result's shape depends on values."""
    relu = next(node for node in model.graph.node if node.op_type == "Relu")
    relu.op_type, relu.name = "NonZero", "/block/nonzero"


def with_weight(value: float) -> Callable[[onnx.ModelProto], None]:
    """A model whose first weight is spoilt at one place."""

    def change(model: onnx.ModelProto) -> None:
        array = numpy_helper.to_array(model.graph.initializer[0]).copy()
        array[0, 0, 1, 1] = value
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, model.graph.initializer[0].name))

    return change


def changed(change: Callable[[onnx.ModelProto], None]) -> bytes:
    """The network after a change."""
    model = network()
    change(model)
    return model.SerializeToString()


MODELS = [
    ("missing", None, ModelError, ["model.onnx", "there is no file", "check the path"]),
    ("empty", b"", ModelError, ["model.onnx", "no ONNX", "export it again"]),
    ("text", b"not a model " * 50, ModelError, ["model.onnx", "600 bytes", "no ONNX model"]),
    ("truncated", network().SerializeToString()[:700], ModelError, ["model.onnx", "copy or export it again"]),
    ("unknown operator", changed(custom), UnsupportedOpError,
     ["layer '/block/swirl'", "com.example.Swirl is not supported", "leave this part out"]),
    ("values decide shapes", changed(counting), UnsupportedOpError,
     ["layer '/block/nonzero'", "NonZero", "run it after the network"]),
    ("NaN in a weight", changed(with_weight(np.nan)), ModelError,
     ["weight 'constant_0' holds 1 NaN or infinite of 216 values", "repair the trained model"]),
    ("inf in a weight", changed(with_weight(np.inf)), ModelError, ["weight 'constant_0' holds 1 NaN or infinite"]),
]  # fmt: skip


@pytest.mark.parametrize("content, error, words", [m[1:] for m in MODELS], ids=[m[0] for m in MODELS])
def test_models(place, content, error, words):
    path = place / "model.onnx"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error) as caught:
        mod, params = tvmq.from_onnx(path)
        tvmq.quantize(mod, params, X)
    for sentence in (str(caught.value), quantize(place)):
        assert all(word in sentence for word in words), sentence


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
    ("wrong shape", npz(x=X[:, :, :4]), {"x": X[:, :, :4]}, ["input 'x' has shape", "batchx3x8x8"]),
    ("missing channel", npz(x=X[:, :1]), {"x": X[:, :1]}, ["input 'x' has shape", "batchx3x8x8"]),
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
    (["--nbit-weight", "forty"], 2, ["--nbit-weight", "integer"]),
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


# ---- saved models


def damage(path: Path, kind: str) -> None:
    """Spoil a saved model."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if kind == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif kind == "flipped":
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1 :])
    elif kind == "missing":
        path.unlink()
    elif kind == "foreign":
        path.write_bytes(network().SerializeToString())
    else:
        manifest = json.loads(members["manifest.json"])
        manifest.update({"schema": 99} if kind == "schema" else {"needs": [*manifest["needs"], "hyperdrive"]})
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {**members, "manifest.json": json.dumps(manifest).encode()}.items():
                archive.writestr(name, content)


DAMAGE = {
    "missing": "there is no such file", "truncated": "is no tvmq file, or it is damaged", "flipped": "damaged",
    "foreign": "is no tvmq file", "schema": "has schema 99, this tvmq", "features": "hyperdrive, which this CPU lacks",
}  # fmt: skip


@pytest.mark.slow_cases("run-missing", "run-truncated", "run-flipped")
@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("command", ["run", "verify", "explain", "bench"])
def test_saved_models_that_cannot_be_used(place, saved, kind, command):
    path = place / "broken.tvmq"
    path.write_bytes(saved.read_bytes())
    damage(path, kind)
    with pytest.raises(TvmqError) as caught:
        tvmq.load(path)
    if (kind, command) == ("features", "explain"):  # code is not looked at: only a CPU that runs it needs them
        assert tvmq.explain(tvmq.load(path, code=False)).ledger.layers
        return
    data = ["--data", place / "data.npz"] if command in ("run", "verify") else []
    sentence = refused(place, command, path, *data)
    assert sentence == str(caught.value)
    assert "broken.tvmq" in sentence and DAMAGE[kind] in sentence and ";" in sentence


@pytest.mark.parametrize("command", ["run", "verify", "bench"])
@pytest.mark.parametrize("data, words", [
    ({"x": X[:, :, :4]}, ["input 'x' has shape (1, 3, 4, 8)|input 'x' has shape (8, 3, 4, 8)"]),
    ({"x": X.astype(str)}, ["input 'x' is <U32, the model takes float32"]),
    ({"y": X, "z": X}, ["lacks input 'x'; it holds 'y', 'z'"]),
    ({"x": X[:0]}, ["must hold equally many samples of each input, not 0"]),
], ids=["shape", "type", "name", "empty"])  # fmt: skip
def test_data_of_a_saved_model(place, saved, command, data, words):
    np.savez(place / "bad.npz", **data)
    sentence = refused(place, command, saved, "--data", place / "bad.npz")
    assert all(any(choice in sentence for choice in word.split("|")) for word in words), sentence


def test_a_layer_that_is_not_there(place, saved):
    assert "is '/conv_9'; did you mean '/conv_0'" in refused(place, "explain", saved, "/conv_9")
    assert "/conv_0" in place.command("explain", saved, "/conv_0").out


# ---- outputs


def test_an_output_that_cannot_be_is_said_before_the_work(place):
    (place / "folder").mkdir()
    start = time.perf_counter()
    for output, word in ((place / "none" / "out.tvmq", "there is no folder"), (place / "folder", "is a folder")):
        files = ("quantize", place / "model.onnx", "--data", place / "data.npz", "-o", output)
        assert word in refused(place, *files)
    assert time.perf_counter() - start < 5


LIMITED = """
import resource, sys
from tvmq.tools.cli.main import main
from tvmq.calibration.dataset import Dataset, Input
import tvmq.base.whole_file as whole_file
write = whole_file.write_whole

def limited(path, content):
    # a disk on which only this many bytes have room; the process may be root, who may write everywhere
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    write(path, content)

whole_file.write_whole = limited
main()
"""


def environment(**more: str) -> dict[str, str]:
    """For a process that finds tvmq where this one does, but no kernels that others compiled."""
    return {**os.environ, "TVMQ_CACHE": "", "PYTHONPATH": os.pathsep.join(sys.path), **more}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits of file sizes")
@pytest.mark.parametrize("before", [None, b"the model of yesterday"])
def test_a_disk_that_becomes_full(place, before):
    output = place / "out.tvmq"
    if before is not None:
        output.write_bytes(before)
    listing = place.listing()
    files = ["quantize", "model.onnx", "--data", "data.npz", "--output", "out.tvmq", "--force", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *files], cwd=place.folder, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr == "tvmq: save: 'out.tvmq' could not be written (File too large), nothing was changed; " \
        "make room or name another place\n"  # fmt: skip
    assert place.listing() == listing


def test_results_that_cannot_be_written(place, saved, monkeypatch):
    """`tvmq run -o`: as for models."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    (place / "scores.npz").write_bytes(b"old")
    sentence = refused(place, "run", saved, "--data", place / "data.npz", "-o", place / "scores.npz", "--quiet")
    assert "output: cannot write" in sentence and "scores.npz'" in sentence and "No space left" in sentence


@pytest.mark.slow
def test_a_folder_without_permission(place, monkeypatch):
    """Pretended, since root may write everywhere."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert "no permission to write in" in quantize(place)
    mod, params = tvmq.from_onnx(network())
    exe = tvmq.build(mod, params=params)

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(OutputError, match=r"could not be written \(Permission denied\), nothing was changed"):
        exe.save(place / "out.tvmq")


# ---- interrupts


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("stage", ["import", "quantize", "build"])
def test_an_interrupt_leaves_nothing(digits, tmp_path, stage):
    """Ctrl-C while the command is at work: exit code 130, no output, no temporary files."""
    folder, temporary = tmp_path / "work", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    (folder / "digits.onnx").write_bytes(digits.example.model)
    np.savez(folder / "data.npz", image=digits.example.calibration)
    (folder / "out.tvmq").write_bytes(b"the model of yesterday")
    files = ["quantize", "digits.onnx", "--data", "data.npz", "--output", "out.tvmq", "--force"]
    with subprocess.Popen(
        [sys.executable, "-m", "tvmq.tools.cli", *files],
        cwd=folder, env=environment(TMPDIR=str(temporary)), stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line == f"{stage} ...\n":
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    # Python ends by the signal itself where the interrupt met code that a library runs from C; shells call both 130
    assert process.returncode in (130, -signal.SIGINT), lines + [rest]
    *progress, last = rest.splitlines()  # a stage may end before the interrupt arrives
    assert last == "tvmq: interrupted; nothing half-written is left behind"
    assert not any(line.startswith(("tvmq:", "Traceback", " ")) for line in progress), rest
    assert sorted(os.listdir(folder)) == ["data.npz", "digits.onnx", "out.tvmq"]
    assert (folder / "out.tvmq").read_bytes() == b"the model of yesterday"
    assert os.listdir(temporary) == []


# ---- names and sizes of a model


EVIL = "a\n\x1b[31mtvmq: fine\u202e[bold]"
SHOWN = r"a\n\x1b[31mtvmq: fine\u202e[bold]"


def with_evil_names() -> bytes:
    """The network with layers, and its input, of names that would write on a terminal."""
    model = network()
    for number, node in enumerate(model.graph.node):
        node.name = f"{EVIL}{number}"
        node.input[:] = [EVIL if name == "x" else name for name in node.input]
    model.graph.input[0].name = EVIL
    return model.SerializeToString()


@pytest.mark.slow
def test_names_of_a_model_cannot_write_on_the_terminal(place):
    """In tables, progress and errors of every command that reads one."""
    (place / "model.onnx").write_bytes(with_evil_names())
    np.savez(place / "data.npz", **{"X": X})
    files = (place / "model.onnx", "--data", place / "data.npz", "-o", place / "out.tvmq")
    for arguments in (
        ("quantize", *files, "--no-bench"),
        ("inspect", place / "model.onnx"),
        ("explain", place / "out.tvmq"),
        ("run", place / "out.tvmq", "--data", place / "data.npz"),
        ("compare", place / "model.onnx", place / "out.tvmq", "--data", place / "data.npz"),
    ):
        result = place.command(*arguments)
        printed = result.out + result.err
        assert "\x1b" not in printed and "\u202e" not in printed and "tvmq: fine" not in printed.splitlines(), printed
        assert SHOWN in printed or arguments[0] == "run", (arguments, printed)


def test_a_saved_model_cannot_write_on_the_terminal(place, saved):
    """Names in a manifest that somebody changed: it has no hash of its own."""
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["manifest.json"] = members["manifest.json"].replace(b'"name":"x"', b'"name":"\\u001b[31mx"')
    assert b"u001b" in members["manifest.json"]
    with zipfile.ZipFile(place / "evil.tvmq", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    np.savez(place / "two.npz", a=X, b=X)
    result = place.command("run", place / "evil.tvmq", "--data", place / "two.npz")
    assert r"\x1b[31mx" in result.err and "\x1b" not in result.err


@pytest.mark.parametrize("command", ["inspect", "quantize", "tune", "compare", "doctor"])
def test_the_bound_on_memory_of_the_command_line(place, command):
    data = () if command in ("inspect", "tune") else ("--data", place / "data.npz")
    files = (place / "model.onnx",) * (2 if command == "compare" else 1)
    sentence = refused(place, command, *files, *data, "--max-bytes", "1kB")
    assert "takes" in sentence and "the bound is 1.0 kB" in sentence and "max_bytes" in sentence
    assert place.command(command, *files, *data, "--max-bytes", "much").code == 2
