"""Features of CPUs that code needs, as words that processor.h compares with what the CPU or the system says of it.

    count of words, state that the system must save, then for each word of features: three numbers that name it, bits

Tests: tests/library/test_processors.py
"""

from __future__ import annotations

from collections.abc import Iterable

from tvmq.codegen.target.cpu import ARM, X86
from tvmq.errors import TargetError

EAX, EBX, ECX, EDX = range(4)
# LLVM's name of a feature -> its bit, by (leaf, part, register) of CPUID: Intel's manual, volume 2, and AMD's, volume 3
_X86: dict[tuple[int, int, int], dict[str, int]] = {
    (1, 0, ECX): {
        "sse3": 0, "ssse3": 9, "fma": 12, "sse4.1": 19, "sse4.2": 20, "movbe": 22, "popcnt": 23, "avx": 28, "f16c": 29,
    },
    (1, 0, EDX): {"cmov": 15, "mmx": 23, "sse": 25, "sse2": 26},
    (7, 0, EBX): {
        "bmi": 3, "avx2": 5, "bmi2": 8, "avx512f": 16, "avx512dq": 17, "avx512ifma": 21, "avx512cd": 28, "avx512bw": 30,
        "avx512vl": 31,
    },
    (7, 0, ECX): {
        "avx512vbmi": 1, "avx512vbmi2": 6, "gfni": 8, "avx512vnni": 11, "avx512bitalg": 12, "avx512vpopcntdq": 14,
    },
    (7, 0, EDX): {"avx512fp16": 23},
    (7, 1, EAX): {"avxvnni": 4, "avx512bf16": 5, "avxifma": 23},
    (7, 1, EDX): {"avxvnniint8": 4, "avxneconvert": 5, "avxvnniint16": 10},
    (0x80000001, 0, ECX): {"lzcnt": 5, "sse4a": 6, "xop": 11, "fma4": 16, "tbm": 21},
}  # fmt: skip
HWCAP, HWCAP2 = 16, 26
LOW, HIGH = 0, 1
# by (entry of the auxiliary vector, 0, half of it): Linux, arch/arm64/include/uapi/asm/hwcap.h
_ARM: dict[tuple[int, int, int], dict[str, int]] = {
    (HWCAP, 0, LOW): {
        "fp-armv8": 0, "neon": 1, "fullfp16": 10, "rdm": 12, "complxnum": 14, "sha3": 17, "dotprod": 20, "sve": 22,
        "fp16fml": 23,
    },
    (HWCAP2, 0, LOW): {"sve2": 1, "sve-sha3": 5, "i8mm": 13, "bf16": 14},
    (HWCAP2, 0, HIGH): {"cssc": 2, "mops": 11, "sve-b16b16": 13, "faminmax": 18},
}  # fmt: skip
_PLACES = {
    arch: {name: (*word, bit) for word, names in words.items() for name, bit in names.items()}
    for arch, words in ((X86, _X86), (ARM, _ARM))
}
SAVED_AVX, SAVED_AVX512 = 0x6, 0xE6  # bits of XCR0
WITH_AVX = ("avx", "f16c", "fma", "xop")  # by the begin of their names


def pack_needs(features: Iterable[str], arch: str = X86) -> list[int]:
    """Words for the features, in LLVM's names, that code can contain.

    arch     as CpuTarget.arch
    raises   TargetError for one whose bit is not known

    >>> pack_needs(["avx2", "bmi", "sse2"])
    [10, 6, 1, 0, 3, 67108864, 7, 0, 1, 40]
    >>> pack_needs(["neon", "dotprod"], "aarch64")
    [6, 0, 16, 0, 0, 1048578]
    """
    names, places = set(features), _PLACES[arch]
    unknown = sorted(names - places.keys())
    if unknown:
        raise TargetError(
            f"export_library: no program can ask a CPU of {arch} for {', '.join(unknown)}; name a target without, as "
            "'x86-64-v3' or 'arm-dotprod'"
        )
    bits: dict[tuple[int, int, int], int] = {}
    for name in names:
        *word, bit = places[name]
        key = word[0], word[1], word[2]
        bits[key] = bits.get(key, 0) | 1 << bit
    words = [part for word in sorted(bits) for part in (*word, bits[word])]
    return [len(words) + 2, _saved_state(names) if arch == X86 else 0, *words]


def _saved_state(names: Iterable[str]) -> int:
    """Bits of XCR0 for the registers that features of x86 use."""
    if any(name.startswith("avx512") for name in names):
        return SAVED_AVX512
    return SAVED_AVX if any(name.startswith(WITH_AVX) for name in names) else 0
