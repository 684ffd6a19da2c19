"""Features of CPUs by what compiled code has of them: what it can contain, and what it never does.

A file names the features that its code can contain, and a CPU without one of them is refused. Virtual machines and
kernels hide others (rdseed, clwb, pku, xsavec, ...), for which LLVM has instructions too: it selects them for
intrinsics of C only, and our kernels have none of these. On x86 nobody need rely on that: what is not listed as code
is switched off where kernels are compiled (CpuTarget.as_tvm), so LLVM cannot select it.
"""

from __future__ import annotations

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
    "sse4.2": "sse4_2",
}  # fmt: skip

# Instructions for the system, for locks, random numbers, cryptography, matrix tiles, prefetching for writes, and the
# forms of APX and AVX10, which no kernel of ours was measured with.
X86_UNUSED = frozenset((
    "adx aes amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 amx-tile avx10.1 avx10.2 "
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
