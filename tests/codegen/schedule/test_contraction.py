"""Products and sums of loops: which are rounded once, on CPUs with and without an instruction for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import te, tirx

from tvmq.codegen.schedule.contraction import fix_contraction
from tvmq.codegen.schedule.generic import schedule_generic
from tvmq.codegen.target.cpu import missing_requirements, resolve_target

SIZE = 4096
CPUS = ("x86-64", "x86-64-v2", "llvm -mcpu=haswell", "llvm")
RANDOM = np.random.default_rng(0)
INPUTS = [RANDOM.standard_normal(SIZE) for _ in range(4)]
INPUTS[1] = INPUTS[1] * 0.3 + 1


def loops(element: Callable[..., Any], dtype: str = "float32") -> Any:
    """y[i] = element(a[i], b[i], c[i], d[i])."""
    inputs = [te.placeholder((SIZE,), dtype, name) for name in "abcd"]
    return te.create_prim_func([*inputs, te.compute((SIZE,), lambda i: element(*(x[i] for x in inputs)), name="y")])


def dot(a: Any, b: Any) -> Any:
    """Sums of 64 products each."""
    k = te.reduce_axis((0, 64), "k")
    return te.compute((SIZE // 64,), lambda i: te.sum(a[i * 64 + k] * b[i * 64 + k], axis=k), name="y")


def text(func: Any, *, has_fma: bool = True) -> str:
    return str(fix_contraction(func, has_fma).script())


def run(func: Any, cpu: str, shape: tuple[int, ...] = (SIZE,)) -> np.ndarray:
    """The result of loops on a CPU; skipped where this one cannot run its code."""
    target = resolve_target(cpu)
    if missing_requirements(target):
        pytest.skip(f"this CPU lacks {missing_requirements(target)}")
    func = func.with_attr("global_symbol", "main")
    compiler = target.as_tvm()
    with compiler:
        scheduled = schedule_generic(tvm.IRModule({"main": func}), target.isa.vector_bytes, target.has_fma)
        library = tvm.compile(scheduled, compiler)
    dtype = str(func.params[-1].dtype)
    result = tvm.runtime.tensor(np.zeros(shape, dtype))
    arrays = [tvm.runtime.tensor(x.astype(dtype)) for x in INPUTS[: len(func.params) - 1]]
    library["main"](*arrays, result)
    return result.numpy()


ELEMENTS: dict[str, Callable[..., Any]] = {
    "sum": lambda a, b, c, d: a * b + c,
    "sum of products": lambda a, b, c, d: a * b + c * d,
    "difference": lambda a, b, c, d: c - a * b,
    "less a number": lambda a, b, c, d: a * b - tirx.const(0.7, c.dtype),
    "difference of products": lambda a, b, c, d: a * b - c * d,
    "choice": lambda a, b, c, d: tirx.Select(d > 0, a * b, c) + d,
    "branch": lambda a, b, c, d: tirx.if_then_else(d > 0, a * b, c) + d,
    "quotient": lambda a, b, c, d: a * b / tirx.const(2, a.dtype) + c,
    "polynomial": lambda a, b, c, d: ((a * b + c) * b + d) * b + tirx.const(0.1, a.dtype),
    "arc sine": lambda a, b, c, d: tirx.asin(a * tirx.const(0.1, a.dtype)),
    "product used twice": lambda a, b, c, d: (a * b + c) / (a * b + d),
    "product less two numbers": lambda a, b, c, d: (a * b - tirx.const(0.7, a.dtype)) / (a * b - tirx.const(5, a.dtype)),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ELEMENTS)
def test_loops_give_the_same_bits_on_every_cpu(name: str, dtype: str) -> None:
    func = loops(ELEMENTS[name], dtype)
    first, *others = (run(func, cpu) for cpu in CPUS)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sum of products", "polynomial"])
def test_loops_of_float16(name: str) -> None:
    test_loops_give_the_same_bits_on_every_cpu(name, "float16")


@pytest.mark.parametrize("cpu", CPUS)
def test_sums_round_each_product_with_its_sum(cpu: str) -> None:
    a, b = (te.placeholder((SIZE,), name=name) for name in "ab")
    x, w = (array.astype(np.float32).astype(np.float64).reshape(-1, 64) for array in INPUTS[:2])
    sums = np.zeros(SIZE // 64, np.float32)
    for k in range(64):  # a float64 holds the product; none of these sums is a tie behind its last bit
        sums = (sums + x[:, k] * w[:, k]).astype(np.float32)
    np.testing.assert_array_equal(run(te.create_prim_func([a, b, dot(a, b)]), cpu, sums.shape), sums)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_only_cpus_without_the_instruction_have_other_loops(dtype: str) -> None:
    plain = loops(ELEMENTS["sum"], dtype)
    assert fix_contraction(plain, True).same_as(plain)
    assert text(plain, has_fma=False).count("llvm.fma") == 1


@pytest.mark.parametrize("name", ["difference", "less a number", "difference of products"])
def test_differences_are_rounded_once(name: str) -> None:
    assert text(loops(ELEMENTS[name])).count("llvm.fma") == 1


@pytest.mark.parametrize("name", ["choice", "branch", "quotient"])
def test_other_products_are_fenced(name: str) -> None:
    assert text(loops(ELEMENTS[name])).count("llvm.arithmetic.fence") == 1


def test_products_of_float16_are_fenced() -> None:
    for name in ("sum", "difference"):
        assert text(loops(ELEMENTS[name], "float16"), has_fma=False).count("llvm.arithmetic.fence") == 1


def test_a_product_with_a_name_is_fenced() -> None:
    name = tirx.Var("product", "float32")
    func = loops(lambda a, b, c, d: tvm.ir.prim.expr.Let(name, a * b, name + c))
    assert text(func).count("llvm.arithmetic.fence") == 1


def test_series_are_written_out() -> None:
    assert "T.asin(" not in text(loops(ELEMENTS["arc sine"])) and "T.asin(" in str(loops(ELEMENTS["arc sine"]).script())


def test_integers_stay_as_they_are() -> None:
    func = loops(lambda a, b, c, d: a * b - c * d + a * c, "int32")
    assert fix_contraction(func, False).same_as(func)
