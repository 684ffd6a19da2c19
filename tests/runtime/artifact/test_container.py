"""Saved models: what comes back, equal bytes for equal models, and the refusal of everything else."""

from __future__ import annotations

import copy
import errno
import gc
import io
import json
import multiprocessing
import os
import pickle
import re
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.support.models.networks import Net, parse
from tvmq.codegen.compile import vm_pipeline
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ArtifactError, ConfigError, OutputError, TargetError
from tvmq.runtime.artifact import bytecode, code_bytes, container, members, saved_file
from tvmq.runtime.artifact import native_library as native
from tvmq.runtime.artifact.code_bytes import BITCODE, BYTECODE, CONSTANTS, MODULE, NATIVE
from tvmq.runtime.artifact.container import MANIFEST, MEMBERS, unpack
from tvmq.runtime.artifact.module_bytes import module_from_bytes, module_to_bytes

SMALL = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8,), "float32"), w: R.Tensor((8,), "float32")):
        with R.dataflow():
            y = R.multiply(x, w)
            z = R.exp(y)
            R.output(z)
        return z
"""
RESHAPE = """
# from tvm.script import ir as I
# from tvm.script import relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8,), "float32")):
        with R.dataflow():
            y = R.reshape(x, (2, 4))
            R.output(y)
        return y
"""
W, X = np.linspace(-1, 1, 8, dtype=np.float32), np.arange(8, dtype=np.float32)
linux = pytest.mark.skipif(not native.is_linux_x86(resolve_target()), reason="shared libraries are for Linux")


def small() -> tvmq.Executable:
    """A model of one kernel and one constant."""
    return tvmq.build(parse(SMALL, w=W))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small saved model."""
    path = tmp_path_factory.mktemp("small") / "small.tvmq"
    small().save(path)
    return path


def refused(path: Path, kind: type[Exception] = ArtifactError, **options: Any) -> str:
    """The sentence with which a file is refused."""
    with pytest.raises(kind) as caught:
        tvmq.load(path, **options)
    text = str(caught.value)
    assert text.startswith("load: ") and "\n" not in text and ";" in text
    return text


# ---- what comes back


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
    """One that is removed or replaced can be saved again and asked for its module; one that is changed is refused."""
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


# ---- damage


def test_truncated_files(digits, tmp_path):
    data = digits.path.read_bytes()
    places = sorted({0, 1, 4, 30, len(data) - 1, len(data) - 22, *range(0, len(data), len(data) // 15)})
    path = tmp_path / "cut.tvmq"
    for place in places:
        path.write_bytes(data[:place])
        assert str(path) in refused(path)


@pytest.mark.slow
def test_flipped_bytes(digits):
    """A change is refused, or lies where the zip format does not care; then all contents are intact."""
    data = digits.path.read_bytes()
    manifest, blobs = unpack("here", data)
    random = np.random.default_rng(7)
    harmless = 0
    for place in [*random.integers(0, len(data), 150), *range(len(data) - 400, len(data), 7), *range(60)]:
        changed = bytearray(data)
        changed[place] ^= int(random.integers(1, 256))
        try:
            assert unpack("here", bytes(changed)) == (manifest, blobs), f"byte {place}"
            harmless += 1
        except (ArtifactError, TargetError) as error:
            assert "\n" not in str(error)
    assert harmless < 150


def test_what_is_not_needed_is_held_against_how_it_lies_in_the_file(digits, monkeypatch):
    """And not inflated; damage of it is found all the same, and who packs a file anew has the same model."""
    data = digits.path.read_bytes()
    manifest, _ = unpack("here", data)
    assert manifest["packed"].keys() >= {MODULE, CONSTANTS} and MANIFEST not in manifest["packed"]
    readers = {MODULE: container._nothing, CONSTANTS: container._nothing}
    anew = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(anew, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name), compresslevel=1)
        begin = old.getinfo(MODULE).header_offset + 30 + len(MODULE)
    assert anew.getvalue() != data and unpack("here", anew.getvalue(), lambda _: readers)[0] == manifest
    for place in (begin, begin + 100):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(ArtifactError, match="'module.json' is damaged|is no tvmq file, or it is damaged"):
            unpack("here", bytes(changed), lambda _: readers)
    inflated: list[str] = []
    readinto = members.DeflatedMember.readinto
    monkeypatch.setattr(members.DeflatedMember, "readinto", lambda m, b: inflated.append(m.name) or readinto(m, b))
    container.load(digits.path)
    assert MODULE not in inflated and BYTECODE in inflated


Change = Callable[[dict[str, bytes]], Any]


def remade(data: bytes, change: Change, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The archive with other members: `change` edits {name: contents}, or gives others."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members = change(members) or members
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, blob in members.items():
            archive.writestr(name, blob)
    return buffer.getvalue()


@pytest.mark.parametrize("change, message", [
    *[(lambda m, n=name: m.pop(n) and None, f"no item named '{name}' in the arch") for name in MEMBERS],
    (lambda m: m.update({"more.txt": b"?"}), "holds 1 members 'more.txt'; it is no tvmq file"),
    (lambda m: m.update({"../evil": b"?"}), "holds 1 members '../evil'"),
    (lambda m: m.update({"a" * 60000: b"?"}), f"holds 1 members '{'a' * 500}...~"),
    (lambda m: m.update({"/etc/passwd": b"?"}), "holds 1 members '/etc/passwd'"),
    (lambda m: m.update({"__main__.pkl": b"?"}), "'__main__.pkl'"),
    *[(lambda m, n=n: m.update({n: m[n] + b"?"}), f"'{n}' is damaged") for n in MEMBERS[1:]],
    (lambda m: m.update({BYTECODE: b""}), f"'{BYTECODE}' is damaged"),
    (lambda m: m.update({MANIFEST: b"{"}), "is no tvmq file, or it is damaged"),
    (lambda m: m.update({MANIFEST: b"\xff\xfe"}), "is no tvmq file, or it is damaged"),
    (lambda m: m.update({MANIFEST: b"[" * 100000}), "is no tvmq file, or it is damaged"),
    (lambda m: m.update({MANIFEST: b"[]"}), "its manifest has no schema version"),
    (lambda m: m.update({MANIFEST: b"{}"}), "its manifest has no schema version"),
    (lambda m: {"mimetype": b"application/zip"}, f"no item named '{MANIFEST}'"),
    (lambda m: {"empty": b""} and m.clear(), f"no item named '{MANIFEST}'"),
])  # fmt: skip
def test_other_members(saved, tmp_path, change, message):
    path = tmp_path / "changed.tvmq"
    path.write_bytes(remade(saved.read_bytes(), change))
    assert message in refused(path)


def edited(data: bytes, place: str, value: Any) -> bytes:
    """The archive with one entry of the manifest changed: place is like "description.inputs.0.shape"."""

    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        *path, last = [int(word) if word.isdigit() else word for word in place.split(".")]
        parent = manifest
        for word in path:
            parent = parent[word]
        if value is None:
            del parent[last]
        else:
            parent[last] = value
        members[MANIFEST] = json.dumps(manifest).encode()

    return remade(data, change)


INDEX = {"input": "x", "sizes": [8], "layer": "rows", "operator": "take"}


@pytest.mark.parametrize("place, value, message", [
    ("schema", 1, "has schema 1, this tvmq .* reads 3 to 5; it was saved by tvmq .*: build and save the model"),
    ("schema", "2", "has schema '2'"), ("schema", None, "no schema version"),
    ("tvm", "0.99.0", "was saved with apache-tvm 0.99.0, this is .*build and save the model again"),
    ("tvm", None, "was saved with apache-tvm None"),
    *((place, value, re.escape(f"'{place}' of the manifest {'is missing' if value is None else f'cannot be {value!r}'}; save"))
      for place, value in [
        ("needs", "avx2"), ("needs", None), ("target", "llvm"), ("arch", 3), ("kernels", []), ("sha256", [1]),
        ("description", 5), ("description.inputs", {}), ("description.ledger", None),
        ("description.names", [["a"]]), ("description.ledger.layers", []), ("description.ledger.stage", 1),
        ("description.outputs", None), ("tvmq", 1), ("tvm_ffi", None), ("description.functions", []),
        ("description.limits", []), ("description.batch", "rows"), ("description.ledger.more", 1),
        ("further", []), ("description.calls", [1]), ("description.calls.unaligned", 0),
        ("description.calls.origins", {}), ("description.indices", {}), ("description.common", {})]),
    *((f"description.{place}", value, re.escape(f"'description.{path}' of the manifest cannot be {wrong!r}; save the model"))
      for place, value, path, wrong in [
        ("inputs.0.name", 4, "inputs[0].name", 4), ("inputs.0.shape", [2, 3.5], "inputs[0].shape[1]", 3.5),
        ("inputs.0.shape", [True], "inputs[0].shape[0]", True), ("inputs.0.shape", [-1], "inputs[0].shape[0]", -1),
        ("inputs.0.shape", [2**63], "inputs[0].shape[0]", 2**63), ("inputs.0.color", "red", "inputs[0].color", "red"),
        ("inputs.0.dtype", "object", "inputs[0].dtype", "object"), ("inputs.0.dtype", "f99", "inputs[0].dtype", "f99"),
        ("inputs.0.dtype", 1, "inputs[0].dtype", 1), ("inputs.0.scale", "1", "inputs[0].scale", "1"),
        ("functions", {"quantized_main": {"inputs": [], "outputs": {}}}, "functions.quantized_main.outputs", {}),
        ("limits", {"n": {"least": 1, "most": -1, "why": ""}}, "limits.n.most", -1),
        ("calls.unaligned", [1], "calls.unaligned[0]", 1), ("calls.functions.0", ["f"], "calls.functions[0]", ["f"]),
        ("calls.functions.0", ["f", 7], "calls.functions[0][1]", 7), ("calls.functions", "zz", "calls.functions", "zz"),
        ("calls.origins.0.macs", "7", "calls.origins[0].macs", "7"),
        ("calls.origins.0.layers", [7], "calls.origins[0].layers[0]", 7),
        ("indices", [{**INDEX, "input": "rows"}], "indices[0].input", "rows"),
        ("indices", [{**INDEX, "sizes": ["rows"]}], "indices[0].sizes[0]", "rows"),
        ("indices", [{**INDEX, "sizes": [-8]}], "indices[0].sizes[0]", -8),
        ("indices", [{**INDEX, "sizes": []}], "indices[0].sizes", []),
        ("indices", [{**INDEX, "sizes": [8, 8]}], "indices[0].sizes", [8, 8])]),
    ("needs", ["avx2", 1], r"'needs\[1\]' of the manifest"),
    ("kernels", {"x": 3}, "'kernels.x' of the manifest"),
    ("description.inputs.0.shape", [2**40, 2**20], "TVM cannot use the code"),
    ("description.functions", {"quantized_main": {"inputs": [], "outputs": []}}, "TVM cannot use the code"),
    ("sha256.vm.bin", "0", "'vm.bin' is damaged"),
])  # fmt: skip
def test_other_manifests(saved, tmp_path, place, value, message):
    path = tmp_path / "changed.tvmq"
    if place == "sha256.vm.bin":
        hashes = unpack("here", saved.read_bytes())[0]["sha256"]
        path.write_bytes(edited(saved.read_bytes(), "sha256", {**hashes, BYTECODE: "0"}))
    else:
        path.write_bytes(edited(saved.read_bytes(), place, value))
    assert re.search(message, refused(path))


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A saved model of any number of rows, with code of its own for two."""
    path = tmp_path_factory.mktemp("free") / "free.tvmq"
    rows = SMALL.replace("x: R.Tensor((8,)", 'x: R.Tensor(("n", 8)')
    tvmq.build(parse(rows, w=W), sizes={"n": [2]}).save(path)
    return path.read_bytes()


@pytest.mark.slow_cases("batch-m-*", "common.0.sizes-value1*")
@pytest.mark.parametrize("place, value, message", [
    ("batch", "m", "'description.batch' of the manifest cannot be 'm'"),
    ("common.0.sizes", {}, "'description.common[0].sizes.n' of the manifest is missing"),
    ("common.0.sizes", {"n": 2, "m": 1}, "'description.common[0].sizes.m' of the manifest cannot be 1"),
    ("common.0.sizes.n", 0, "'description.common[0].sizes.n' of the manifest cannot be 0"),
    ("common.0.function", "main", "'description.calls.common.main' of the manifest is missing"),
    ("calls.common", {}, "'description.calls.common.main_1' of the manifest is missing"),
    ("calls.common.main_1.unaligned", [9], "'description.calls.common.main_1.unaligned[0]' of the manifest cannot be 9"),
])  # fmt: skip
def test_other_manifests_of_free_sizes(free: bytes, tmp_path: Path, place: str, value: Any, message: str) -> None:
    path = tmp_path / "changed.tvmq"
    path.write_bytes(edited(free, f"description.{place}", value))
    assert f"{message}; save the model again" in refused(path)


@pytest.mark.parametrize("place, value, message", [
    ("inputs.0.shape", [9], "run: the code takes other inputs than its description says"),
    ("inputs.0.shape", [4, 2], "run: the code takes other inputs than its description says"),
    ("inputs.0.dtype", "float64", "run: the code takes other inputs than its description says"),
    ("inputs", [{"name": name, "shape": [8], "dtype": "float32"} for name in "xy"], "run: the code takes other inputs"),
    ("outputs", [], "run: the code gives 1 results, its description names 0; build the model and save it again"),
])  # fmt: skip
def test_a_description_of_other_code(saved: Path, free: bytes, tmp_path: Path, place: str, value: Any, message: str):
    path = tmp_path / "changed.tvmq"
    path.write_bytes(edited(free if place == "outputs" else saved.read_bytes(), f"description.{place}", value))
    exe = tvmq.load(path)
    feed = {info.name: np.zeros([3 if n == "n" else n for n in info.shape], info.dtype) for info in exe.input_info}
    with pytest.raises(ArtifactError, match=f"^{re.escape(message)}") as caught:
        exe.run(feed)
    assert "\n" not in str(caught.value) and str(caught.value).endswith("build the model and save it again")


def test_further_entries_of_the_manifest_do_no_harm(saved, tmp_path):
    path = tmp_path / "changed.tvmq"
    path.write_bytes(edited(saved.read_bytes(), "comment", "from a friend"))
    assert np.array_equal(tvmq.load(path)(X), small()(X))


def test_a_cpu_with_more_features(saved, tmp_path):
    path = tmp_path / "more.tvmq"
    needs = [*sorted(resolve_target().needs), "hyperdrive", "amx-tile9"]
    path.write_bytes(edited(saved.read_bytes(), "needs", needs))
    text = refused(path, TargetError)
    assert "needs amx-tile9, hyperdrive, which this CPU lacks; build the model here" in text
    path.write_bytes(edited(saved.read_bytes(), "arch", "riscv"))
    assert "was built for riscv, this CPU is" in refused(path, TargetError)


def test_contents_that_only_look_right(saved, tmp_path):
    """Right hashes, wrong code: what TVM says becomes a sentence."""

    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        members[BYTECODE] = b"no bytecode"
        manifest["bytecode"] = manifest["sha256"][BYTECODE] = container._sha256(members[BYTECODE])
        members[MANIFEST] = json.dumps(manifest).encode()

    path = tmp_path / "changed.tvmq"
    path.write_bytes(remade(saved.read_bytes(), change))
    assert "TVM cannot read the code" in refused(path)


def test_a_foreign_way_of_packing(saved, tmp_path):
    path = tmp_path / "packed.tvmq"
    path.write_bytes(remade(saved.read_bytes(), lambda m: None, zipfile.ZIP_LZMA))
    assert "packed in an unknown way" in refused(path)
    encrypted = bytearray(saved.read_bytes())
    first = encrypted.index(b"PK\x01\x02")
    encrypted[first + 8] |= 1
    path.write_bytes(encrypted)
    assert "is encrypted" in refused(path)


def test_a_member_that_is_there_twice(saved, tmp_path):
    path = tmp_path / "twice.tvmq"
    path.write_bytes(saved.read_bytes())
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "a") as archive:
        archive.writestr(MODULE, b"{}")
    assert f"holds 2 members '{MODULE}'" in refused(path)


@pytest.mark.slow
def test_a_zip_bomb_is_not_unpacked(saved, tmp_path, monkeypatch):
    path = tmp_path / "bomb.tvmq"
    path.write_bytes(remade(saved.read_bytes(), lambda m: m.update({CONSTANTS: bytes(10**8)})))
    assert path.stat().st_size < 10**6

    def unpacked(*_: Any) -> None:
        raise AssertionError("unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", unpacked)
    assert "bytes packed into" in refused(path)


def test_a_model_that_compresses_too_well_is_stored_plainly(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "UNPACKED_BASE", 0)
    monkeypatch.setattr(container, "RATIO", 2)
    exe = tvmq.build(parse(SMALL, w=np.zeros(8, np.float32)))
    exe.save(tmp_path / "zeros.tvmq")
    with zipfile.ZipFile(tmp_path / "zeros.tvmq") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    assert np.array_equal(tvmq.load(tmp_path / "zeros.tvmq")(X), exe(X))


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), bytes(1000)])
def test_other_files(tmp_path, data):
    path = tmp_path / "other.tvmq"
    path.write_bytes(data)
    assert "is no tvmq file, or it is damaged" in refused(path)


@pytest.mark.parametrize("name", ["net.onnx", "net.pt2"])
def test_a_float_model_is_called_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"anything")
    assert "it is named as a float model: `tvmq quantize` makes a .tvmq of one" in refused(tmp_path / name)


def test_no_file(tmp_path, monkeypatch):
    assert "there is no such file; `tvmq quantize` makes one" in refused(tmp_path / "none.tvmq")
    assert "cannot be read" in refused(tmp_path)
    assert "cannot be read" in refused(tmp_path / "nul\0l")
    path = tmp_path / "big.tvmq"
    path.write_bytes(bytes(100))
    monkeypatch.setattr(saved_file, "LARGEST_FILE", 99)
    assert refused(path) == f"load: '{path}' has 100 bytes, the limit is 99; it is no tvmq file"


# ---- saving


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        small().save(tmp_path / "m.tvmq")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "m.tvmq").stat().st_mode) == 0o640


def test_saving_takes_text_as_path_and_replaces_files(tmp_path):
    path = tmp_path / "m.tvmq"
    path.write_bytes(b"old")
    digest = small().save(str(path))
    assert tvmq.load(str(path), sha256=digest).target == small().target
    assert os.listdir(tmp_path) == ["m.tvmq"]


@pytest.mark.parametrize("name, reason", [
    ("none/m.tvmq", "No such file or directory"), ("folder", "Is a directory"), ("nul\0l", "null"),
    ("x" * 300, "File name too long"), ("file/m.tvmq", "Not a directory"),
])  # fmt: skip
def test_places_where_nothing_can_be_saved(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"file")
    with pytest.raises(OutputError) as caught:
        small().save(tmp_path / name)
    text = str(caught.value)
    assert text.startswith("save: '") and reason in text and text.count("\n") == 0
    assert "nothing was changed; make room or name another place" in text
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"] and not os.listdir(tmp_path / "folder")


def failure(code: int) -> OSError:
    """What the system says."""
    return OSError(code, os.strerror(code))


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, KeyboardInterrupt])
@pytest.mark.parametrize("step", ["open", "fdopen", "fsync", "replace"])
@pytest.mark.parametrize("before", [None, b"the file that was there"])
def test_a_save_that_fails_leaves_what_was_there(tmp_path, monkeypatch, error, step, before):
    """A full disk, a missing permission, an interrupt: at any step."""
    path = tmp_path / "m.tvmq"
    if before is not None:
        path.write_bytes(before)
    exe = tvmq.build(parse(RESHAPE))

    def fail(*_: Any, **__: Any) -> None:
        raise error if error is KeyboardInterrupt else failure(error)

    owner = Path if step == "replace" else os
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, fail)
        with pytest.raises((OutputError, KeyboardInterrupt)) as caught:
            exe.save(path)
    if error is KeyboardInterrupt:
        assert caught.type is KeyboardInterrupt
    else:
        assert os.strerror(error) in str(caught.value) and str(path) in str(caught.value)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([before] if before is not None else [])
    exe.save(path)
    assert np.array_equal(tvmq.load(path)(X), exe(X))


@pytest.mark.slow
def test_a_full_temporary_folder_does_not_matter(tmp_path, monkeypatch):
    """TVM writes code to files; a full disk must not truncate it. On Linux those files lie in memory."""
    if not hasattr(os, "memfd_create"):
        pytest.skip("needs files in memory")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    small().save(tmp_path / "m.tvmq")
    monkeypatch.setattr("tempfile.tempdir", None)
    assert np.array_equal(tvmq.load(tmp_path / "m.tvmq")(X), small()(X))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda exe: pickle.loads(pickle.dumps(exe))])
@pytest.mark.parametrize("was_loaded", [False, True])
def test_executables_pickle_and_copy(
    saved: Path, copied: Callable[[tvmq.Executable], tvmq.Executable], was_loaded: bool
) -> None:
    exe = tvmq.load(saved, num_threads=2) if was_loaded else small()
    other = copied(exe)
    assert other is not exe
    assert np.array_equal(other(X), exe(X))
    assert (other.input_info, other.target.name, other.num_threads) == (
        exe.input_info,
        exe.target.name,
        exe.num_threads,
    )
    assert other.save(saved.with_name("copy.tvmq")) == exe.save(saved.with_name("again.tvmq"))


@pytest.mark.slow
def test_an_executable_goes_to_a_spawned_process(saved: Path) -> None:
    exe = tvmq.load(saved)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply_async(exe.run, ({"x": X},)).get(timeout=120)
    assert np.array_equal(result[0], exe(X))


def test_the_sha256_is_text(saved: Path) -> None:
    for wrong in (5, b"x"):
        with pytest.raises(
            ConfigError, match=r"^load: sha256 must be the text that `save` returned. Got (5|b'x') instead$"
        ):
            tvmq.load(saved, sha256=wrong)  # type: ignore[arg-type]


def test_a_target_that_tvm_refuses(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        blobs = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(blobs.pop(MANIFEST))
    manifest["target"]["mattr"] = 1.5
    (tmp_path / "m.tvmq").write_bytes(container.pack(manifest, blobs))
    with pytest.raises(
        ArtifactError, match=r"'target' of the manifest is wrong \(.*\); save the model again$"
    ) as caught:
        tvmq.load(tmp_path / "m.tvmq")
    assert "\n" not in str(caught.value)


def test_a_manifest_of_many_entries_is_refused_before_it_is_read(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        blobs = {name: archive.read(name) for name in archive.namelist()}
    blobs[MANIFEST] = b"[" + b"[]," * 3_000_000 + b"0]"
    (tmp_path / "m.tvmq").write_bytes(remade(saved.read_bytes(), lambda _: blobs))
    tracemalloc.start()
    with pytest.raises(ArtifactError, match=r"its manifest has 9000003 bytes and 6000001 entries, the limits are"):
        tvmq.load(tmp_path / "m.tvmq")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40e6  # the text alone has 9


@pytest.mark.slow
@linux
def test_code_is_unmapped_with_the_last_executable(saved: Path) -> None:
    def mappings() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    expected = tvmq.load(saved)(X)
    gc.collect()
    before = mappings()
    results = [tvmq.load(saved)(X) for _ in range(30)]
    gc.collect()
    assert mappings() < before + 20  # 60, were they kept
    assert all(np.array_equal(result, expected) for result in results)  # and these are memory of their own
