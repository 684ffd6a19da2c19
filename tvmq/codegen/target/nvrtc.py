"""CUDA C++ to machine code by NVRTC, NVIDIA's compiler as a library (Python packages cuda-bindings, nvidia-cuda-nvrtc).

For machines with a GPU and without nvcc. TVM's sources include two headers of CUDA that NVRTC does not bring; what
they need of them is given here.

What NVIDIA's compilers are told about arithmetic, and what they say.

Tests: tests/codegen/target/test_cuda_compilers.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tvm.support import nvcc as tvm_nvcc

from tvmq.errors import BuildError, TargetError

# No contraction, no flushing to zero, division and roots as IEEE 754 has them. All but the first are their defaults.
FLAGS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
# The first line of ours in a source that is to be compiled so.
MARK = "// tvmq: products and sums rounded by themselves; compile without fast math and with --fmad=false"


def is_ours(code: str) -> bool:
    """True for a source that `compile.cuda.source.with_functions` made."""
    return MARK in code


def first_error(text: str) -> str:
    """The first line of a compiler's output that tells an error.

    >>> first_error("k.cu(1): warning: x\\nk.cu(2): error: y\\n1 error")
    'k.cu(2): error: y'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower() or "fatal" in line.lower()), (lines or ["?"])[0])


INTEGERS = """
namespace cuda { namespace std {
using int8_t = signed char; using int16_t = short; using int32_t = int; using int64_t = long;
using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned int;
using uint64_t = unsigned long;
} }
"""
TRAITS = """
namespace cuda { namespace std {
template <bool B> struct truth { static constexpr bool value = B; };
template <class A, class B> struct is_same : truth<false> {};
template <class A> struct is_same<A, A> : truth<true> {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class A> struct is_floating_point : truth<is_same_v<A, float> || is_same_v<A, double>> {};
template <class A> struct is_integral : truth<(A(1) / A(2) == A(0)) && !is_floating_point<A>::value> {};
template <class A> struct is_signed : truth<(A(-1) < A(0))> {};
template <class A> struct is_unsigned : truth<!is_signed<A>::value> {};
template <bool B, class A = void> struct enable_if {};
template <class A> struct enable_if<true, A> { using type = A; };
template <bool B, class X, class Y> struct conditional { using type = X; };
template <class X, class Y> struct conditional<false, X, Y> { using type = Y; };
} }
"""
HEADERS = {"cuda/std/cstdint": INTEGERS, "cuda/std/type_traits": TRAITS}


def compile_by_nvrtc(source: str, arch: str) -> bytes:
    """A source compiled by NVRTC: machine code of `arch`.

    raises   TargetError without NVRTC, BuildError with what it says
    """
    nvrtc = _nvrtc()
    options = [f"--gpu-architecture={arch}", "-default-device", "--std=c++17", "-w", *FLAGS, *_includes()]
    names, texts = ([text.encode() for text in part] for part in (HEADERS.keys(), HEADERS.values()))
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", len(names), texts, names)
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise BuildError(f"build: NVRTC could not compile the kernels for {arch}: {first_error(_log(nvrtc, program))}")
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    code = bytearray(size)
    nvrtc.nvrtcGetCUBIN(program, code)
    return bytes(code)


def _nvrtc() -> Any:
    """The bindings of NVRTC, the library loaded."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:  # no bindings, or no library behind them
        raise TargetError(
            "build: the kernels are CUDA C++ and this machine has neither nvcc nor NVRTC; install CUDA's nvcc, or "
            "`pip install cuda-bindings nvidia-cuda-nvrtc`, or save the model where nvcc is"
        ) from error
    return nvrtc


def _log(nvrtc: Any, program: Any) -> str:
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    text = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, text)
    return text.decode(errors="replace").rstrip("\0")


def _includes() -> list[str]:
    """Folders with CUDA's headers, where CUDA is installed: float16 needs them."""
    try:
        root = Path(tvm_nvcc.find_cuda_path())
    except RuntimeError:
        return []
    folders = [root / "include", *root.glob("targets/*/include"), *root.glob("targets/*/include/cccl")]
    return [f"-I{folder}" for folder in folders if folder.is_dir()]
