"""Bad models, through Python and the command line: damaged or unsupported ones, names that write, memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tvmq
from tests.support.bad_input import X, make_place, network, quantize, refused
from tvmq.errors import ConfigError, ModelError, UnsupportedOpError


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    """Folder without the saved model."""
    return make_place(tmp_path, monkeypatch, capsys)


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
    ("text", b"not a model " * 50, ModelError, ["model.onnx", "600 bytes", "is not an ONNX model"]),
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
    """Names are escaped in tables, progress and errors of every command that reads a model."""
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


@pytest.mark.parametrize("name", [
    "build", "check_backend", "explain", "find_outliers", "inspect", "quantize", "run_calibration", "script", "to_onnx",
])  # fmt: skip
def test_the_pair_of_an_importer_is_no_module(name):
    further = {"check_backend": ("cpu",), "find_outliers": ([X],), "to_onnx": ("m.onnx",)}.get(name, ())
    with pytest.raises(ModelError, match="a module must be a tvm.IRModule. Got tuple instead; importers return a module"):
        getattr(tvmq, name)(tvmq.from_onnx(network()), *further)


def test_what_is_verified_is_an_executable():
    with pytest.raises(ConfigError, match="verify: exe must be an Executable. Got tuple instead; tvmq.build makes one"):
        tvmq.verify(tvmq.from_onnx(network()), X)


@pytest.mark.parametrize("command", ["inspect", "quantize", "tune", "compare", "doctor"])
def test_the_bound_on_memory_of_the_command_line(place, command):
    data = () if command in ("inspect", "tune") else ("--data", place / "data.npz")
    files = (place / "model.onnx",) * (2 if command == "compare" else 1)
    sentence = refused(place, command, *files, *data, "--max-bytes", "1kB")
    assert "takes" in sentence and "the bound is 1.0 kB" in sentence and "max_bytes" in sentence
    assert place.command(command, *files, *data, "--max-bytes", "much").code == 2
