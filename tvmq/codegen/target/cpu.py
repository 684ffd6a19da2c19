"""Which CPU to compile for: from what a user writes to a checked description.

TVM 0.27 refuses the old strings ("llvm -mcpu=core-avx2"), and where a name is wrong it compiles for a generic
CPU. Here strings are parsed, and every option, CPU and feature is checked against what LLVM knows.

Short names of targets: the levels that compilers share, and the instruction sets of our kernels.

Code for several CPUs in one executable or file: which of it runs here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from tvmq.base.tvm_runtime import is_tvm_target
from tvmq.codegen.target.host import (
    TILES,
    disabled_features,
    host_features,
    host_options,
    host_triple,
    llvm_features,
    missing_features,
    used_features,
)
from tvmq.errors import TargetError

if TYPE_CHECKING:
    from tvmq.codegen.kernels.parts.kernel_types import Isa
from collections.abc import Sequence
from dataclasses import replace

X86, ARM = "x86", "aarch64"
TRIPLES = {X86: "x86_64-linux-gnu", ARM: "aarch64-linux-gnu"}
# name -> (architecture, options of "llvm")
NAMES: dict[str, tuple[str, str]] = {
    "x86-64": (X86, "-mcpu=x86-64"),
    "x86-64-v2": (X86, "-mcpu=x86-64-v2"),
    "x86-64-v3": (X86, "-mcpu=x86-64-v3"),
    "x86-64-v4": (X86, "-mcpu=x86-64-v4"),
    "avx2": (X86, "-mcpu=x86-64-v3"),
    "avx-vnni": (X86, "-mcpu=x86-64-v3 -mattr=+avxvnni"),
    "avx512": (X86, "-mcpu=x86-64-v4"),
    "avx512-vnni": (X86, "-mcpu=x86-64-v4 -mattr=+avx512vnni"),
    "avx512-vbmi": (X86, "-mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512vbmi"),
    "amx": (X86, "-mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512vbmi,+amx-tile,+amx-int8"),
    "arm-neon": (ARM, "-mcpu=generic"),
    "arm-dotprod": (ARM, "-mcpu=generic -mattr=+v8.2a,+dotprod"),
    "arm-i8mm": (ARM, "-mcpu=generic -mattr=+v8.6a,+dotprod,+i8mm"),
}


def write_out_aliases(text: str, here: str) -> str:
    """The target in TVM's old form; what is no short name stays.

    here  architecture of this machine; a target of another one is for Linux

    >>> write_out_aliases("avx-vnni", "x86"), write_out_aliases("arm-neon", "x86")
    ('llvm -mcpu=x86-64-v3 -mattr=+avxvnni', 'llvm -mtriple=aarch64-linux-gnu -mcpu=generic')
    """
    if text not in NAMES:
        return text
    arch, options = NAMES[text]
    return f"llvm {options}" if arch == here else f"llvm -mtriple={TRIPLES[arch]} {options}"


__all__ = ["CpuTarget", "host_features", "missing_features", "resolve_target"]

# First part of a triple, by its beginning -> architecture.
ARCHITECTURES = {
    "x86_64": "x86", "amd64": "x86", "i386": "x86", "i486": "x86", "i586": "x86", "i686": "x86",
    "aarch64": "aarch64", "arm64": "aarch64", "arm": "arm", "thumb": "arm",
    "riscv32": "riscv", "riscv64": "riscv",
}  # fmt: skip
IDLE = ("device", "host", "keys", "libs", "model", "tag")  # options without effect on code for CPUs
LISTS = ("mattr", "keys", "libs", "cl-opt")
INTEGERS = ("num-cores", "opt-level", "vector-width")
# Names of TVM's relay days; None: without effect on code for CPUs.
OLD_NAMES: dict[str, str | None] = {
    "target": "mtriple", "system-lib": None, "runtime": None, "link-params": None,
}  # fmt: skip


@dataclass(frozen=True)
class CpuTarget:
    """A CPU to compile for.

    kind       "llvm"
    mcpu       LLVM's name of the CPU
    features   LLVM's names of what it has, hints for scheduling included
    tvm        options, as tvm.target.Target takes them
    """

    kind: str
    mcpu: str
    features: frozenset[str]
    tvm: dict[str, Any] = field(hash=False)

    @cached_property
    def isa(self) -> Isa:
        """Instruction set level of our kernels."""
        from tvmq.codegen.kernels.isa import isa_named, level_for  # who runs a model needs none

        return isa_named(level_for(self.arch, self.features))

    @property
    def arch(self) -> str:
        """ "x86", "aarch64", "arm" or "riscv"."""
        return _architecture(str(self.tvm.get("mtriple") or host_triple()))

    @property
    def has_fma(self) -> bool:
        """True if LLVM rounds a product and the sum that it feeds once."""
        return "fma" in self.features or self.arch == "aarch64"

    @property
    def name(self) -> str:
        """Display name; features tell apart CPUs that LLVM has no name for."""
        plain = self.mcpu == "generic" or self.mcpu.startswith("x86-64")
        return self.mcpu + "".join(map(str, self.tvm.get("mattr", ()) if plain else ()))

    @property
    def host(self) -> CpuTarget:
        """The CPU that calls the kernels: itself."""
        return self

    @property
    def needs(self) -> frozenset[str]:
        """Features that a CPU must have to run code compiled for this one."""
        return used_features(self.features, self.arch)

    @property
    def compiler(self) -> dict[str, Any]:
        """The options with which code is compiled: what `needs` does not name is switched off (target/host.py)."""
        off = [f"-{name}" for name in disabled_features(self.features, self.arch)]
        return {**self.tvm, **({"mattr": [*self.tvm.get("mattr", ()), *off]} if off else {})}

    def as_tvm(self, **defaults: Any) -> Any:
        """The tvm.target.Target to compile with; `defaults` are options that it has unless the target has them."""
        import tvm

        return tvm.target.Target({**defaults, **self.compiler})


def resolve_target(target: Any = "llvm") -> CpuTarget:
    """The CPU that a target describes.

    target   "llvm" or None: this CPU with all that it has; a string of TVM's old form ("llvm -mcpu=core-avx2
             -mattr=+avx2"); a name of target/cpu.py ("x86-64-v3", "avx-vnni"); a dict of options;
             a tvm.target.Target; a CpuTarget.
             Without CPU, features and triple, or with mcpu "native", this CPU is meant
    raises   TargetError for an unknown kind, option, CPU or feature, and for options that change results

    >>> resolve_target("llvm -mcpu=core-avx2").isa.name
    'avx2'
    """
    if isinstance(target, CpuTarget):
        return target
    options = _options(target)
    kind = str(options.pop("kind", "llvm"))
    _check_kind(kind)
    _check_options(options)
    chosen = {"kind": kind, **_choose_cpu(options)}
    _check_cpu(chosen)
    try:
        has = llvm_features(chosen)
    except (TypeError, ValueError) as error:
        raise TargetError(f"build: TVM refuses the target {chosen}: {error}") from error
    return CpuTarget(kind, str(chosen["mcpu"]), has, chosen)


def _options(target: Any) -> dict[str, Any]:
    """Options of a target of any form, "kind" included; lists are lists."""
    if target is None:
        return {"kind": "llvm"}
    if isinstance(target, str):
        return parse(write_out_aliases(target, host_arch()))
    if is_tvm_target(target):
        from tvm.target import codegen

        # features are what TVM derives, for code of Arm: they follow from the CPU
        options = {str(key): value for key, value in target.export().items() if not key.startswith("feature.")}
        # TVM writes the triple of this machine into every Target
        if options.get("mtriple") == str(codegen.llvm_get_system_triple()):
            del options["mtriple"]
    elif isinstance(target, dict):
        options = dict(target)
    else:
        kind = type(target).__name__
        raise TargetError(f"build: target must be a string, a dict or a tvm.target.Target. Got {kind}")
    return {key: _list(value) if key in LISTS else value for key, value in options.items()}


def _list(value: Any) -> list[str]:
    items = value.split(",") if isinstance(value, str) else map(str, value)
    return [item for item in items if item]


def parse(text: str) -> dict[str, Any]:
    """Options of "kind -key=value --key value ...".

    >>> parse("llvm -mcpu=core-avx2 -mattr=+avx2,+fma")
    {'kind': 'llvm', 'mcpu': 'core-avx2', 'mattr': ['+avx2', '+fma']}
    """
    words = shlex.split(text)
    if not words:
        raise TargetError("build: the target is an empty string; write 'llvm' for this CPU")
    options: dict[str, Any] = {"kind": words[0]}
    rest = words[1:]
    while rest:
        word = rest.pop(0)
        key, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or not key:
            raise TargetError(f"build, target {text!r}: {word!r} is not of the form -option=value")
        if not equals and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        name = OLD_NAMES.get(key, key)
        if name is not None:
            options[name] = _read_option(name, value, text)
    return options


def _read_option(key: str, value: str, text: str) -> Any:
    if key in INTEGERS:
        if not value.isdigit():
            raise TargetError(f"build, target {text!r}: {key} must be an integer. Got {value!r}")
        return int(value)
    if key.startswith("fast-math"):
        return value.lower() not in ("0", "false")
    return _list(value) if key in LISTS else value


def _check_kind(kind: str) -> None:
    if kind == "cuda":
        raise TargetError("build: 'cuda' is no CPU; what is asked here is a target of kind 'llvm'")
    if kind != "llvm":
        import tvm

        known = [str(name) for name in tvm.target.Target.list_kinds()]
        reason = "is a target of TVM that tvmq does not support" if kind in known else "is no target"
        raise TargetError(
            f"build: {kind!r} {reason}; use 'llvm', this CPU, 'llvm -mcpu=NAME', or one of {', '.join(NAMES)}"
        )


def _check_options(options: dict[str, Any]) -> None:
    import tvm

    known = [str(name) for name in tvm.target.TargetKind.options_from_name("llvm")]
    for key, value in options.items():
        if key not in known:
            raise TargetError(f"build: target 'llvm' has no option {key!r}{_suggestion(key, known)}")
        if key.startswith("fast-math") and value:
            raise TargetError(f"build: target option {key!r} changes results; leave it out")


def _choose_cpu(options: dict[str, Any]) -> dict[str, Any]:
    """The options with a CPU: this one, the one named, or the plainest of the triple."""
    options = {key: value for key, value in options.items() if key not in IDLE and value not in ("", [])}
    named = options.get("mcpu")
    if named == "native" or not (named or "mattr" in options or "mtriple" in options):
        own = {key: value for key, value in host_options().items() if key != "kind"}
        changes = [*own.pop("mattr", ()), *options.pop("mattr", ())]  # type: ignore[misc]
        return {**options, **own, **({"mattr": changes} if changes else {})}
    return {**options, "mcpu": named or "generic"}


def _architecture(triple: str) -> str:
    first = triple.partition("-")[0]
    names = [name for start, name in ARCHITECTURES.items() if first.startswith(start)]
    if not names:
        known = ", ".join(ARCHITECTURES)
        raise TargetError(f"build: mtriple {triple!r} begins with an unknown CPU family; known are {known}")
    return names[0]


def host_arch() -> str:
    """Architecture of this machine, as `CpuTarget.arch`."""
    return _architecture(host_triple())


def _check_cpu(options: dict[str, Any]) -> None:
    triple = options.get("mtriple")
    _architecture(str(triple or host_triple()))
    cpus, known = _known_names(triple)
    if options["mcpu"] not in cpus:
        raise TargetError(f"build: LLVM knows no CPU {options['mcpu']!r}{_suggestion(options['mcpu'], cpus)}")
    for change in options.get("mattr", ()):
        if change[:1] not in ("+", "-"):
            raise TargetError(f"build: mattr takes +feature or -feature. Got {change!r}; write '+{change}'")
        if change[1:] not in known:
            hint = _suggestion(change[1:], known)
            raise TargetError(f"build: LLVM knows no CPU feature {change!r}{hint}")


@lru_cache(maxsize=8)
def _known_names(triple: str | None) -> tuple[tuple[str, ...], frozenset[str]]:
    """CPUs of an architecture, and the features that any of them has."""
    import tvm

    base = {"kind": "llvm", **({"mtriple": triple} if triple else {})}
    cpus = tuple(str(name) for name in tvm.target.codegen.llvm_get_cpu_archlist(tvm.target.Target(base)))
    return cpus, frozenset().union(*(llvm_features({**base, "mcpu": cpu}) for cpu in cpus))


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(str(name), list(known), n=3)
    return f"; did you mean {', '.join(close)}?" if close else ""


def missing_requirements(target: CpuTarget) -> tuple[str, ...]:
    """Architecture or features that this CPU lacks to run code for a target."""
    if target.arch != host_arch():
        return (f"the architecture {target.arch}",)
    return missing_features(target.needs)


def without_tiles(target: CpuTarget) -> CpuTarget:
    """The target without matrix tiles: for programs that do not ask the system for them (target/host.py)."""
    if target.needs.isdisjoint(TILES):
        return target
    off = [f"-{name}" for name in sorted(TILES)]
    mattr = [change for change in target.tvm.get("mattr", ()) if change[1:] not in TILES]
    return resolve_target({**target.tvm, "kind": target.kind, "mattr": [*mattr, *off]})


def index_of_best(targets: Sequence[CpuTarget]) -> int | None:
    """Number of the best target that this CPU can run, of the best level, then of most features; or None."""
    runnable = [i for i, target in enumerate(targets) if not missing_requirements(target)]
    return min(runnable, key=lambda i: rank_of(targets[i]), default=None)


def rank_of(target: CpuTarget) -> tuple[int, int]:
    """Order of targets: that of the best level first, then that of most features."""
    from tvmq.codegen.kernels.isa import LEVELS  # a file for one CPU needs none

    return list(LEVELS).index(target.isa.name), -len(target.needs)


def refusal_of_all(targets: Sequence[CpuTarget]) -> str:
    """Why none of several codes runs here, and what to do; empty if one does, or there are no several."""
    if not targets or index_of_best(targets) is not None:
        return ""
    return (
        f"run: the model was built for {reasons(targets)}; save it and load it there, or build it for 'llvm', this CPU"
    )


def reasons(targets: Iterable[CpuTarget]) -> str:
    """Each target and what this CPU lacks for it."""
    return ", ".join(f"{target.name} (this CPU lacks {', '.join(missing_requirements(target))})" for target in targets)


def with_codes(codes: tuple[Any, ...]) -> Any:
    """Parts of an executable (runtime/executable.py) of the best of several codes, or of the first; it knows all."""
    targets = tuple(parts.target for parts in codes)
    return replace(codes[index_of_best(targets) or 0], targets=targets, codes=codes)
