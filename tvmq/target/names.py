"""Short names of targets: the levels that compilers share, and the instruction sets of our kernels."""

from __future__ import annotations

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
    "arm-neon": (ARM, "-mcpu=generic"),
    "arm-dotprod": (ARM, "-mcpu=generic -mattr=+v8.2a,+dotprod"),
    "arm-i8mm": (ARM, "-mcpu=generic -mattr=+v8.6a,+dotprod,+i8mm"),
}


def spelled_out(text: str, here: str) -> str:
    """The target in TVM's old form; what is no short name stays.

    here  architecture of this machine; a target of another one is for Linux

    >>> spelled_out("avx-vnni", "x86"), spelled_out("arm-neon", "x86")
    ('llvm -mcpu=x86-64-v3 -mattr=+avxvnni', 'llvm -mtriple=aarch64-linux-gnu -mcpu=generic')
    """
    if text not in NAMES:
        return text
    arch, options = NAMES[text]
    return f"llvm {options}" if arch == here else f"llvm -mtriple={TRIPLES[arch]} {options}"
