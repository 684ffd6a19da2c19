"""Flat tensors: no quotients in vectors, original parameters, equal bits."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import te

from tvmq.graph.ops.registry import fence
from tvmq.schedule.generic import schedule_function
from tvmq.target.cpu import resolve_target

TARGET = resolve_target("llvm")


def chain(shape, other):
    """(x + b) * x, each rounded; b broadcasts."""
    x, b = te.placeholder(shape, name="x"), te.placeholder(other, name="b")
    at = [slice(None) if extent > 1 else 0 for extent in other]

    def plus(*index):
        return fence(x(*index) + b(*(i if kept == slice(None) else 0 for i, kept in zip(index, at, strict=True))))

    total = te.compute(shape, plus, name="total")
    return te.create_prim_func([x, b, te.compute(shape, lambda *i: fence(total(*i) * x(*i)), name="y")])


CASES = [((1, 2, 9, 40), (1, 2, 9, 40)), ((3, 5, 7), (3, 1, 1)), ((4, 6, 35), (1, 1, 35)), ((2, 3, 13), (1, 1, 1))]


@pytest.mark.parametrize("shape, other", CASES)
def test_equal_bits(shape, other):
    random = np.random.default_rng(0)
    x, b = (random.normal(size=size).astype(np.float32) for size in (shape, other))
    func = schedule_function(chain(shape, other), 64)
    assert [tuple(map(int, param.shape)) for param in func.params] == [shape, other, shape]
    library = tvm.compile(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), TARGET.as_tvm())
    y = tvm.runtime.tensor(np.zeros(shape, np.float32))
    library["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(b), y)
    np.testing.assert_array_equal(y.numpy(), (x + b) * x)


def test_vectors_across_rows_have_no_quotients():
    text = schedule_function(chain((1, 2, 9, 40), (1, 2, 9, 40)), 64).script()
    assert "T.vectorized(16)" in text and "//" not in text and "%" not in text


@pytest.mark.parametrize("shape, lanes", [((2, 9, 48), 64), ((2, 9, 40), 32)])
def test_rows_of_whole_vectors_stay_as_they_are(shape, lanes):
    assert "view(" not in schedule_function(chain(shape, shape), lanes).script()
    assert "view(" in schedule_function(chain((2, 9, 41), (2, 9, 41)), lanes).script()


def test_code_is_one_load_for_a_vector():
    func = schedule_function(chain((1, 2, 9, 40), (1, 2, 9, 40)), 64)
    target = tvm.target.Target({"kind": "llvm", "mcpu": "skylake-avx512"})
    compiled = tvm.compile(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), target)
    assembly = compiled.mod.inspect_source("asm")
    assert "vmulps" in assembly and "vmulss" not in assembly
