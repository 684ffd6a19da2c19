"""Which features of a CPU a compiled model asks for: those that its code can contain, and no others."""

from __future__ import annotations

import json
import re
import zipfile

import numpy as np
import pytest
import tvm
from tvm.target import codegen

import tvmq
from tests.artifact.test_container import edited, refused, small
from tvmq.artifact.container import MANIFEST
from tvmq.errors import TargetError
from tvmq.target import host
from tvmq.target.cpu import missing_features, resolve_target
from tvmq.target.host import ARM_UNUSED, CODE, X86_CODE, X86_UNUSED

X86, ARM = "x86_64-linux-gnu", "aarch64-linux-gnu"
# What no instruction depends on that a CPU of 64 bits might lack: how LLVM weighs instructions, and what all have.
HINTS = re.compile(
    r"fast|slow|false-deps|prefer|no-bypass|use-|idiv|lea-|tuning-|.*fusion$|allow-light|pad-short|sbb-dep|branch-hint|"
    r"(64bit|64bit-mode|cx8|nopl|x87|vzeroupper|ermsb|fsrm)$"
)
here_x86 = pytest.mark.skipif(resolve_target().arch != "x86", reason="the file is for x86")
# What virtual machines hide, as /proc/cpuinfo of one on a Cascade Lake shows it.
CLOUD = (
    "fpu cmov mmx fxsr sse sse2 ht pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c hypervisor "
    "lahf_lm abm bmi1 avx2 bmi2 avx512f avx512dq avx512cd avx512bw avx512vl avx512_vnni"
)


def cpus(triple: str) -> list[str]:
    """Names of all CPUs that LLVM knows of an architecture."""
    return [str(name) for name in codegen.llvm_get_cpu_archlist(tvm.target.Target({"kind": "llvm", "mtriple": triple}))]


def test_every_feature_of_x86_is_known():
    """That of a newer LLVM is to be entered in cpu_features.py: code, unused, or a hint."""
    seen = frozenset().union(*(host.llvm_features({"kind": "llvm", "mtriple": X86, "mcpu": cpu}) for cpu in cpus(X86)))
    assert {name for name in seen - X86_CODE.keys() - X86_UNUSED if not HINTS.match(name)} == set()
    assert not X86_CODE.keys() & X86_UNUSED and seen >= X86_CODE.keys() | (X86_UNUSED - {"xsave"})


@pytest.mark.parametrize(
    "mcpu", ["haswell", "cascadelake", "znver5", "sapphirerapids", "diamondrapids", "bdver4", "atom"]
)
def test_what_is_not_needed_is_switched_off(mcpu):
    """LLVM compiles with the features that the file names, and with hints: it cannot select others."""
    target = resolve_target({"kind": "llvm", "mtriple": X86, "mcpu": mcpu})
    options = {
        key: value for key, value in target.as_tvm().export().items() if key in ("kind", "mcpu", "mtriple", "mattr")
    }
    compiled = host.llvm_features(options)
    assert target.needs == {name for name in compiled if not HINTS.match(name)}
    assert compiled == target.features - X86_UNUSED and target.needs <= X86_CODE.keys()


@pytest.mark.parametrize("mcpu", ["cascadelake", "znver5", "neoverse-v2"])
def test_only_features_of_code_are_asked_for(mcpu):
    """A CPU that lacks one of the others runs the code; one that lacks a feature of the code is refused by its name."""
    triple = ARM if mcpu.startswith("neoverse") else X86
    target = resolve_target({"kind": "llvm", "mtriple": triple, "mcpu": mcpu})
    for name in target.features:
        expected = (name,) if name in CODE[target.arch] else ()
        assert missing_features(target.needs, target.features - {name}) == expected


def test_a_cloud_machine_that_hides_much():
    """LLVM guesses cascadelake; of what is hidden nothing is corrected but features of code."""
    assumed = host.llvm_features({"kind": "llvm", "mtriple": X86, "mcpu": "cascadelake"})
    assert host.correct(assumed, frozenset(CLOUD.split())) == ()
    assert host.correct(assumed, frozenset(CLOUD.split()) - {"avx512_vnni", "aes"}) == ("-avx512vnni",)
    for flag in set(CLOUD.split()) - set(X86_CODE.values()):
        assert host.correct(assumed, frozenset(CLOUD.split()) - {flag}) == ()


@here_x86
def test_files_name_what_their_code_can_contain(tmp_path):
    small().save(tmp_path / "m.tvmq")
    with zipfile.ZipFile(tmp_path / "m.tvmq") as archive:
        needs = json.loads(archive.read(MANIFEST))["needs"]
    assert needs == sorted(host.host_features() & X86_CODE.keys())


@here_x86
def test_older_files_named_more(tmp_path):
    """They load where what they name beyond their code is hidden; a feature that is unknown is still one that lacks."""
    small().save(tmp_path / "m.tvmq")
    older = sorted(resolve_target().needs | X86_UNUSED)
    (tmp_path / "m.tvmq").write_bytes(edited((tmp_path / "m.tvmq").read_bytes(), "needs", older))
    exe = tvmq.load(tmp_path / "m.tvmq")
    assert np.isfinite(exe(np.zeros(8, np.float32))).all()
    exe.save(tmp_path / "again.tvmq")
    tvmq.load(tmp_path / "again.tvmq")
    (tmp_path / "m.tvmq").write_bytes(edited((tmp_path / "m.tvmq").read_bytes(), "needs", [*older, "flying"]))
    assert "needs flying, which this CPU lacks" in refused(tmp_path / "m.tvmq", TargetError)


def test_older_files_of_arm():
    assert host.still_needed({"neon", "dotprod", *ARM_UNUSED}, "aarch64") == {"neon", "dotprod"}
    assert not CODE["aarch64"].keys() & ARM_UNUSED


@here_x86
@pytest.mark.parametrize("text, mcpu, level", [
    ("x86-64", "x86-64", "generic"), ("x86-64-v2", "x86-64-v2", "generic"), ("x86-64,-rdseed", "x86-64", "generic"),
    pytest.param("haswell", "haswell", "avx2", marks=pytest.mark.isa("avx2")),
    pytest.param("haswell, -fma", "haswell", "generic", marks=pytest.mark.isa("avx2")),
])  # fmt: skip
def test_another_cpu_for_this_one(monkeypatch, text, mcpu, level):
    monkeypatch.setenv(host.VARIABLE, text)
    for target in ("llvm", "llvm -mcpu=native", None):
        found = resolve_target(target)
        assert (found.mcpu, found.isa.name) == (mcpu, level)
    assert host.host_features() == resolve_target().features
    exe = small()
    assert exe.target.mcpu == mcpu and np.isfinite(exe(np.zeros(8, np.float32))).all()


@here_x86
@pytest.mark.parametrize("text, words", [
    ("hasswell", "TVMQ_CPU: LLVM knows no CPU 'hasswell'; write a name of it"),
    ("x86-64,avx2", "TVMQ_CPU: 'avx2' is no change of a feature; write '-rdseed'"),
    ("x86-64,+flying", "TVMQ_CPU: '\\+flying' is no change of a feature"),
    ("bdver4", "TVMQ_CPU: this CPU lacks .*xop of 'bdver4'; name a lesser one"),
])  # fmt: skip
def test_cpus_that_this_one_cannot_stand_for(monkeypatch, text, words):
    if text == "bdver4" and "xop" in host.host_features():
        pytest.skip("this CPU is one that others with xop run on")
    monkeypatch.setenv(host.VARIABLE, text)
    with pytest.raises(TargetError, match=words):
        resolve_target("llvm")
