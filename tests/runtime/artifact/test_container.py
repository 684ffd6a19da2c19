"""Saved models: saving and loading, equal bytes for equal models, and both forms of the kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, parse
from tests.support.models.saved_files import RESHAPE, SMALL, W, X, linux, refused, small
from tvmq.codegen.compile import vm_pipeline
from tvmq.errors import ArtifactError, TargetError
from tvmq.runtime.artifact import bytecode, code_bytes, container
from tvmq.runtime.artifact import native_library as native
from tvmq.runtime.artifact.code_bytes import BITCODE, CONSTANTS, MODULE, NATIVE
from tvmq.runtime.artifact.container import MANIFEST, MEMBERS, unpack
from tvmq.runtime.artifact.module_bytes import module_from_bytes, module_to_bytes


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small saved model."""
    path = tmp_path_factory.mktemp("small") / "small.tvmq"
    small().save(path)
    return path


@pytest.mark.slow
def test_everything_comes_back(digits):
    exe, loaded = digits.exe, tvmq.load(digits.path)
    for picture in digits.example.test[:10]:
        assert np.array_equal(loaded(picture[None]), exe(picture[None]))
    assert (loaded.input_info, loaded.output_info) == (exe.input_info, exe.output_info)
    assert (loaded.names, loaded.ledger, repr(loaded)) == (exe.names, exe.ledger, repr(exe))
    assert list(loaded.kernels.items()) == list(exe.kernels.items())
    assert list(loaded.ledger.layers) == list(exe.ledger.layers)
    assert loaded.target.needs == exe.target.needs
    tvm.ir.assert_structural_equal(loaded.module, exe.module)
    assert str(tvmq.explain(loaded)) == str(tvmq.explain(exe))
    assert tvmq.verify(loaded, digits.pictures(2)).exact


FRESH = """
import sys
import numpy as np
import tvmq
exe = tvmq.load(sys.argv[1])
np.save(sys.argv[2], np.concatenate([exe(x[None]) for x in np.load(sys.argv[3])]))
print(tvmq.build(exe.module).save(sys.argv[4]))
"""


@pytest.mark.slow
def test_a_fresh_process_gives_the_same_results_and_builds_the_same_file(digits, tmp_path):
    """Without anything on PATH: neither saving nor loading needs a compiler."""
    pictures, results = tmp_path / "pictures.npy", tmp_path / "results.npy"
    np.save(pictures, digits.example.test[:10])
    files = (digits.path, results, pictures, tmp_path / "again.tvmq")
    environment = {**os.environ, "PATH": "", "TVMQ_CACHE": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FRESH, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    expected = np.concatenate([digits.exe(x[None]) for x in digits.example.test[:10]])
    assert np.array_equal(np.load(results), expected)
    assert done.stdout.strip() == digits.sha256
    assert (tmp_path / "again.tvmq").read_bytes() == digits.path.read_bytes()
    assert done.stderr == ""


@pytest.mark.slow
def test_equal_modules_give_equal_files(saved, tmp_path, uncached):
    assert small().save(tmp_path / "again.tvmq") == tvmq.load(saved).save(tmp_path / "loaded.tvmq")
    assert (tmp_path / "again.tvmq").read_bytes() == saved.read_bytes()
    other = tvmq.build(parse(SMALL, w=W + 1)).save(tmp_path / "other.tvmq")
    assert other != tvmq.load(saved).save(tmp_path / "again.tvmq")


@pytest.mark.slow_cases("float", "simulated")
@pytest.mark.parametrize("kind", ["float", "simulated", "without kernels"])
def test_other_kinds_of_models(kind, tmp_path):
    net = Net((1, 3, 8, 8))
    mod, params = tvmq.from_onnx(net.model(net.op("Relu", net.conv("x", 3, 4))))
    x = np.random.default_rng(0).standard_normal((1, 3, 8, 8)).astype(np.float32)
    if kind == "float":
        exe = tvmq.build(mod, params=params)
    elif kind == "simulated":
        config = tvmq.qconfig(do_simulation=True, calibrate_mode="global_scale")
        exe = tvmq.build(tvmq.quantize(mod, params, config=config))
    else:
        exe, x = tvmq.build(parse(RESHAPE)), X
    exe.save(tmp_path / "m.tvmq")
    assert np.array_equal(tvmq.load(tmp_path / "m.tvmq")(x), exe(x))


def test_members(digits):
    with zipfile.ZipFile(digits.path) as archive:
        assert sorted(archive.namelist()) == sorted(MEMBERS)
        manifest = json.loads(archive.read(MANIFEST))
        assert b"pickle" not in b"".join(archive.read(name) for name in (MANIFEST, MODULE))
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert manifest["schema"] == 5 and manifest["tvmq"] == tvmq.__version__
    assert manifest["needs"] == sorted(digits.exe.target.needs)
    assert manifest["description"]["inputs"][0]["name"] == "image"


def test_constants_are_stored_once_and_as_they_are():
    mod = parse(SMALL, w=W)
    blobs = module_to_bytes(mod)
    assert blobs[CONSTANTS].count(W.tobytes()) == 1 and len(blobs[CONSTANTS]) < W.nbytes + 100
    assert b"relax.multiply" in blobs[MODULE]
    tvm.ir.assert_structural_equal(module_from_bytes("here", blobs), mod)
    with pytest.raises(ArtifactError, match="here: TVM cannot read 'module.json' .*; save it again"):
        module_from_bytes("here", {**blobs, CONSTANTS: b""})


@pytest.mark.slow
def test_the_hash(digits, saved):
    digest = digits.sha256
    assert len(digest) == 64
    tvmq.load(digits.path, sha256=digest)
    tvmq.load(digits.path, sha256=digest.upper())
    assert f"expected {digest}" in refused(saved, sha256=digest)
    assert "it is not the file that was saved" in refused(digits.path, sha256="")


@pytest.mark.slow
def test_a_loaded_model_keeps_its_file(digits, saved, tmp_path):
    """A model whose file is removed or replaced can be saved again and give its module; a changed file is refused."""
    path, other = tmp_path / "mine.tvmq", tmp_path / "other.tvmq"
    path.write_bytes(digits.path.read_bytes())
    removed = tvmq.load(path)
    path.unlink()
    path.write_bytes(saved.read_bytes())
    replaced = tvmq.load(path)
    assert removed.save(path) == digits.sha256 and path.read_bytes() == digits.path.read_bytes()
    assert np.array_equal(replaced(X), small()(X))
    tvm.ir.assert_structural_equal(removed.module, digits.exe.module)
    tvm.ir.assert_structural_equal(replaced.module, tvmq.load(saved).module)
    changed = tvmq.load(path)
    with open(path, "r+b") as file:
        file.seek(1000)
        file.write(b"changed")
    sentence = f"load: '{path}' was changed while it was in use; load it again"
    other.write_bytes(b"before")
    for asked in (lambda: changed.save(other), lambda: changed.module):
        with pytest.raises(ArtifactError, match=re.escape(sentence)):
            asked()
    assert other.read_bytes() == b"before" and sorted(tmp_path.iterdir()) == [path, other]


@pytest.mark.slow
def test_a_file_is_not_held_in_memory(tmp_path):
    """Neither it nor its constants: TVM has them."""
    weights = np.random.default_rng(0).standard_normal(2**21).astype(np.float32)
    path = tmp_path / "large.tvmq"
    tvmq.build(parse(SMALL.replace("(8,)", f"({weights.size},)"), w=weights)).save(path)
    assert weights.nbytes < path.stat().st_size < 1.1 * weights.nbytes
    tracemalloc.start()
    try:
        container.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < weights.nbytes / 2
    ones = np.ones_like(weights)
    loaded = tvmq.load(path)
    assert np.array_equal(loaded(ones), tvmq.build(loaded.module)(ones))


def test_bytecode_of_another_form_is_read_by_tvm(digits, monkeypatch):
    picture = digits.example.test[:1]
    with monkeypatch.context() as patch:
        patch.setattr(bytecode, "BYTECODE_VERSION", "other")
        assert np.array_equal(tvmq.load(digits.path)(picture), digits.exe(picture))
    monkeypatch.setattr(code_bytes, "LOAD_BYTECODE", "no function of TVM")
    assert np.array_equal(tvmq.load(digits.path)(picture), digits.exe(picture))


# ---- both forms of the kernels


@pytest.mark.slow
def test_bitcode_for_other_systems(monkeypatch, tmp_path):
    """Also the same bytes each time, although TVM writes addresses into it."""
    monkeypatch.setattr(code_bytes, "native_library", lambda library, target: None)
    monkeypatch.setattr(vm_pipeline, "native_kernels", lambda *_: None)
    hashes = {small().save(tmp_path / f"{i}.tvmq") for i in range(3)}
    assert len(hashes) == 1
    _, blobs = unpack("here", (tmp_path / "0.tvmq").read_bytes())
    assert blobs[BITCODE].startswith(b"BC") and not blobs[NATIVE]
    assert np.array_equal(tvmq.load(tmp_path / "0.tvmq")(X), small()(X))


@linux
def test_shared_library_on_linux(saved):
    _, blobs = unpack("here", saved.read_bytes())
    assert blobs[NATIVE].startswith(b"\x7fELF") and not blobs[BITCODE]


@pytest.mark.slow
@linux
def test_shared_library_without_a_temporary_folder_that_may_hold_code(saved, monkeypatch):
    load = native._module

    def forbidden(path: Path) -> Any:
        if not str(path).startswith("/proc/self/fd/"):
            raise RuntimeError("failed to map segment from shared object")
        return load(path)

    monkeypatch.setattr(native, "_module", forbidden)
    for _ in range(2):
        assert np.array_equal(tvmq.load(saved)(X), small()(X))


@linux
def test_shared_library_on_another_system(saved, monkeypatch):
    monkeypatch.setattr(code_bytes, "is_linux_x86", lambda target: False)
    assert "built for Linux on x86-64" in refused(saved, TargetError)
