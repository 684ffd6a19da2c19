"""Kernels and legalized operators on 64-bit Arm, emulated: the bits of the definition there too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te, tirx

from tests.codegen.kernels.arm import CPUS, arm_target, needs_arm, run_on_arm
from tests.codegen.kernels.cases import (
    Case,
    add_cases,
    attention_cases,
    batch_matmul_cases,
    concat_cases,
    convert_cases,
    copy_cases,
    global_sum_cases,
    multiply_cases,
    pool_cases,
    table_cases,
)
from tests.codegen.kernels.table import TABLE, large_cases
from tests.graph.float_op_cases import float_cases
from tests.graph.test_ops import function_of
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.pool_windows import Pool2d
from tvmq.codegen.schedule.generic import schedule_generic
from tvmq.graph.operators.loops import fence
from tvmq.tools.analysis.verification import unequal_bits

SMALL: list[Case] = [
    *(case for name in ("softmax", "norm") for case in TABLE[name].make(TABLE[name].sizes)),
    *convert_cases([(3, 35)]),
    *add_cases([(1, 3, 3, 7)]),
    *multiply_cases([((2, 3, 3, 5), (2, 1, 1, 5))]),
    *table_cases([(1, 5, 5, 3)]),
    *pool_cases([Pool2d(1, 7, 6, 5, (3, 3), (2, 2), (1, 1, 1, 1))]),
    *copy_cases([(1, 3, 4, 5)]),
    *concat_cases([([(1, 2, 2, 3), (1, 2, 2, 5)], 3)]),
]


# What instruction sets do by instructions of their own
LEVELS: list[Case] = [
    *(case for name in ("conv2d", "depthwise") for case in TABLE[name].cases()),
    *batch_matmul_cases([(2, 5, 7, 9), (1, 16, 32, 20)]),
    *attention_cases([(2, 9, 21, 12, 10)]),
    *add_cases([(1, 3, 3, 7), (1, 5, 5, 16), (1, 4, 4, 9)]),
    *table_cases([(1, 5, 5, 3), (1, 8, 8, 8)]),
    *convert_cases([(3, 35)]),
    *global_sum_cases([(1, 7, 7, 40)]),
]  # fmt: skip


@pytest.mark.slow
@needs_arm
@pytest.mark.thinned(3)
@pytest.mark.parametrize("level", CPUS)
def test_levels_equal_the_definition(level: str, tmp_path: Path) -> None:
    """Every level on the emulated CPU of that level, which ends the process at an instruction that it lacks."""
    kernels = [case.make(isa_named(level)) for case in LEVELS]
    inputs = [(*case.inputs, *kernel.constants) for case, kernel in zip(LEVELS, kernels, strict=True)]
    found = run_on_arm([kernel.func for kernel in kernels], inputs, [case.expected for case in LEVELS], tmp_path, level)
    assert _differing(LEVELS, found) == []


@pytest.mark.slow
@needs_arm
def test_kernels_equal_the_definition(tmp_path: Path) -> None:
    """Plain kernels at all sizes, and large ones in several chunks."""
    cases = [*SMALL, *(case for case in large_cases() if case.name.startswith(("softmax", "norm")))]
    kernels = [case.make(isa_named("generic")) for case in cases]
    inputs = [(*case.inputs, *kernel.constants) for case, kernel in zip(cases, kernels, strict=True)]
    found = run_on_arm([kernel.func for kernel in kernels], inputs, [case.expected for case in cases], tmp_path)
    assert _differing(cases, found) == []


@pytest.mark.slow
@needs_arm
def test_legalized_operators_equal_the_definition(tmp_path: Path) -> None:
    """Softmax, norms and fences as any build that has no kernel for them compiles them."""
    cases = [case for case in float_cases() if not case.name.startswith("fence")]
    expected = [case.expected(*case.inputs.values()) for case in cases]
    functions = [_legalized(function_of(case)) for case in cases]
    found = run_on_arm(functions, [list(case.inputs.values()) for case in cases], expected, tmp_path)
    for case, value in zip(cases, expected, strict=True):
        case.expected = value
    assert _differing(cases, found) == []


@needs_arm
def test_a_product_without_a_fence_is_contracted_there(tmp_path: Path) -> None:
    """Without a fence the sum of a product is rounded once, with a fence twice, as in NumPy."""
    random = np.random.default_rng(0)
    values = [random.normal(size=1000).astype(np.float32) for _ in range(3)]

    def function(guard: Any) -> Any:
        a, b, c = (te.placeholder((1000,), "float32", name) for name in "abc")
        result = te.compute((1000,), lambda i: guard(a[i] * b[i]) + c[i])
        return te.create_prim_func([a, b, c, result])

    with arm_target():
        functions = [function(fence), function(lambda value: value)]
    rounded = values[0] * values[1] + values[2]
    apart, fused = run_on_arm(functions, [values, values], [rounded, rounded], tmp_path)
    assert not unequal_bits(apart, rounded).any()
    assert unequal_bits(fused, rounded).any()


def _legalized(function: relax.Function) -> tirx.PrimFunc:
    """The one function of loops that an operator becomes."""
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    with arm_target():
        module = schedule_generic(relax.transform.LegalizeOps()(module), 16)
    (found,) = (func for _, func in module.functions_items() if isinstance(func, tirx.PrimFunc))
    return found


def _differing(cases: list[Any], found: list[np.ndarray]) -> list[str]:
    return [case.name for case, value in zip(cases, found, strict=True) if unequal_bits(value, case.expected).any()]
