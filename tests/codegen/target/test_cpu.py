"""Targets: old strings, dicts and Target objects; refusals; instruction set levels; features of this CPU.

Which features of a CPU a compiled model asks for: those that its code can contain, and no others.
"""

from __future__ import annotations

import json
import re
import zipfile

import numpy as np
import pytest
import tvm
from tvm.target import codegen

import tvmq
from tests.support.models.saved_files import edited, refused, small
from tvmq.codegen.target import host
from tvmq.codegen.target.cpu import CpuTarget, host_features, missing_features, resolve_target
from tvmq.codegen.target.host import ARM_UNUSED, CODE, X86_CODE, X86_UNUSED
from tvmq.errors import TargetError
from tvmq.runtime.artifact.container import MANIFEST


def test_plain_llvm_is_this_cpu():
    target = resolve_target("llvm")
    assert target.features == host_features()
    # a Target names the triple of this machine by itself
    for same in (None, {"kind": "llvm"}, "llvm -mcpu=native", tvm.target.Target("llvm")):
        assert resolve_target(same) == target
    assert missing_features(target.needs) == ()


@pytest.mark.parametrize(
    "text", ["llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "llvm -mtriple=x86_64-linux-gnu"]
)
def test_a_target_of_tvm_for_any_architecture_is_the_cpu_that_it_names(text):
    named = resolve_target(text)
    assert resolve_target(tvm.target.Target(named.tvm)).features == named.features


@pytest.mark.parametrize("text, level", [
    ("llvm -mcpu=core-avx2", "avx2"),
    ("llvm -mcpu=haswell", "avx2"),
    ("llvm -mcpu=x86-64-v3", "avx2"),
    ("llvm -mcpu=alderlake", "avxvnni"),
    ("llvm -mcpu=sierraforest", "avxvnni"),
    ("llvm -mcpu=cascadelake -mattr=-avx512bw", "avx512vl"),
    ("llvm -mattr=+avx2,+fma", "avx2"),
    ("llvm -mcpu=skylake-avx512", "avx512bw"),
    ("llvm -mcpu=x86-64-v4", "avx512bw"),
    ("llvm -mcpu=cascadelake", "avx512vnni"),
    ("llvm -mcpu=x86-64-v4 -mattr=+avx512vnni", "avx512vnni"),
    ("llvm -mcpu=sapphirerapids -mattr=-avx512vbmi", "avx512vnni"),
    ("llvm -mcpu=sapphirerapids -mattr=-avx512vnni", "avxvnni"),
    ("llvm -mcpu=znver4", "avx512vbmi"),
    ("llvm -mcpu=haswell -mattr=-fma", "generic"),
    ("llvm -mcpu=x86-64", "generic"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a53", "neon"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76", "dotprod"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "dotprod"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -mattr=-dotprod", "neon"),
    ("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1", "i8mm"),
    ("llvm -mtriple=arm64-apple-macos -mcpu=apple-m4", "i8mm"),
    ("llvm -device=arm_cpu -target=aarch64-linux-gnu -mattr=+neon", "neon"),
    ("llvm -mtriple=armv7a-linux-gnueabihf -mattr=+neon", "generic"),
    ("llvm --mtriple riscv64-linux-gnu -num-cores 4", "generic"),
])  # fmt: skip
def test_level(text, level):
    assert resolve_target(text).isa.name == level


@pytest.mark.parametrize("same", [
    {"kind": "llvm", "mcpu": "haswell", "mattr": ["+avx512f"], "opt-level": 2},
    {"mcpu": "haswell", "mattr": "+avx512f", "opt-level": 2},
    tvm.target.Target({"kind": "llvm", "mcpu": "haswell", "mattr": ["+avx512f"], "opt-level": 2}),
    "llvm -mcpu=haswell -mattr=+avx512f -opt-level=2 -keys=cpu,x86 -libs=mkl -model=unknown -link-params",
])  # fmt: skip
def test_all_forms_mean_the_same(same):
    target = resolve_target(same)
    assert target == CpuTarget("llvm", "haswell", target.features, target.tvm)
    assert target.tvm == {"kind": "llvm", "mcpu": "haswell", "mattr": ["+avx512f"], "opt-level": 2}
    assert "avx512f" in target.features and "avx512f" in target.needs
    assert target.as_tvm().mcpu == "haswell"
    assert resolve_target(target) is target and resolve_target(target.tvm) == target
    assert len({target, resolve_target(target.tvm)}) == 1, "hashes"


@pytest.mark.parametrize("target, words", [
    ("cuda", "'cuda' is no CPU; what is asked here is a target of kind 'llvm'"),
    ({"kind": "cuda", "arch": "sm_80"}, "'cuda' is no CPU"),
    ("opencl", "target of TVM that tvmq does not support"),
    ("lvm", "'lvm' is no target"),
    ("", "empty string"),
    ("llvm -mtriple=x86_64-linux-gnu -mcpu=haswel", "no CPU 'haswel'; did you mean haswell?"),
    ("llvm -mcp=haswell", "no option 'mcp'; did you mean mcpu?"),
    ({"kind": "llvm", "mcp": "haswell"}, "no option 'mcp'; did you mean mcpu?"),
    ("llvm -mtriple=x86_64-linux-gnu -mattr=+avx512vni", "no CPU feature '\\+avx512vni'; did you mean avx512vnni"),
    ("llvm -mattr=avx2", "Got 'avx2'; write '\\+avx2'"),
    ("llvm haswell", "'haswell' is not of the form -option=value"),
    ("llvm -num-cores=four", "num-cores must be an integer. Got 'four'"),
    ("llvm -mtriple=foo-bar", "'foo-bar' begins with an unknown CPU family"),
    ("llvm -fast-math=1", "'fast-math' changes results"),
    ({"kind": "llvm", "opt-level": "high"}, "TVM refuses"),
    (3, "Got int"),
])  # fmt: skip
def test_refusals(target, words):
    with pytest.raises(TargetError, match=words):
        resolve_target(target)


def test_needed_features_are_no_hints_for_scheduling():
    needs = resolve_target("llvm -mcpu=znver4").needs
    assert {"avx512vnni", "fma", "bmi2"} <= needs
    assert not {"fast-15bytenop", "vzeroupper", "64bit", "clzero", "rdseed", "aes"} & needs
    arm = resolve_target("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1").needs
    assert {"neon", "dotprod", "fullfp16"} <= arm and not {
        "lse", "crc", "aes", "neoversen1", "fuse-aes", "perfmon", "v8.2a",
    } & arm  # fmt: skip


def test_missing_features_are_named():
    needs = resolve_target("llvm -mcpu=sapphirerapids").needs
    haswell = resolve_target("llvm -mcpu=haswell").features
    missing = missing_features(needs, haswell)
    assert {"avx512f", "avx512vnni"} <= set(missing) and "avx2" not in missing
    assert missing == tuple(sorted(missing))


def test_linux_corrects_what_llvm_assumes(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nflags\t\t: fpu sse2 avx2 fma\nflags\t\t: other\n")
    flags = host.linux_flags(cpuinfo)
    assert flags == {"fpu", "sse2", "avx2", "fma"}
    assert host.correct(frozenset({"sse2", "avx2", "avx512f", "vzeroupper"}), flags) == ("+fma", "-avx512f")
    assert host.linux_flags(tmp_path / "absent") == frozenset()
    assert host.correct(frozenset({"avx512f"}), frozenset()) == (), "no word from Linux, LLVM is believed"


def test_linux_corrects_what_llvm_assumes_of_arm(tmp_path):
    """A virtual Neoverse N2 that hides SVE and i8mm, as Linux describes it."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nFeatures\t: fp asimd aes atomics asimdhp asimddp\nCPU part\t: 0xd49\n")
    flags = host.linux_flags(cpuinfo)
    assumed = frozenset({"neon", "fp-armv8", "aes", "lse", "dotprod", "i8mm", "sve", "fuse-aes", "v9a"})
    assert host.correct(assumed, flags, "aarch64") == ("+fullfp16", "-i8mm", "-sve")


def test_features_of_this_cpu_agree_with_linux():
    flags = host.linux_flags()
    if "sse2" not in flags:
        pytest.skip("not an x86 CPU under Linux")
    for name in host_features() & X86_CODE.keys():
        assert X86_CODE[name] in flags, name


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


@pytest.mark.slow
@here_x86
def test_files_name_what_their_code_can_contain(tmp_path):
    small().save(tmp_path / "m.tvmq")
    with zipfile.ZipFile(tmp_path / "m.tvmq") as archive:
        needs = json.loads(archive.read(MANIFEST))["needs"]
    assert needs == sorted(host.host_features() & X86_CODE.keys())


@pytest.mark.slow
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
    assert host.remaining_features({"neon", "dotprod", *ARM_UNUSED}, "aarch64") == {"neon", "dotprod"}
    assert not CODE["aarch64"].keys() & ARM_UNUSED


@pytest.mark.slow_cases("x86-64-x86-64-generic", "x86-64,-rdseed-x86-64-generic")
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
