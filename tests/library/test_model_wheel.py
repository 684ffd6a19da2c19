"""A model as a package for pip: bits of the definition without tvmq, what is in it, refusals."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tvmq.errors import ConfigError
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
WHEEL = "digits-1.2.0-py3-none-manylinux2014_x86_64.whl"
ALONE = """
import sys
sys.modules.update(tvmq=None, tvm=None, tvm_ffi=None)  # an import of them fails
sys.path.insert(0, sys.argv[1])
import numpy as np
import digits
pictures = np.load(sys.argv[2])
np.save(sys.argv[3], np.concatenate([digits.run(picture[None]) for picture in pictures]))
try:
    digits.run(pictures[0])
except ValueError as error:
    print(error)
print(digits.__doc__.split(": ")[1], digits.input_info[0])
"""


@pytest.fixture(scope="module")
def wheel(digits, tmp_path_factory) -> Path:
    """The package of the embedded network."""
    export = tvmq.export_library(digits.exe, tmp_path_factory.mktemp("wheel") / "digits", wheel=True, version="1.2.0")
    assert export.wheel is not None
    return export.wheel


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="no pip")
def test_an_installed_package_gives_the_bits_of_the_definition(wheel, digits, tmp_path):
    quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    install = [sys.executable, "-m", "pip", "install", *quiet, "--target", tmp_path / "site", wheel]
    subprocess.run(install, check=True)
    np.save(tmp_path / "in.npy", digits.pictures)
    command = [sys.executable, "-I", "-c", ALONE, *(tmp_path / name for name in ("site", "in.npy", "out.npy"))]
    error, shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.concatenate(digits.expected))
    assert error.startswith("run: input 'image' has shape")
    assert shown == "run(image) -> scores. image float32[1, 1, 16, 16]"


def test_the_package_has_the_library_and_what_opens_it(wheel, digits):
    assert wheel.name == WHEEL
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files["digits/libdigits.so"] == digits.export.library.read_bytes()
    info = "digits-1.2.0.dist-info"
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))}
    assert rows.keys() == files.keys() and rows.pop(f"{info}/RECORD") == ["", ""]
    for name, (digest, size) in rows.items():
        expected = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={expected}", len(files[name]))
    assert b"Requires-Dist: numpy\n" in files[f"{info}/METADATA"]
    copies = {name.removeprefix("digits/_tvmq/") for name in files if "_tvmq" in name}
    rooms = {"__init__.py", "base/__init__.py", "runtime/__init__.py", "state/__init__.py"}
    names = "c_library c_structures inputs library_threads lone_library sample_runs sessions".split()
    states = "model_states pair session_state state_tensor".split()
    loader = {f"runtime/{name}.py" for name in names} | {f"state/{name}.py" for name in states}
    loader |= {f"base/{name}.py" for name in ("cpus", "deprecation", "forks", "index_checks")}
    assert copies == {*rooms, *loader, "errors.py"}
    for name in copies:
        assert b"\nfrom tvmq" not in files[f"digits/_tvmq/{name}"]


@pytest.mark.slow
def test_equal_models_give_equal_packages(wheel, digits, tmp_path):
    again = tvmq.export_library(digits.exe, tmp_path / "digits", wheel=True, version="1.2.0")
    assert again.wheel is not None and again.wheel.read_bytes() == wheel.read_bytes()
    assert tvmq.export_library(digits.exe, tmp_path / "b", name="a__b_", wheel=True).wheel == (
        tmp_path / "b" / "a_b-0.1.0-py3-none-manylinux2014_x86_64.whl"
    )


def test_names_and_versions_are_checked(digits, tmp_path):
    with pytest.raises(ConfigError, match="no program can import 'lambda', a word of Python; choose another name"):
        tvmq.export_library(digits.exe, tmp_path, name="lambda", wheel=True)
    for version in ("", "1.2-beta", "v1", 3):
        with pytest.raises(ConfigError, match=r"version must be one of pip's, such as '1.2.0'. Got .* instead"):
            tvmq.export_library(digits.exe, tmp_path, wheel=True, version=version)
    assert list(tmp_path.iterdir()) == []
