"""Instruction sets: what each one needs and offers. Nothing here looks at the CPU; the caller chooses.

A new instruction set is a new file and one line in LEVELS.
"""

from __future__ import annotations

from importlib import import_module

from tvmq.errors import TargetError
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.types import Isa

# Best first: a target takes the first level of its architecture all of whose LLVM features it has.
LEVELS: dict[str, str] = {
    "avx512vbmi": "tvmq.kernels.isa.avx512:AVX512VBMI",
    "avx512vnni": "tvmq.kernels.isa.avx512:AVX512VNNI",
    "avx512vl": "tvmq.kernels.isa.avxvnni:AVX512VL",
    "avxvnni": "tvmq.kernels.isa.avxvnni:AVXVNNI",
    "avx512bw": "tvmq.kernels.isa.avx512:AVX512BW",
    "avx2": "tvmq.kernels.isa.avx2:AVX2",
    "i8mm": "tvmq.kernels.isa.arm:I8MM_LEVEL",
    "dotprod": "tvmq.kernels.isa.arm:DOTPROD",
    "neon": "tvmq.kernels.isa.arm:NEON",
    "generic": "tvmq.kernels.isa.generic:GENERIC",
}


def level(name: str) -> Instructions:
    """The instruction set of that name.

    raises  TargetError if there is none
    """
    if name not in LEVELS:
        raise TargetError(f"kernels: instruction set must be one of {', '.join(LEVELS)}. Got {name!r} instead")
    module, attribute = LEVELS[name].split(":")
    found: Instructions = getattr(import_module(module), attribute)
    return found


def instructions(isa: Isa) -> Instructions:
    """What the templates use of an Isa."""
    return level(isa.name)


def isa_named(name: str) -> Isa:
    """The Isa of that name, with the width of its vectors.

    >>> isa_named("avx2").vector_bytes
    32
    """
    return Isa(name, level(name).vector_bytes)


def level_for(arch: str, has: frozenset[str]) -> str:
    """Name of the best level of a CPU of an architecture ("x86", "aarch64", ...) with these LLVM features.

    >>> level_for("aarch64", frozenset({"neon", "dotprod"})), level_for("arm", frozenset({"neon"}))
    ('dotprod', 'generic')
    """
    return next(name for name in LEVELS if level(name).arch in ("", arch) and has.issuperset(level(name).features))


def features(name: str) -> tuple[str, ...]:
    """LLVM names of the CPU features that the kernels of this level use.

    >>> features("avx2")
    ('avx2', 'fma')
    """
    return level(name).features
