"""What this CPU can do, in LLVM's names.

LLVM guesses the CPU from its family and then assumes what that family has; a virtual machine may hide some
of it. Where Linux tells (/proc/cpuinfo), its word counts. TVMQ_CPU names a lesser CPU to be taken for this one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import tvm
from tvm.target import codegen

from tvmq.errors import TargetError
from tvmq.target.cpu_features import CODE, SWITCHED_OFF, UNUSED

# "haswell", "znver5,-rdseed,-clwb": for tests of what other CPUs get
VARIABLE = "TVMQ_CPU"
Options = dict[str, object]


def llvm_features(options: Options) -> frozenset[str]:
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

    Of what compiled code can contain only; nothing else matters.

    >>> correct(frozenset({"avx2", "avx512f", "rdseed"}), frozenset({"avx2", "fma"}))
    ('+fma', '-avx512f')
    """
    if not flags:
        return ()
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
    options: Options = {"kind": "llvm", "mcpu": str(codegen.llvm_get_system_cpu())}
    arch = _arch()
    changes = correct(llvm_features(options), linux_flags(), arch) if arch else ()
    if changes:
        options["mattr"] = list(changes)
    return _simulated(text, options, arch) if text else options


def _arch() -> str:
    first = str(codegen.llvm_get_system_triple()).partition("-")[0]
    return {"x86_64": "x86", "aarch64": "aarch64"}.get(first, "")


def _simulated(text: str, real: Options, arch: str) -> Options:
    mcpu, *changes = [word.strip() for word in text.split(",")]
    known = {*CODE.get(arch, ()), *UNUSED.get(arch, ())}
    if mcpu not in map(str, codegen.llvm_get_cpu_archlist(tvm.target.Target({"kind": "llvm"}))):
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


def still_needed(needs: Iterable[str], arch: str) -> frozenset[str]:
    """What a saved model needs of all that its file names: older files name features that no code contains.

    >>> sorted(still_needed({"avx2", "rdseed", "flying"}, "x86"))
    ['avx2', 'flying']
    """
    return frozenset(needs) - UNUSED.get(arch, frozenset())


def switched_off(features: Iterable[str], arch: str) -> tuple[str, ...]:
    """Those that are switched off where code is compiled, sorted.

    >>> switched_off({"avx2", "rdseed", "vzeroupper"}, "x86")
    ('rdseed',)
    """
    return tuple(sorted(frozenset(features) & SWITCHED_OFF.get(arch, frozenset())))


def missing_features(needed: Iterable[str], host: Iterable[str] | None = None) -> tuple[str, ...]:
    """Features that are needed but not there, sorted; `host` None means this CPU.

    >>> missing_features({"avx2", "avx512vnni"}, {"avx2", "fma"})
    ('avx512vnni',)
    """
    return tuple(sorted(set(needed) - set(host_features() if host is None else host)))
