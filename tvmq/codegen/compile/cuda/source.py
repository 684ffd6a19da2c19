"""The CUDA C++ of a module: our functions, then the kernels that TVM writes.

TVM hands every source that it has written to a function registered as "tvm_callback_cuda_postproc"; ours is registered
while a module of ours is compiled and puts our functions in front of its kernels.

Tests: tests/codegen/compile/cuda/test_build.py
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm_ffi

from tvmq.base.tvm_internals import SEE_CUDA
from tvmq.codegen.kernels.cuda.device import HEADER
from tvmq.codegen.target.nvrtc import MARK, is_ours
from tvmq.graph.operators.loops import CUDA_EXP, CUDA_FENCE
from tvmq.numerics.softmax import EXP_COEFFICIENTS, LN2_HIGH, LN2_LOW, LOG2_E, LOWEST_ARGUMENT


def _literal(value: np.floating[Any]) -> str:
    """A float32 of the source, all its bits."""
    return f"{float(value).hex()}f"


def _polynomial() -> str:
    """q = (((c4 * r + c3) * r + c2) * r + c1) * r + c0, a line for each coefficient."""
    first, *others = EXP_COEFFICIENTS[::-1]
    lines = [f"  float q = {_literal(first)};"]
    lines += [f"  q = __fadd_rn(__fmul_rn(q, r), {_literal(c)});" for c in others]
    return "\n".join(lines)


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
// exp(d) for d <= 0, as numerics.softmax defines it.
__device__ __forceinline__ float {CUDA_EXP}(float d) {{
  float t = tvmq_max(d, {_literal(LOWEST_ARGUMENT)});
  float n = nearbyintf(__fmul_rn(t, {_literal(LOG2_E)}));
  float r = __fsub_rn(__fsub_rn(t, __fmul_rn(n, {_literal(LN2_HIGH)})), __fmul_rn(n, {_literal(LN2_LOW)}));
{_polynomial()}
  float p = __fadd_rn(__fadd_rn(__fmul_rn(q, __fmul_rn(r, r)), r), 1.0f);
  return d >= {_literal(LOWEST_ARGUMENT)} ? __fmul_rn(p, __int_as_float((int(n) + 127) << 23)) : 0.0f;
}}
"""
CALLED = re.compile(r"\btvmq_\w+")


@contextlib.contextmanager
def our_sources() -> Iterator[list[str]]:
    """Sources that TVM writes in this thread meanwhile get our functions, and are put into the list."""
    sources, thread = list[str](), threading.get_ident()
    before = tvm_ffi.get_global_func(SEE_CUDA, allow_missing=True)

    def add_functions(code: str, target: Any) -> str:
        """TVM has one function for all threads: sources of others go to the one that was registered before."""
        if threading.get_ident() != thread:
            return str(code) if before is None else str(before(code, target))
        sources.append(with_functions(str(code)))
        return sources[-1]

    tvm_ffi.register_global_func(SEE_CUDA, add_functions, override=True)
    try:
        yield sources
    finally:
        if before is None:
            tvm_ffi.registry.remove_global_func(SEE_CUDA)
        else:
            tvm_ffi.register_global_func(SEE_CUDA, before, override=True)


def with_functions(code: str) -> str:
    """The source with our functions in front of its first kernel, those of the templates only where they are called."""
    begin = code.find('extern "C"')
    if begin < 0 or is_ours(code):
        return code
    of_templates = HEADER if set(CALLED.findall(code)) - set(CALLED.findall(FUNCTIONS)) else ""
    return f"{code[:begin]}{FUNCTIONS}{of_templates}{code[begin:]}"
