"""Libraries by ctypes: results, statuses of wrong arguments, refusals of wrong folders."""

from __future__ import annotations

import ctypes
import hashlib
import json
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from tvmq.errors import ArtifactError, DataError
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.c_library import Buffer, CFunctions, load_library
from tvmq.runtime.inputs import aligned_zeros

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
NULL, SHORT, MISALIGNED, SHORT_WORKSPACE, NO_SUCH, NOT_INITIALIZED, WRONG_THREADS = -1, -2, -3, -4, -6, -8, -9


def test_results_are_those_of_the_definition(digits, digits_folder):
    model = load_library(digits_folder)
    assert model.input_info == digits.exe.input_info and model.output_info == digits.exe.output_info
    for picture, expected in zip(digits.pictures, digits.expected, strict=True):
        np.testing.assert_array_equal(model.run({"image": picture[None]})[0], expected)
        np.testing.assert_array_equal(model(picture[None]), expected)
    assert str(digits_folder) in repr(model)


def test_inputs_are_checked_as_those_of_an_executable(digits, digits_folder):
    model = load_library(digits_folder)
    with pytest.raises(DataError, match="input 'image' has shape"):
        model.run({"image": digits.pictures[0]})
    with pytest.raises(DataError, match="the model has no input 'picture'"):
        model.run({"picture": digits.pictures[:1]})


class Caller:
    """Calls of NAME_run with buffers of any kind."""

    def __init__(self, folder: Path) -> None:
        self.functions = CFunctions(folder / "libdigits.so", "digits")
        self.image, self.scores = aligned_zeros((1, 1, 16, 16), "float32"), aligned_zeros((1, 10), "float32")
        self.functions.init()
        self.workspace = aligned_zeros([self.functions.workspace_bytes(None, 1)], "uint8")

    def run(self, change: str = "", by: int = 0, *, null: bool = False) -> int:
        """Status of a run; one of the buffers is shorter by so many bytes, begins later, or is null."""
        buffers = {
            name: Buffer(array.ctypes.data, array.nbytes)
            for name, array in (("image", self.image), ("scores", self.scores), ("workspace", self.workspace))
        }
        if null:
            buffers[change].data = None
        elif by < 0:
            buffers[change].bytes += by
        elif by:
            buffers[change].data += by
        return int(
            self.functions.run(
                None, ctypes.byref(buffers["image"]), ctypes.byref(buffers["scores"]), buffers["workspace"], None
            )
        )


@pytest.fixture(scope="module")
def caller(digits_folder: Path) -> Caller:
    """A caller of the library."""
    return Caller(digits_folder)


def test_wrong_buffers_get_a_status(caller, digits):
    caller.image[...] = digits.pictures[0]
    assert caller.run() == 0
    np.testing.assert_array_equal(caller.scores, digits.expected[0])
    assert [caller.run(name, null=True) for name in ("image", "scores", "workspace")] == [NULL] * 3
    assert [caller.run(name, -1) for name in ("image", "scores")] == [SHORT] * 2
    assert caller.run("workspace", -1) == SHORT_WORKSPACE
    assert [caller.run(name, 1) for name in ("image", "scores", "workspace")] == [MISALIGNED] * 3
    assert caller.run("scores", 4) == MISALIGNED


def test_null_arguments_and_wrong_numbers_get_a_status(caller):
    functions, workspace = caller.functions, Buffer(caller.workspace.ctypes.data, caller.workspace.nbytes)
    one = ctypes.byref(Buffer(caller.image.ctypes.data, caller.image.nbytes))
    assert functions.run(None, None, one, workspace, None) == NULL == functions.run(None, one, None, workspace, None)
    assert functions.describe(None) == NULL and functions.workspace_bytes(None, 0) == WRONG_THREADS
    library = ctypes.CDLL(str(functions.path))
    assert library.digits_input(1, None, None) == NO_SUCH == library.digits_output(7, None, None)
    assert library.digits_input(0, None, None) == NULL
    threads = (ctypes.c_uint64 * 3)(2, 0, 0)
    scores = ctypes.byref(Buffer(caller.scores.ctypes.data, caller.scores.nbytes))
    assert functions.run(None, one, scores, workspace, ctypes.byref(threads)) == WRONG_THREADS


def test_every_status_has_a_sentence(caller):
    texts = [caller.functions.text_of(-status) for status in range(16)]
    assert len(set(texts)) == 16 and caller.functions.text_of(5) == "a status that this library does not give"


def test_a_run_before_init_gets_a_status(digits_folder, tmp_path):
    shutil.copy(digits_folder / "libdigits.so", tmp_path)  # a library of its own for the loader
    functions = CFunctions(tmp_path / "libdigits.so", "digits")
    assert functions.run(None, None, None, Buffer(None, 0), None) == NOT_INITIALIZED
    assert functions.workspace_bytes(None, 1) == NOT_INITIALIZED


def test_threads_with_a_workspace_each(digits, digits_folder):
    differing = []

    def run_often(number: int) -> None:
        own = Caller(digits_folder)
        for count in range(50):
            picture = (number + count) % len(digits.pictures)
            own.image[...] = digits.pictures[picture]
            if own.run() or not np.array_equal(own.scores, digits.expected[picture]):
                differing.append((number, count))

    threads = [threading.Thread(target=run_often, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert differing == []


def test_wrong_folders_are_refused(digits_folder, tmp_path):
    with pytest.raises(ArtifactError, match="has 0 libraries of models, one is expected; name a folder"):
        load_library(tmp_path)
    shutil.copytree(digits_folder, tmp_path / "digits")
    facts = json.loads((tmp_path / "digits" / "digits.json").read_text())
    (tmp_path / "digits" / "digits.json").write_text(json.dumps({**facts, "code_hash": "0" * 64}))
    with pytest.raises(ArtifactError, match="is not the library that its .json describes; export it again"):
        load_library(tmp_path / "digits")
    shutil.copytree(digits_folder, tmp_path / "damaged")
    (tmp_path / "damaged" / "libdigits.so").write_bytes(b"\x7fELF")
    with pytest.raises(ArtifactError, match="is no library of a model"):
        load_library(tmp_path / "damaged")
    (tmp_path / "damaged" / "libdigits.so").unlink()
    with pytest.raises(ArtifactError, match="cannot be read"):
        load_library(tmp_path / "damaged", sha256="0" * 64)


def test_hash_of_the_library(digits_folder):
    right = hashlib.sha256((digits_folder / "libdigits.so").read_bytes()).hexdigest()
    load_library(digits_folder, sha256=right)
    with pytest.raises(ArtifactError, match="it is another file"):
        load_library(digits_folder, sha256="0" * 64)
