"""Loops of dynamic sizes: equal bits at every size, vectors, and functions with sizes as parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import te

from tvmq.codegen.schedule.generic import SCHEDULED, schedule_function
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph.operators.loops import fence

TARGET = resolve_target("llvm")
SIZES = [(1, 1, 1), (1, 4, 5), (2, 9, 33), (1, 1, 16), (3, 2, 8)]
Sizes = tuple[Any, ...]


def chain(shape: Sizes, other: Sizes, fenced: bool = True) -> Any:
    """(x + b) * x, each rounded; b broadcasts."""
    names = {name: te.var(name, "int64") for name in (*shape, *other) if isinstance(name, str)}
    full, rest = ([names.get(size, size) for size in sizes] for sizes in (shape, other))
    x, b = te.placeholder(full, name="x"), te.placeholder(rest, name="b")
    kept = fence if fenced else lambda value: value

    def plus(*index: Any) -> Any:
        return kept(x(*index) + b(*(i if size == whole else 0 for i, size, whole in zip(index, other, shape, strict=True))))

    total = te.compute(full, plus, name="total")
    return te.create_prim_func([x, b, te.compute(full, lambda *i: kept(total(*i) * x(*i)), name="y")])


CASES = [
    ((1, 3, "h", "w"), (1, 3, 1, 1)),
    (("n", "h", "w", 20), (1, 1, 1, 20)),
    (("n", "h", "w", 20), ("n", "h", "w", 20)),
    (("n", "h", "w", 3), ("n", 1, 1, 1)),
    (("n", "h", "w", 32), (1, 1, 1, 32)),
    (("n", "h", "w"), (1, "h", 1)),
    (("n", "h", "w"), ("n", 1, "w")),
    (("n", 1, 1, "w"), ("n", 1, 1, 1)),
    (("n", 1, "w", 1), ("n", 1, 1, 1)),
]


@pytest.mark.slow_cases("True-shape2-*", "True-shape3-*", "True-shape4-*", "False-*")
@pytest.mark.parametrize("shape, other", CASES)
@pytest.mark.parametrize("fenced", [True, False])
def test_equal_bits(shape: Sizes, other: Sizes, fenced: bool) -> None:
    func = schedule_function(chain(shape, other, fenced), 64)
    assert SCHEDULED in func.attrs
    library = tvm.compile(tvm.IRModule({"main": func.with_attr("global_symbol", "main")}), TARGET.as_tvm())
    random = np.random.default_rng(0)
    for sizes in SIZES:
        known = dict(zip("nhw", sizes, strict=True))
        full, rest = ([known.get(size, size) for size in names] for names in (shape, other))
        x, b = (random.normal(size=size).astype(np.float32) for size in (full, rest))
        y = tvm.runtime.tensor(np.full(full, 77, np.float32))
        library["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(b), y)
        np.testing.assert_array_equal(y.numpy(), (x + b) * x)


@pytest.mark.parametrize("shape, other, words, absent", [
    ((1, 3, "h", "w"), (1, 3, 1, 1), ["h * w // T.int64(16)", "T.vectorized(T.int64(16))", "x_flat"], ["sblock(\"y\")"]),
    (("n", "h", "w", 20), ("n", "h", "w", 20), ["n * h * w * T.int64(20) // T.int64(16)"], ["for i0"]),
    (("n", "h", "w", 32), (1, 1, 1, 32), ["T.vectorized(16)", "sblock(\"y\")"], ["x_flat"]),
    (("n", "h", "w"), ("n", 1, "w"), ["w // T.int64(16)", "T.grid(n, h)"], ["x_flat"]),
])  # fmt: skip
def test_form_of_the_loops(shape: Sizes, other: Sizes, words: list[str], absent: list[str]) -> None:
    text = schedule_function(chain(shape, other), 64).script()
    assert [word for word in words if word not in text] == []
    assert [word for word in absent if word in text] == []


def test_what_llvm_makes_vectors_of_keeps_its_loops() -> None:
    text = schedule_function(chain((1, 3, "h", "w"), (1, 3, "h", 1), fenced=False), 64).script()
    assert "x_flat" not in text and "T.vectorized" not in text
    assert "x_flat" in schedule_function(chain((1, 3, "h", "w"), (1, 3, 1, 1), fenced=False), 64).script()


def test_functions_with_sizes_as_parameters_are_scheduled() -> None:
    size = te.var("size", "int64")
    x = te.placeholder((3, size * 2), name="x")
    y = te.compute((3, size * 2), lambda i, j: fence(x[i, j] + 1.0), name="y")
    func = schedule_function(te.create_prim_func([x, size, y]), 64)
    assert SCHEDULED in func.attrs and len(func.params) == 3
    assert "T.vectorized(T.int64(16))" in func.script()
