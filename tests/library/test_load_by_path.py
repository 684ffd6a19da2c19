"""`tvmq.load` of libraries: by folder, .so and .json, without TVM; a model that was exported again; refusals."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tvm import relax, tirx

import tvmq
from tvmq.errors import ArtifactError, ConfigError
from tvmq.runtime import c_library
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import LibraryModel

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
WITHOUT_TVM = """
import sys
import numpy as np
import tvmq
model = tvmq.load(sys.argv[1])
np.save(sys.argv[2], model(np.load(sys.argv[3])))
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"tvm", "tvm_ffi", "onnx", "typer"}))
print(sum(name.startswith("tvmq.") for name in sys.modules))
"""


@pytest.mark.parametrize("name", ["", "libdigits.so", "digits.json"])
def test_folder_library_and_facts_lead_to_the_model(digits, digits_folder, name):
    model = tvmq.load(digits_folder / name)
    assert isinstance(model, LibraryModel) and model.path == digits_folder / "libdigits.so"
    np.testing.assert_array_equal(model(digits.pictures[:1]), digits.expected[0])


@pytest.mark.slow
def test_no_tvm_is_imported(digits, digits_folder, tmp_path):
    np.save(tmp_path / "in.npy", digits.pictures[:1])
    paths = [str(digits_folder), str(tmp_path / "out.npy"), str(tmp_path / "in.npy")]
    command = [sys.executable, "-c", WITHOUT_TVM, *paths]
    foreign, own = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert foreign == "" and int(own) <= 14
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), digits.expected[0])


def export_sum(folder: Path, addend: float) -> None:
    """y = x + addend as a library."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((4,), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.add(x, relax.const(np.float32(addend))))
        builder.emit_func_output(y)
    tvmq.export_library(builder.get(), folder)


@pytest.mark.parametrize("has_proc", [True, False])
def test_a_model_that_was_exported_again_is_the_new_one(tmp_path, monkeypatch, has_proc):
    if not has_proc:
        monkeypatch.setattr(c_library, "OPEN_FILES", tmp_path / "none")
    folder, zeros = tmp_path / "sum", np.zeros(4, np.float32)
    models = []
    for addend in (1, 2, 3):
        export_sum(folder, addend)
        models.append(tvmq.load(folder))
    assert [model(zeros).tolist() for model in models] == [[1] * 4, [2] * 4, [3] * 4]


def test_a_library_is_in_a_process_once(digits_folder):
    first, second = (tvmq.load(digits_folder)._functions._library._handle for _ in range(2))
    assert first == second


def test_a_saved_model_may_have_any_name(digits, tmp_path):
    digits.exe.save(tmp_path / "net.so")
    assert isinstance(tvmq.load(tmp_path / "net.so"), tvmq.Executable)


def test_a_library_alone_is_loaded_under_any_name(digits, digits_folder, tmp_path):
    shutil.copy(digits_folder / "libdigits.so", tmp_path / "deploy.so")
    (tmp_path / "deploy.json").write_text('{"nodes": []}')  # of something else
    model = tvmq.load(tmp_path / "deploy.so")
    assert model.input_info == digits.exe.input_info
    assert list(map(str, model.output_info)) == list(map(str, digits.exe.output_info))
    assert (model.facts["name"], model.facts["targets"]) == ("digits", [{"name": digits.exe.target.name, "needs": []}])
    np.testing.assert_array_equal(model(digits.pictures[:1]), digits.expected[0])


def test_damaged_libraries_alone_are_refused(digits_folder, tmp_path):
    """A name is looked for in bytes that may be anything; nothing of them is loaded without one."""
    whole = (digits_folder / "libdigits.so").read_bytes()
    path = tmp_path / "deploy.so"
    headers = [whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :] for at in (4, 5, 32, 39, 54, 56)]
    without_name = whole.replace(b"libdigits.so\0", b"LIBdigits.so\0")
    for data in (*(whole[:size] for size in (4, 40, 64, 100, 600)), *headers, without_name):
        path.write_bytes(data)
        with pytest.raises(ArtifactError, match="deploy.so' is no library of a model"):
            tvmq.load(path)


def test_refusals(digits_folder, tmp_path):
    with pytest.raises(
        ArtifactError, match=re.escape(f"load: '{tmp_path}' has 0 libraries of models, one is expected")
    ):
        tvmq.load(tmp_path)
    with pytest.raises(
        ConfigError, match="is a library, which has machine code alone; load the .tvmq file it was exported from"
    ):
        tvmq.load(digits_folder, code=False)
    (tmp_path / "other.json").write_text(json.dumps({"schema": 1, "name": "other"}))
    with pytest.raises(ArtifactError, match="other.json' describes no library of a model; name the .so"):
        tvmq.load(tmp_path / "other.json")
    with pytest.raises(ArtifactError, match="load: "):
        tvmq.load(tmp_path / "none")


def test_a_library_alone_of_dynamic_sizes(tmp_path):
    rows, builder = tirx.Var("rows", "int64"), relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((rows, 4), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.relu(x))
        builder.emit_func_output(y)
    model = tvmq.load(tvmq.export_library(builder.get(), tmp_path / "deploy.so").library)
    assert (model.input_info[0].shape, model.output_info[0].shape) == (("rows", 4), ("rows", 4))
    for count in (1, 5, 3):
        array = np.arange(-4, 4 * count - 4, dtype="float32").reshape(count, 4)
        np.testing.assert_array_equal(model(array), np.maximum(array, 0))
