"""Instruction sets: what each one needs and offers. Nothing here looks at the CPU; the caller chooses.

A new instruction set is a new file and one line in LEVELS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tvmq.base.by_name import load_object
from tvmq.codegen.kernels.parts.kernel_types import Isa
from tvmq.errors import TargetError

if TYPE_CHECKING:
    from tvmq.codegen.kernels.isa.generic import Instructions


class Level(NamedTuple):
    """Entry of an instruction set, known before its file is loaded: a saved model needs no more of it.

    place         "module:object", its Instructions
    arch          architecture that alone has it ("x86", "aarch64"); empty for any
    vector_bytes  width of a vector
    features      LLVM names of the CPU features needed
    """

    place: str
    arch: str
    vector_bytes: int
    features: tuple[str, ...]


NEON, AVX2 = ("neon",), ("avx2", "fma")
AVX512 = ("avx512f", "avx512bw", "avx512vl", "avx512dq")
# Best first: a target takes the first level of its architecture all of whose LLVM features it has.
LEVELS = {
    "amx": Level(
        "tvmq.codegen.kernels.isa.amx:AMX", "x86", 64,
        (*AVX512, "avx512vnni", "avx512vbmi", "amx-tile", "amx-int8"),
    ),
    "avx512vbmi": Level("tvmq.codegen.kernels.isa.avx512:AVX512VBMI", "x86", 64, (*AVX512, "avx512vnni", "avx512vbmi")),
    "avx512vnni": Level("tvmq.codegen.kernels.isa.avx512:AVX512VNNI", "x86", 64, (*AVX512, "avx512vnni")),
    "avx512vl": Level("tvmq.codegen.kernels.isa.avx2:AVX512VL", "x86", 32, (*AVX2, "avx512vl", "avx512vnni")),
    "avxvnni": Level("tvmq.codegen.kernels.isa.avx2:AVXVNNI", "x86", 32, (*AVX2, "avxvnni")),
    "avx512bw": Level("tvmq.codegen.kernels.isa.avx512:AVX512BW", "x86", 64, AVX512),
    "avx2": Level("tvmq.codegen.kernels.isa.avx2:AVX2", "x86", 32, AVX2),
    "i8mm": Level("tvmq.codegen.kernels.isa.arm:I8MM_LEVEL", "aarch64", 16, (*NEON, "dotprod", "i8mm")),
    "dotprod": Level("tvmq.codegen.kernels.isa.arm:DOTPROD", "aarch64", 16, (*NEON, "dotprod")),
    "neon": Level("tvmq.codegen.kernels.isa.arm:NEON", "aarch64", 16, NEON),
    "generic": Level("tvmq.codegen.kernels.isa.generic:GENERIC", "", 16, ()),
}


def level(name: str) -> Instructions:
    """The instruction set of that name.

    raises  TargetError if there is none
    """
    ins: Instructions = load_object(_level(name).place)
    return ins


def _level(name: str) -> Level:
    if name not in LEVELS:
        raise TargetError(f"kernels: instruction set must be one of {', '.join(LEVELS)}. Got {name!r} instead")
    return LEVELS[name]


def instructions(isa: Isa) -> Instructions:
    """Instructions of an Isa, as the templates use them."""
    return level(isa.name)


def isa_named(name: str) -> Isa:
    """The Isa of that name, with the width of its vectors.

    >>> isa_named("avx2").vector_bytes
    32
    """
    return Isa(name, _level(name).vector_bytes)


def level_for(arch: str, has: frozenset[str]) -> str:
    """Name of the best level of a CPU of an architecture ("x86", "aarch64", ...) with these LLVM features.

    >>> level_for("aarch64", frozenset({"neon", "dotprod"})), level_for("arm", frozenset({"neon"}))
    ('dotprod', 'generic')
    """
    return next(name for name, of in LEVELS.items() if of.arch in ("", arch) and has.issuperset(of.features))


def features(name: str) -> tuple[str, ...]:
    """LLVM names of the CPU features that the kernels of this level use.

    >>> features("avx2")
    ('avx2', 'fma')
    """
    return _level(name).features
