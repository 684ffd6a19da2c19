"""x * w + c rounded once to float32, for CPUs without an instruction for it: computed in float64.

A float64 holds the product of two float32 exactly. Its sum with c is rounded to odd: where it is not exact, the last
bit becomes 1. Rounding that to float32 is rounding the exact sum, as 53 bits are two more than twice 24.

    p = x * w;  s = p + c;  e = p + c - s exactly (Knuth's two-sum)
    e = 0       s
    else        s cut towards zero: less one unit where the signs of e and s differ; the last bit set
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm import tirx

from tvmq.codegen.kernels.parts.builder import fence, spread, vector_type

Expr = Any


def fused_multiply_add(x: Expr, w: Expr, c: Expr, bind: Callable[[Expr], Expr], lanes: int = 1) -> Expr:
    """Vectors of float32: the bits of llvm.fma, also for denormal numbers, infinities and zeros; NaN where it is NaN.

    bind   gives an expression a variable
    """
    real, whole = vector_type("float64", lanes), vector_type("int64", lanes)

    def step(value: Expr) -> Expr:
        return bind(fence(value))  # TVM would simplify s - p

    product = step(tirx.Cast(real, x) * tirx.Cast(real, w))
    addend = bind(tirx.Cast(real, c))
    total = step(product + addend)
    part = step(total - product)
    error = step(step(product - step(total - part)) + step(addend - part))
    bits = bind(tirx.reinterpret(whole, total))
    # all bits set where signs differ
    apart = tirx.shift_right(tirx.bitwise_xor(bits, tirx.reinterpret(whole, error)), spread(63, lanes, "int64"))
    odd = tirx.bitwise_or(bits + apart, spread(1, lanes, "int64"))
    # false for the NaN that infinities leave
    is_inexact = step(error * error) > spread(0.0, lanes, "float64")
    return tirx.Cast(vector_type("float32", lanes), tirx.reinterpret(real, tirx.Select(is_inexact, odd, bits)))
