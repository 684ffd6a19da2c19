"""The CUDA C++ of a module: our functions, then the kernels that TVM writes.

TVM hands every source that it has written to a function registered as "tvm_callback_cuda_postproc"; ours puts the
functions of intrinsics.py in front while a module of ours is compiled, and leaves all other sources alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import tvm_ffi

from tvmq.graph.ops.registry import CUDA_FENCE
from tvmq.kernels.cuda.device import HEADER

MARK = "// tvmq: products and sums rounded by themselves; compile without fast math and with --fmad=false"
FUNCTIONS = f"""\
{MARK}
// A value that nothing is contracted or simplified through.
template <typename T> __device__ __forceinline__ T {CUDA_FENCE}(T x) {{ return x; }}
// The second one of a NaN and of two zeros, as the definition says; CUDA's own drop NaN.
template <typename T> __device__ __forceinline__ T tvmq_max(T a, T b) {{ return a > b ? a : b; }}
template <typename T> __device__ __forceinline__ T tvmq_min(T a, T b) {{ return a < b ? a : b; }}
// Towards zero; NaN and what does not fit give the least integer.
template <typename T> __device__ __forceinline__ int tvmq_int(T x) {{
  return x >= T(-2147483648.0) && x < T(2147483648.0) ? int(x) : int(0x80000000u);
}}
template <typename T> __device__ __forceinline__ long long tvmq_long(T x) {{
  return x >= T(-9223372036854775808.0) && x < T(9223372036854775808.0) ? (long long)(x)
                                                                       : (long long)(0x8000000000000000ull);
}}
"""
CALLED = re.compile(r"\btvmq_\w+")
POSTPROC = "tvm_callback_cuda_postproc"
# The sources of the module that is compiled just now; None for modules that are not ours.
_OURS: ContextVar[list[str] | None] = ContextVar("tvmq_cuda_sources", default=None)


@contextlib.contextmanager
def our_sources() -> Iterator[list[str]]:
    """Sources that TVM writes meanwhile get our functions, and are put into the list."""
    sources: list[str] = []
    token = _OURS.set(sources)
    try:
        yield sources
    finally:
        _OURS.reset(token)


def with_functions(code: str) -> str:
    """The source with our functions in front of its first kernel, those of the templates only where they are called."""
    begin = code.find('extern "C"')
    if begin < 0 or is_ours(code):
        return code
    of_templates = HEADER if set(CALLED.findall(code)) - set(CALLED.findall(FUNCTIONS)) else ""
    return f"{code[:begin]}{FUNCTIONS}{of_templates}{code[begin:]}"


def is_ours(code: str) -> bool:
    """True for a source that `with_functions` made."""
    return MARK in code


def _postproc(code: str, _target: Any) -> str:
    sources, code = _OURS.get(), str(code)
    if sources is None:
        return code
    sources.append(with_functions(code))
    return sources[-1]


def register() -> None:
    """Let TVM hand us the sources."""
    tvm_ffi.register_global_func(POSTPROC, _postproc, override=True)


register()
