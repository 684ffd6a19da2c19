"""Features of this CPU, in LLVM's names.

LLVM guesses the CPU from its family and then assumes what that family has; a virtual machine may hide some
of it. Where Linux tells (/proc/cpuinfo), its word counts. TVMQ_CPU names a lesser CPU to be taken for this one.

Features of CPUs by what compiled code has of them: what it can contain, and what it never does.

A file names the features that its code can contain, and a CPU without one of them is refused. Virtual machines and
kernels hide others (rdseed, clwb, pku, xsavec, ...), for which LLVM has instructions too: it selects them for
intrinsics of C only, and our kernels have none of these. On x86 nobody need rely on that: what is not listed as code
is switched off where kernels are compiled (CpuTarget.as_tvm), so LLVM cannot select it.

Tests: tests/codegen/target/test_cpu.py
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from tvmq.base.tvm_runtime import is_compiler_loaded
from tvmq.errors import TargetError

# Of x86, LLVM's name -> name in /proc/cpuinfo. gfni shifts and reverses bytes, sse4a and xop shuffle, movbe swaps bytes
# on their way, bmi, lzcnt and popcnt count bits: LLVM takes them for plain operations.
X86_CODE: dict[str, str] = {
    **{name: name for name in (
        "avx avx2 avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi bmi2 cmov f16c fma fma4 gfni "
        "mmx movbe popcnt sse sse2 sse4a ssse3 tbm xop"
    ).split()},
    "avx512bf16": "avx512_bf16", "avx512bitalg": "avx512_bitalg", "avx512fp16": "avx512_fp16",
    "avx512vbmi2": "avx512_vbmi2", "avx512vnni": "avx512_vnni", "avx512vpopcntdq": "avx512_vpopcntdq",
    "avxifma": "avx_ifma", "avxneconvert": "avx_ne_convert", "avxvnni": "avx_vnni", "avxvnniint8": "avx_vnni_int8",
    "avxvnniint16": "avx_vnni_int16", "bmi": "bmi1", "lzcnt": "abm", "sse3": "pni", "sse4.1": "sse4_1",
    "sse4.2": "sse4_2", "amx-int8": "amx_int8", "amx-tile": "amx_tile",
}  # fmt: skip
TILES = frozenset({"amx-int8", "amx-tile"})  # of them Linux must be asked; see `allows_tiles`

# Instructions for the system, for locks, random numbers, cryptography, matrix tiles of other types, prefetching for
# writes, and the forms of APX and AVX10, which no kernel of ours was measured with.
X86_UNUSED = frozenset((
    "adx aes amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-movrs amx-tf32 avx10.1 avx10.2 "
    "avx512vp2intersect ccmp cldemote clflushopt clwb clzero cmpccxadd crc32 cx16 egpr enqcmd fsgsbase fxsr hreset "
    "invpcid kl lwp movdir64b movdiri movrs mwaitx ndd nf pclmul pconfig pku ppx prefetchi prfchw ptwrite push2pop2 "
    "rdpid rdpru rdrnd rdseed sahf serialize sha sha512 shstk sm3 sm4 tsxldtrk uintr usermsr vaes vpclmulqdq waitpkg "
    "wbnoinvd widekl xsave xsavec xsaveopt xsaves zu"
).split())  # fmt: skip

# Of 64-bit Arm.
ARM_CODE: dict[str, str] = {
    **{name: name for name in "bf16 cssc faminmax i8mm mops sha3 sve sve2".split()},
    "complxnum": "fcma", "dotprod": "asimddp", "fp-armv8": "fp", "fp16fml": "asimdfhm", "fullfp16": "asimdhp",
    "neon": "asimd", "rdm": "asimdrdm", "sve-b16b16": "sveb16b16", "sve-sha3": "svesha3",
}  # fmt: skip

# Locks, cryptography but for the logic of sha3, checksums, flags for emulators, streaming matrices. They are not
# switched off: versions of the architecture imply them, and much else would go with them.
ARM_UNUSED = frozenset((
    "aes altnzcv crc flagm fptoint jsconv lse lse2 rcpc rcpc-immo sha2 sm4 sme sme2 sve-aes sve-bitperm sve-sm4"
).split())  # fmt: skip

# Architecture -> what its code can contain, and what it never does; of others every feature counts that LLVM names.
CODE = {"x86": X86_CODE, "aarch64": ARM_CODE}
UNUSED = {"x86": X86_UNUSED, "aarch64": ARM_UNUSED}
SWITCHED_OFF = {"x86": X86_UNUSED}


# As systems name machines
MACHINES = {"x86_64": "x86", "amd64": "x86", "aarch64": "aarch64", "arm64": "aarch64"}

# "haswell", "znver5,-rdseed,-clwb": for tests of what other CPUs get
VARIABLE = "TVMQ_CPU"
Options = dict[str, object]


def llvm_features(options: Options) -> frozenset[str]:
    """LLVM's names of all that a target of these (valid) options has, hints for scheduling included."""
    import tvm

    return frozenset(str(name) for name in tvm.target.codegen.llvm_get_cpu_features(tvm.target.Target(options)))


def linux_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Feature flags as Linux names them; empty where there is no such file or it names none."""
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    # "Features" on Arm
    flags = (line.split(":")[1] for line in lines if line.startswith(("flags", "Features")))
    return frozenset(next(flags, "").split())


def host_flags() -> frozenset[str]:
    """Flags of this CPU, without matrix tiles where this process may not use them."""
    flags = linux_flags()
    tiles = {X86_CODE[name] for name in TILES}
    return flags if flags.isdisjoint(tiles) or allows_tiles() else flags - tiles


ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA = 158, 0x1023, 18  # numbers of Linux: arch/x86/include/uapi/asm/prctl.h


@lru_cache(maxsize=1)
def allows_tiles() -> bool:
    """Ask Linux for matrix tiles, which a process must have asked for before it uses them; True if it grants them.

    The answer holds for all threads and for child processes. Linux refuses where stacks for signals are too small for
    what tiles hold, and before version 5.16.
    """
    import ctypes

    if _arch() != "x86" or sys.maxsize < 2**32:  # elsewhere the number is that of another call
        return False
    request = getattr(ctypes.CDLL(None), "syscall", None)
    return request is not None and request(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) == 0


def correct(assumed: frozenset[str], flags: frozenset[str], arch: str = "x86") -> tuple[str, ...]:
    """Changes ("+feature", "-feature") that make LLVM's assumption about a CPU agree with Linux's flags.

    Of what compiled code can contain only; nothing else matters.

    >>> correct(frozenset({"avx2", "avx512f", "rdseed"}), frozenset({"avx2", "fma"}))
    ('+fma', '-avx512f')
    """
    if not flags:  # another system, which is not asked for tiles
        return tuple(f"-{name}" for name in sorted(assumed & TILES))
    names = CODE[arch]
    has = {name for name, flag in names.items() if flag in flags}
    more = sorted(has - assumed)
    less = sorted(assumed & names.keys() - has)
    return tuple(f"+{name}" for name in more) + tuple(f"-{name}" for name in less)


def host_options() -> Options:
    """Options of tvm.target.Target for this CPU, or for the one that TVMQ_CPU names.

    raises  TargetError for a name or a feature that LLVM does not know, or that this CPU cannot stand for
    """
    return dict(_options(os.environ.get(VARIABLE, "")))


@lru_cache(maxsize=8)
def _options(text: str) -> Options:
    from tvm.target import codegen

    options: Options = {"kind": "llvm", "mcpu": str(codegen.llvm_get_system_cpu())}
    arch = _arch()
    changes = correct(llvm_features(options), host_flags(), arch) if arch else ()
    if changes:
        options["mattr"] = list(changes)
    return _simulate(text, options, arch) if text else options


def host_triple() -> str:
    """The triple of this machine, or the part of it that names the architecture, where that is known without LLVM."""
    machine = platform.machine().lower()
    if machine in MACHINES:
        return machine
    from tvm.target import codegen

    return str(codegen.llvm_get_system_triple())


def _arch() -> str:
    first = host_triple().partition("-")[0]
    return MACHINES.get(first, "")


def _simulate(text: str, real: Options, arch: str) -> Options:
    mcpu, *changes = [word.strip() for word in text.split(",")]
    known = {*CODE.get(arch, ()), *UNUSED.get(arch, ())}
    import tvm

    if mcpu not in map(str, tvm.target.codegen.llvm_get_cpu_archlist(tvm.target.Target({"kind": "llvm"}))):
        raise TargetError(f"{VARIABLE}: LLVM knows no CPU {mcpu!r}; write a name of it, as 'haswell', or unset it")
    for change in changes:
        if change[:1] not in ("+", "-") or change[1:] not in known:
            raise TargetError(f"{VARIABLE}: {change!r} is no change of a feature; write '-rdseed' or '+avxvnni'")
    options: Options = {"kind": "llvm", "mcpu": mcpu, **({"mattr": changes} if changes else {})}
    absent = missing_features(used_features(llvm_features(options), arch), llvm_features(real))
    if absent:
        raise TargetError(f"{VARIABLE}: this CPU lacks {', '.join(absent)} of {text!r}; name a lesser one")
    return options


def host_features() -> frozenset[str]:
    """LLVM's names of what this CPU has."""
    return llvm_features(host_options())


def used_features(features: Iterable[str], arch: str) -> frozenset[str]:
    """Those features that code compiled for a CPU can contain; no hints, and nothing that LLVM never selects.

    >>> sorted(used_features({"avx2", "rdseed", "vzeroupper"}, "x86"))
    ['avx2']
    """
    return frozenset(features) & CODE[arch].keys() if arch in CODE else frozenset(features)


def remaining_features(needs: Iterable[str], arch: str) -> frozenset[str]:
    """Features that a saved model needs, of those that its file names: older files name some that no code contains.

    >>> sorted(remaining_features({"avx2", "rdseed", "flying"}, "x86"))
    ['avx2', 'flying']
    """
    return frozenset(needs) - UNUSED.get(arch, frozenset())


def disabled_features(features: Iterable[str], arch: str) -> tuple[str, ...]:
    """Those that are switched off where code is compiled, sorted.

    >>> disabled_features({"avx2", "rdseed", "vzeroupper"}, "x86")
    ('rdseed',)
    """
    return tuple(sorted(frozenset(features) & SWITCHED_OFF.get(arch, frozenset())))


def missing_features(needed: Iterable[str], host: Iterable[str] | None = None) -> tuple[str, ...]:
    """Features that are needed but not there, sorted; `host` None means this CPU.

    >>> missing_features({"avx2", "avx512vnni"}, {"avx2", "fma"})
    ('avx512vnni',)
    """
    lacking = missing_by_linux(needed) if host is None else None
    if lacking is not None:
        return lacking
    return tuple(sorted(set(needed) - set(host_features() if host is None else host)))


def missing_by_linux(needed: Iterable[str], flags: frozenset[str] | None = None) -> tuple[str, ...] | None:
    """Missing features without LLVM, whose import costs more than to load a model; None where Linux cannot tell, or
    where LLVM is there and can.

    flags   as Linux names them; None: of this CPU
    """
    wanted, names = set(needed), CODE.get(_arch(), {})
    if flags is None:
        if is_compiler_loaded() or os.environ.get(VARIABLE):
            return None
        flags = host_flags()
    if not flags or not wanted <= names.keys():
        return None
    return tuple(sorted(name for name in wanted if names[name] not in flags))
