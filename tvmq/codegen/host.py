"""What this CPU can do, in LLVM's names.

LLVM guesses the CPU from its family and then assumes what that family has; a virtual machine may hide some
of it. Where Linux tells (/proc/cpuinfo), its word counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import tvm
from tvm.target import codegen

# Features of x86 that compiled code can use: LLVM's name -> name in /proc/cpuinfo, where that differs.
# What is not listed is a hint for scheduling, or an instruction that compilers do not emit by themselves.
X86_FLAGS: dict[str, str] = {
    **{name: name for name in (
        "adx aes avx avx2 avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi bmi2 cmov f16c "
        "fma fma4 fxsr gfni mmx movbe movdir64b movdiri popcnt rdseed sha512 sm3 sm4 sse sse2 sse4a ssse3 "
        "tbm vaes vpclmulqdq xop"
    ).split()},
    "amx-bf16": "amx_bf16", "amx-complex": "amx_complex", "amx-fp16": "amx_fp16", "amx-int8": "amx_int8",
    "amx-tile": "amx_tile", "avx512bf16": "avx512_bf16", "avx512bitalg": "avx512_bitalg",
    "avx512fp16": "avx512_fp16", "avx512vbmi2": "avx512_vbmi2", "avx512vnni": "avx512_vnni",
    "avx512vp2intersect": "avx512_vp2intersect", "avx512vpopcntdq": "avx512_vpopcntdq", "avxifma": "avx_ifma",
    "avxneconvert": "avx_ne_convert", "avxvnni": "avx_vnni", "avxvnniint8": "avx_vnni_int8",
    "avxvnniint16": "avx_vnni_int16", "bmi": "bmi1", "crc32": "sse4_2", "lzcnt": "abm", "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch", "rdrnd": "rdrand", "sahf": "lahf_lm", "sha": "sha_ni", "sse3": "pni",
    "sse4.1": "sse4_1", "sse4.2": "sse4_2",
}  # fmt: skip

# The same of 64-bit Arm.
ARM_FLAGS: dict[str, str] = {
    **{name: name for name in "aes bf16 cssc flagm i8mm mops sha2 sha3 sm4 sme sme2 sve sve2".split()},
    "altnzcv": "flagm2", "complxnum": "fcma", "crc": "crc32", "dotprod": "asimddp", "fp-armv8": "fp",
    "fp16fml": "asimdfhm", "fptoint": "frint", "fullfp16": "asimdhp",
    "jsconv": "jscvt", "lse": "atomics", "lse2": "uscat", "neon": "asimd", "rcpc": "lrcpc", "rcpc-immo": "ilrcpc",
    "rdm": "asimdrdm", "sve-aes": "sveaes", "sve-bitperm": "svebitperm", "sve-sha3": "svesha3", "sve-sm4": "svesm4",
}  # fmt: skip
# Architecture -> its table; of others every feature counts that LLVM names.
FLAGS = {"x86": X86_FLAGS, "aarch64": ARM_FLAGS}


def llvm_features(options: dict[str, object]) -> frozenset[str]:
    """LLVM's names of all that a target of these (valid) options has, hints for scheduling included."""
    return frozenset(str(name) for name in codegen.llvm_get_cpu_features(tvm.target.Target(options)))


def linux_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Feature flags as Linux names them; empty where there is no such file or it names none."""
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    # "Features" on Arm
    flags = (line.split(":")[1] for line in lines if line.startswith(("flags", "Features")))
    return frozenset(next(flags, "").split())


def correct(assumed: frozenset[str], flags: frozenset[str], arch: str = "x86") -> tuple[str, ...]:
    """Changes ("+feature", "-feature") that make LLVM's assumption about a CPU agree with Linux's flags.

    >>> correct(frozenset({"avx2", "avx512f"}), frozenset({"avx2", "fma"}))
    ('+fma', '-avx512f')
    """
    if not flags:
        return ()
    names = FLAGS[arch]
    has = {name for name, flag in names.items() if flag in flags}
    more = sorted(has - assumed)
    less = sorted(assumed & names.keys() - has)
    return tuple(f"+{name}" for name in more) + tuple(f"-{name}" for name in less)


@lru_cache(maxsize=1)
def host_options() -> dict[str, object]:
    """Options of tvm.target.Target for this CPU."""
    options: dict[str, object] = {"kind": "llvm", "mcpu": str(codegen.llvm_get_system_cpu())}
    first = str(codegen.llvm_get_system_triple()).partition("-")[0]
    arch = {"x86_64": "x86", "aarch64": "aarch64"}.get(first)
    changes = correct(llvm_features(options), linux_flags(), arch) if arch else ()
    if changes:
        options["mattr"] = list(changes)
    return options


def host_features() -> frozenset[str]:
    """LLVM's names of what this CPU has."""
    return llvm_features(host_options())


def used_features(features: Iterable[str], arch: str) -> frozenset[str]:
    """Those features that code compiled for a CPU may need at run time, without hints for scheduling."""
    return frozenset(features) & FLAGS[arch].keys() if arch in FLAGS else frozenset(features)


def missing_features(needed: Iterable[str], host: Iterable[str] | None = None) -> tuple[str, ...]:
    """Features that are needed but not there, sorted; `host` None means this CPU.

    >>> missing_features({"avx2", "avx512vnni"}, {"avx2", "fma"})
    ('avx512vnni',)
    """
    return tuple(sorted(set(needed) - set(host_features() if host is None else host)))
