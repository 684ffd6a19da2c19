"""Steps behind the sums on a GPU: those of kernels/parts/epilogue.py, one number at a time, in plain C++
expressions.

Constants, their order and the checks are those of `plan_epilogue`; only the expressions are new. The compiler of
CUDA contracts a * b + c to one rounding, so a product of floats is `__fmul_rn` and a sum `__fadd_rn`, which it
leaves alone.

Conversions between int32 and float32 have a lower rate than other instructions, on many GPUs a quarter, and a 1 x 1
convolution of 64 channels has only two mma for each 128 codes. So they are made by sums with 3 * 2^22: a float between
2^23 and 2^24 has steps of 1, and its lowest bits are an integer.

    sum to float    bits(3 * 2^22) + sum is the float 3 * 2^22 + sum, for |sum| <= 2^22: exact. Larger sums, as the
                    weights tell, take the instruction, which rounds
    float to code   clipped first, to whole numbers, which gives what clipping afterwards gives; then + 3 * 2^22
                    rounds half to even, and the bits less bits(3 * 2^22) are the code

Tests: tests/codegen/kernels/cuda/test_cuda_epilogue.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.builder import call, value_of
from tvmq.codegen.kernels.cuda.fixed_point import CudaFixedRequantizer
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, const
from tvmq.codegen.kernels.parts.epilogue import (
    LARGEST_INT32,
    Dequantizer,
    EpiloguePlan,
    FloatRequantizer,
    check_code_steps,
    plan_epilogue,
)
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Epilogue, FixedRequantize, TableStep
from tvmq.errors import BuildError

MAGIC, MAGIC_BITS = 3.0 * 2.0**22, 0x4B400000
LARGEST_EXACT = 2**22  # sums up to here are exact floats by way of the magic number


def scale_sum(plan: EpiloguePlan, total: Expr, constants: Sequence[Expr], is_exact: bool = False) -> Expr:
    """The sum after the requantize or dequantize step: a code as int32, a float, or the sum itself.

    constants  those of the channel, in the order of the step's parameters
    is_exact   float32 holds every sum: none is beyond LARGEST_EXACT
    raises     BuildError for a step that has no expression here
    """
    if plan.scaler is None:
        return total
    rule = RULES.get(type(plan.scaler))
    if rule is None:
        raise BuildError(f"kernels, cuda: {type(plan.scaler).__name__} has no expression; use requantize='float'")
    return rule(plan.scaler, total, constants, is_exact)


def real_of(total: Expr, is_exact: bool) -> Expr:
    """A sum as float32, rounded half to even."""
    if not is_exact:
        return T.Cast("float32", total)
    return call("float32", "__fadd_rn", call("float32", "__int_as_float", total + MAGIC_BITS), const(-MAGIC, "float32"))


def float_codes(scaler: FloatRequantizer, total: Expr, constants: Sequence[Expr], is_exact: bool) -> Expr:
    """numerics.requantize in mode "float"; codes of 16 bits are stored as floats are: one by one."""
    step, real = scaler.step, value_of("real", real_of(total, is_exact))
    product = call("float32", "__fmul_rn", real, constants[0])
    if step.negative_slope != 1:
        # the slope is at most 1 and rounding keeps the order: the larger product is the right one
        shrunk = call("float32", "__fmul_rn", constants[0], const(step.negative_slope, "float32"))
        product = call("float32", "fmaxf", product, call("float32", "__fmul_rn", real, shrunk))
    low, high = (const(float(limit - step.zero_point), "float32") for limit in (step.qmin, step.qmax))
    steps = call("float32", "fminf", call("float32", "fmaxf", product, low), high)
    bits = call("int32", "__float_as_int", call("float32", "__fadd_rn", steps, const(MAGIC, "float32")))
    code = bits + (step.zero_point - MAGIC_BITS)
    return T.Cast("int16", code) if step.dtype == "int16" else code


def reals(scaler: Dequantizer, total: Expr, constants: Sequence[Expr], is_exact: bool) -> Expr:
    """numerics.dequantize of sums without zero point."""
    return call("float32", "__fmul_rn", real_of(total, is_exact), constants[0])


def fixed_codes(scaler: CudaFixedRequantizer, total: Expr, constants: Sequence[Expr], _is_exact: bool) -> Expr:
    """numerics.requantize in mode "fixed_point"."""
    return scaler.code(total, constants)


# type of the scaler -> expression
RULES: dict[type, Any] = {
    FloatRequantizer: float_codes,
    CudaFixedRequantizer: fixed_codes,
    Dequantizer: reals,
}


def plan_steps(epilogue: Epilogue, largest_sum: int = LARGEST_INT32) -> EpiloguePlan:
    """Plan an epilogue as `plan_epilogue`, with a FixedRequantize as the first step too."""
    if not epilogue or not isinstance(epilogue[0], FixedRequantize):
        return plan_epilogue(epilogue, largest_sum)
    check_code_steps(epilogue[1:])
    return EpiloguePlan(CudaFixedRequantizer.plan(epilogue[0], largest_sum), tuple(epilogue[1:]))


def add_codes(step: AddStep, code: Expr, other: Expr) -> Expr:
    """numerics.add of two codes as int32."""
    total = code * step.a_multiplier + other * step.b_multiplier + step.offset
    low, high = step.qmin - step.zero_point, step.qmax - step.zero_point
    return T.min(T.max(total >> step.shift, low), high) + step.zero_point


def looked_up(table: Buffer, code: Expr) -> Expr:
    """Entry of a flat table in the order of `bits_table`, as int32."""
    return T.Cast("int32", table[code & 255])


def after_steps(
    plan: EpiloguePlan, buffers: dict[str, Buffer], code: Expr, others: Sequence[Expr], name: str = "code"
) -> Expr:
    """A code as int32 after all Add and Table steps.

    buffers  flat ones, of the PrimFunc's parameters
    others   codes of the further data inputs, as int32
    """
    adds = tables = 0
    for step in plan.steps:
        code = value_of(name, code)
        if isinstance(step, AddStep):
            code, adds = add_codes(step, code, others[adds]), adds + 1
        else:
            assert isinstance(step, TableStep)
            code, tables = looked_up(buffers[f"table{tables}"], code), tables + 1
    return code


def pair_of(low: Expr, high: Expr) -> Expr:
    """Two codes as the bytes of an int16."""
    return T.Cast("int16", (low & 255) | (high << 8))


def other_names(plan: EpiloguePlan) -> list[tuple[str, str]]:
    """(parameter, dtype) of every further data input."""
    adds = [step for step in plan.steps if isinstance(step, AddStep)]
    return [(f"b{index}", step.b_dtype) for index, step in enumerate(adds)]


def byte_of(word: Expr, index: int, dtype: str) -> Expr:
    """Byte of a word as int32."""
    if dtype == "uint8":
        return (word >> (8 * index)) & 255 if index < 3 else (word >> 24) & 255
    return (word << (24 - 8 * index)) >> 24 if index < 3 else word >> 24


def word_of(codes: Sequence[Expr]) -> Expr:
    """Four codes as the bytes of a word."""
    low = (codes[0] & 255) | ((codes[1] & 255) << 8)
    return low | ((codes[2] & 255) << 16) | (codes[3] << 24)


def is_codes(plan: EpiloguePlan) -> bool:
    """True if the output is 8-bit codes."""
    return np.dtype(plan.out_dtype).itemsize == 1
