"""Targets: old strings, dicts and Target objects; refusals; instruction set levels; features of this CPU."""

from __future__ import annotations

import pytest
import tvm

from tvmq.errors import TargetError
from tvmq.target import host
from tvmq.target.cpu import CpuTarget, host_features, missing_features, resolve_target
from tvmq.target.host import X86_CODE


def test_plain_llvm_is_this_cpu():
    target = resolve_target("llvm")
    assert target.features == host_features()
    # a Target names the triple of this machine by itself
    for same in (None, {"kind": "llvm"}, "llvm -mcpu=native", tvm.target.Target("llvm")):
        assert resolve_target(same) == target
    assert missing_features(target.needs) == ()


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
    ("llvm -mcpu=haswel", "no CPU 'haswel'; did you mean haswell?"),
    ("llvm -mcp=haswell", "no option 'mcp'; did you mean mcpu?"),
    ({"kind": "llvm", "mcp": "haswell"}, "no option 'mcp'; did you mean mcpu?"),
    ("llvm -mattr=+avx512vni", "no CPU feature '\\+avx512vni'; did you mean avx512vnni"),
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
        "lse",
        "crc",
        "aes",
        "neoversen1",
        "fuse-aes",
        "perfmon",
        "v8.2a",
    } & arm


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
