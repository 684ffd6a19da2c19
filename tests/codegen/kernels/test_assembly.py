"""Machine code of each level has the instructions of that level; it is cross-compiled and runs nowhere."""

from __future__ import annotations

import re

import pytest
import tvm

from tests.codegen.kernels.harness import conv_operands, requantize_for
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.isa import LEVELS
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.target.cpu import resolve_target

ARM = "llvm -mtriple=aarch64-linux-gnu -mcpu="
# Level -> a CPU of it, the instruction that multiplies, what the code of such a CPU must not hold.
CODE = {
    "generic": ("llvm -mcpu=x86-64", r"pmul", "ymm"),
    "avx2": ("llvm -mcpu=haswell", r"vpmaddwd\s.*%ymm", "vpdpbusd|zmm"),
    "avxvnni": ("llvm -mcpu=sierraforest", r"\{vex\}\s+vpdpbusd\s.*%ymm", r"zmm|%ymm(1[6-9]|[23]\d)"),
    "avx512vl": ("llvm -mcpu=cascadelake -mattr=-avx512bw", r"vpdpbusd\s.*%ymm", "zmm"),
    "avx512bw": ("llvm -mcpu=skylake-avx512", r"vpmaddwd\s.*%zmm", "vpdpbusd"),
    "avx512vnni": ("llvm -mcpu=cascadelake", r"vpdpbusd\s.*%zmm", "vpmaddwd"),
    "avx512vbmi": ("llvm -mcpu=icelake-server", r"vpdpbusd\s.*%zmm", "vpmaddwd"),
    "amx": ("llvm -mcpu=sapphirerapids", r"tdpbusd\s", "vpdpbusd|vpmaddwd"),
    "neon": (f"{ARM}cortex-a72", r"sadalp\s+v", "dot"),
    "dotprod": (f"{ARM}neoverse-n1", r"sdot\s+v", "usdot|sadalp"),
    "i8mm": (f"{ARM}neoverse-n2", r"usmmla\s+v", "sadalp"),
}
# Instructions of features that a file does not name (target/host.py), though the CPUs have them.
UNUSED = re.compile(
    r"\s(v?aes|v?pclmul|sha\d|sm[34]|rd(rand|seed|pid)|prefetch(w|it)|clwb|clflushopt|adcx|adox|crc32|xsave|cmpxchg|"
    r"movdir|ldap|stlur|cas|swp|ld(add|clr|set)|fjcvtzs|frint(32|64)|rmif|setf|cfinv|axflag|smstart)"
)


@pytest.mark.slow_cases("amx", "avx512vbmi", "avx512bw", "avx2", "dotprod", "generic", "avx512vl", "avxvnni", "avx512vnni")
@pytest.mark.parametrize("level", LEVELS)
def test_the_instruction_of_the_level(level: str) -> None:
    text, wanted, unwanted = CODE[level]
    check(level, text, Conv2d(1, 6, 6, 32, 32), wanted, unwanted)


WORDS = {
    **dict.fromkeys(("avx2", "avx512bw"), (r"vpmaddwd\s", "vpdp")),
    **dict.fromkeys(("avxvnni", "avx512vl", "avx512vnni", "avx512vbmi"), (r"vpdpwssd\s", "vpdpbusd")),
    **dict.fromkeys(("neon", "dotprod", "i8mm"), (r"smlal\s+v", "sadalp|dot|usmmla")),
}


@pytest.mark.slow_cases("avx2", "avx512bw", "avxvnni", "avx512vnni", "dotprod", "i8mm", "avx512vl", "avx512vbmi")
@pytest.mark.parametrize("level", WORDS)
def test_the_instruction_of_16_bit_codes(level: str) -> None:
    check(level, CODE[level][0], Conv2d(1, 6, 6, 16, 32, x_dtype="int16"), *WORDS[level])


@pytest.mark.slow
def test_one_pixel_is_no_pair() -> None:
    """A product of a vector and a matrix, of the level that multiplies pairs of pixels."""
    check("i8mm", CODE["i8mm"][0], Conv2d(1, 1, 1, 64, 64), r"usdot\s+v", "mmla")


def check(level: str, text: str, conv: Conv2d, wanted: str, unwanted: str) -> None:
    """Compile for a target and search the code."""
    target = resolve_target(text)
    assert target.isa.name == level
    _, weight, bias = conv_operands(conv)
    kernel = choose_convolution(conv, weight, bias, 0, (requantize_for(conv),), target.isa)
    assert kernel is not None
    code = tvm.compile(tvm.IRModule({kernel.name: kernel.func}), target.as_tvm()).mod.inspect_source("asm")
    assert re.search(wanted, code), f"no {wanted}"
    assert not re.search(unwanted, code) and not UNUSED.search(code)
