"""Files with code for another architecture: read without LLVM, refused in one sentence, their module built here."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse
from tests.support.models.saved_files import SMALL, W, X, edited, refused, remade
from tvmq.codegen.target import host
from tvmq.codegen.target import saved_target as saved
from tvmq.codegen.target.cpu import NAMES, TRIPLES, host_arch, resolve_target
from tvmq.codegen.target.saved_target import saved_target
from tvmq.errors import TargetError
from tvmq.runtime.artifact import container
from tvmq.runtime.artifact.container import MANIFEST

MACHINES = {"x86": "x86_64", "aarch64": "aarch64"}
OTHER = {"x86": "aarch64", "aarch64": "x86"}[host_arch()]
ARM = [*(name for name, (arch, _) in NAMES.items() if arch == "aarch64"), "neoverse-n1", "a64fx"]


def on(monkeypatch: pytest.MonkeyPatch, arch: str, features: frozenset[str]) -> None:
    """Tests see a machine of that architecture; to ask LLVM of CPUs fails."""

    def no_llvm(*_args: object) -> None:
        raise AssertionError("LLVM is asked")

    monkeypatch.setattr(platform, "machine", lambda: MACHINES[arch])
    monkeypatch.setattr(host, "linux_flags", lambda: frozenset(host.CODE[arch][name] for name in features))
    monkeypatch.setattr(host, "is_compiler_loaded", lambda: False)
    monkeypatch.delenv("TVMQ_CPU", raising=False)
    monkeypatch.setattr(saved, "resolve_target", no_llvm)


def full_name(arch: str, name: str) -> str:
    """A target with its triple, whatever machine resolves it."""
    return f"llvm -mtriple={TRIPLES[arch]} " + (NAMES[name][1] if name in NAMES else f"-mcpu={name}")


def file_for(folder: Path, *targets: str) -> Path:
    """A small model as it is saved on the machines it is for: their own entries have no triple."""
    path = folder / "small.tvmq"
    tvmq.build(parse(SMALL, w=W), target=list(targets) if len(targets) > 1 else targets[0]).save(path)

    def without_triples(parts: dict[str, bytes]) -> None:
        manifest = json.loads(parts[MANIFEST])
        for code in (manifest, *manifest.get("further", ())):
            code["target"].pop("mtriple", None)
        parts[MANIFEST] = json.dumps(manifest).encode()

    path.write_bytes(remade(path.read_bytes(), without_triples))
    return path


@pytest.mark.parametrize("name", [*NAMES, "znver4", "neoverse-n1", "neoverse-v1", "a64fx"])
def test_targets_of_another_architecture_are_read_without_llvm(monkeypatch, name):
    arch = "aarch64" if name in ARM or name == "neoverse-v1" else "x86"
    asked = resolve_target(full_name(arch, name))
    options = {key: value for key, value in asked.tvm.items() if key != "mtriple"}
    on(monkeypatch, "aarch64" if arch == "x86" else "x86", frozenset())
    target = saved_target(options, asked.needs, arch)
    assert (target.arch, target.isa, target.name, target.needs) == (arch, asked.isa, asked.name, asked.needs)
    assert target.tvm["mtriple"] == TRIPLES[arch]


@pytest.mark.parametrize("arch, targets", [
    ("x86", ["x86-64-v3"]), ("aarch64", ["neoverse-n1"]), ("aarch64", ["arm-dotprod"]), ("x86", ["znver4"]),
])  # fmt: skip
def test_a_file_for_another_architecture_is_refused_in_one_sentence(monkeypatch, tmp_path, arch, targets):
    path = file_for(tmp_path, *(full_name(arch, name) for name in targets))
    other = "aarch64" if arch == "x86" else "x86"
    on(monkeypatch, other, frozenset(["neon"] if arch == "x86" else ["avx2"]))
    text = refused(path, TargetError)
    assert f"was built for {arch}, this CPU is {other}; build the module in it here: `tvmq build`" in text


FAT = ["x86-64-v3", "avx512-vnni", "neoverse-n1"]  # docs/saved-models.md


@pytest.mark.parametrize("arch, features, expected", [
    ("aarch64", resolve_target(full_name("aarch64", "neoverse-n1")).needs, 2),
    ("x86", resolve_target(full_name("x86", "x86-64-v3")).needs, 0),
    ("x86", resolve_target(full_name("x86", "avx512-vnni")).needs, 1),
], ids=["arm", "avx2", "vnni"])  # fmt: skip
def test_a_file_for_both_architectures_gives_each_its_own(monkeypatch, tmp_path, arch, features, expected):
    path = file_for(tmp_path, *(full_name("aarch64" if name in ARM else "x86", name) for name in FAT))
    on(monkeypatch, arch, features)
    monkeypatch.setattr(container, "from_bytes", lambda code, target, called: code)
    parts = container.load(path)
    assert parts["target"] is parts["targets"][expected]


def test_a_machine_for_which_no_code_is_there_is_told_of_all(monkeypatch, tmp_path):
    path = file_for(tmp_path, *(full_name("aarch64" if name in ARM else "x86", name) for name in FAT))
    on(monkeypatch, "aarch64", frozenset(["neon"]))
    text = refused(path, TargetError)
    assert "x86-64-v3 (this CPU lacks the architecture x86)" in text and "neoverse-n1 (this CPU lacks dotprod" in text


def test_the_module_of_a_foreign_file_is_explained_and_built_here(tmp_path):
    path = file_for(tmp_path, full_name(OTHER, "neoverse-n1" if OTHER == "aarch64" else "x86-64-v3"))
    exe = tvmq.load(path, code=False)
    assert exe.target.arch == OTHER and str(tvmq.explain(exe))
    assert np.allclose(tvmq.build(exe.module)(X), np.exp(X * W))


def test_without_code_nothing_runs_and_the_file_stays_the_same(tmp_path):
    path = tmp_path / "small.tvmq"
    tvmq.build(parse(SMALL, w=W)).save(path)
    exe = tvmq.load(path, code=False)
    with pytest.raises(TargetError, match="run: the model was loaded without its code; load it without code=False"):
        exe(X)
    with pytest.raises(TargetError, match="loaded without its code"):
        exe.run({"x": X})
    exe.save(tmp_path / "again.tvmq")
    assert (tmp_path / "again.tvmq").read_bytes() == path.read_bytes()


def test_damage_is_found_without_code_too(tmp_path):
    path = tmp_path / "small.tvmq"
    tvmq.build(parse(SMALL, w=W)).save(path)

    def flip(parts: dict[str, bytes]) -> None:
        parts["vm.bin"] = parts["vm.bin"][:-1] + bytes([parts["vm.bin"][-1] ^ 1])

    path.write_bytes(remade(path.read_bytes(), flip))
    assert "'vm.bin' is damaged (its hash differs)" in refused(path, code=False)
    path.write_bytes(edited(path.read_bytes(), "target", {"kind": "llvm", "mcpu": 3}))
    assert refused(path, code=False)


@pytest.mark.skipif(sys.platform != "linux", reason="shared libraries are for Linux")
def test_a_shared_library_for_linux_is_opened_on_linux_alone(monkeypatch, tmp_path):
    """A triple says what the code is for, and not where it is loaded."""
    if host_arch() != "x86":
        pytest.skip("kernels are shared libraries on x86-64 alone")
    path = tmp_path / "small.tvmq"
    tvmq.build(parse(SMALL, w=W), target=full_name("x86", "x86-64")).save(path)
    monkeypatch.setattr("tvmq.runtime.artifact.native_library.sys.platform", "win32")
    monkeypatch.setattr(
        "tvmq.runtime.artifact.code_bytes.load_native", lambda data: pytest.fail("the library is opened")
    )
    assert "built for Linux on x86-64, this is not" in refused(path, TargetError)
