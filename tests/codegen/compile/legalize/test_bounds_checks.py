"""Bounds checks: no input reads outside of memory or stops the CPU; compiled code equals the definition.

Marks of TVM's own loops that make LLVM's code generator warn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax import op as R

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net
from tvmq import numerics
from tvmq.codegen.compile.legalize.bounds_checks import MARK, without_scopes
from tvmq.codegen.compile.vm_pipeline import legalize
from tvmq.errors import UnsupportedOpError
from tvmq.reference import Reference

LONG = np.iinfo(np.int64)
INDICES = [0, 3, 4, 9, 10, -1, -4, -5, -10, -11, 10**7, -(10**7), 2**31, 2**40, 2**62, LONG.max, LONG.min, LONG.min + 1]
FLOATS = np.float32([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 1.5, -0.5, 0, 100, 7])
RANDOM = np.random.default_rng(0)
MATRIX = np.arange(1, 41, dtype=np.float32).reshape(4, 10)
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def module(body: Callable[..., Any], feed: dict[str, np.ndarray]) -> tvm.IRModule:
    """body(emit, *variables) gives the results of a module that takes `feed`."""
    return tvmq.from_relax(build_module(feed, lambda builder, *params: list(body(builder.emit, *params))))[0]


def runs(body: Callable[..., Any], feed: dict[str, np.ndarray], names: Sequence[str] = ()) -> list[np.ndarray]:
    """Results of the compiled model, checked to equal the definition."""
    mod = module(body, feed)
    results = tvmq.build(mod).run(feed)
    for index, (a, b) in enumerate(zip(results, tvmq.reference.run(mod, feed), strict=True)):
        np.testing.assert_array_equal(a, b, err_msg=names[index] if names else str(index))
    return results


def computed(emit: Any, index: relax.Expr) -> relax.Expr:
    """An index that no check of the inputs sees."""
    return emit(R.bitwise_xor(index, relax.const(0, "int64")))


@pytest.mark.slow
def test_floats_become_the_nearest_integers() -> None:
    ends = [float(end) for kind in INTEGERS for end in (np.iinfo(kind).min, np.iinfo(kind).max)]
    x = np.float32([*FLOATS, *ends, *(end * 1.001 for end in ends), 127.9, -128.9] * 3)
    results = runs(lambda _, x: [R.astype(x, kind) for kind in INTEGERS], {"x": x}, INTEGERS)  # astype is defined
    for kind, result in zip(INTEGERS, results, strict=True):
        np.testing.assert_array_equal(result, numerics.cast(x, kind))


@pytest.mark.parametrize(
    "kind", ["int32", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("int8", "uint8", "uint32", "int64"))]
)
def test_division_and_shifts_of_integers(kind: str) -> None:
    limits = np.iinfo(kind)
    values = np.array(sorted({limits.min, limits.min + 1, max(limits.min, -1), 0, 1, 3, 31, 64, limits.max}), kind)
    a, b = (part.ravel().copy() for part in np.meshgrid(values, values))
    operators = [R.divide, R.floor_divide, R.mod, R.floor_mod, R.left_shift, R.right_shift]

    def body(_: Any, a: relax.Expr, b: relax.Expr) -> list[relax.Expr]:
        return [op(a, b) for op in operators] + [op(a, relax.const(0, kind)) for op in operators]

    results = tvmq.build(module(body, {"a": a, "b": b})).run({"a": a, "b": b})
    with np.errstate(all="ignore"):
        functions = [numerics.divide, np.floor_divide, np.fmod, np.mod, np.left_shift, np.right_shift]
        expected = [function(a, c) for c in (b, np.zeros_like(b)) for function in functions]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.fixture(scope="module")
def indexed() -> tuple[Reference, tvmq.Executable, dict[str, np.ndarray]]:
    """Every operator of OPERANDS, with computed indices."""
    feed = {
        "x": MATRIX,
        "i": np.zeros((4, 2), np.int64),
        "u": np.zeros((4, 2), np.float32),
        "v": np.zeros(4, np.float32),
    }

    def body(emit: Any, x: relax.Expr, i: relax.Expr, u: relax.Expr, v: relax.Expr) -> list[relax.Expr]:
        at = computed(emit, i)
        rows, columns = (
            emit(R.squeeze(part, [1])) for part in (emit(R.strided_slice(at, [1], [k], [k + 1])) for k in (0, 1))
        )
        first = [emit(R.strided_slice(part, [0], [0], [1])) for part in (rows, columns)]
        return [
            *(R.take(x, at, axis=1, mode=mode) for mode in ("fast", "wrap", "clip", "nan")),
            R.take(x, emit(R.astype(at, "int32")), axis=0),
            R.take(x, emit(R.astype(at, "uint8")), axis=0),
            R.gather_elements(x, at, 1),
            R.gather_nd(x, at),
            R.index_tensor(x, [rows, columns]),
            *(R.scatter_elements(x, at, u, 1, how) for how in ("update", "add", "max")),
            *(R.scatter_nd(x, at, v, how) for how in ("update", "add", "min")),
            R.index_put(x, first, emit(R.strided_slice(v, [0], [0], [1]))),
        ]

    mod = module(body, feed)
    return Reference(mod), tvmq.build(mod), feed


@pytest.mark.slow_cases("0", "1", "2", "3")
@pytest.mark.parametrize("seed", range(6))
def test_computed_indices_wrap_round(indexed: Any, seed: int) -> None:
    definition, exe, feed = indexed
    random = np.random.default_rng(seed)
    i, u, v = random.choice(INDICES, (4, 2)), *(random.normal(size=s).astype(np.float32) for s in ((4, 2), 4))
    feed = {**feed, "i": i, "u": u, "v": v}
    results = exe.run(feed)
    for a, b in zip(results, definition.run(feed), strict=True):
        np.testing.assert_array_equal(a, b)
    columns, points = i % 10, i % [4, 10]
    at = (points[:, 0], points[:, 1])
    outside = (i < 0) | (i >= 10)
    put, added = MATRIX.copy(), MATRIX.copy()
    for row, (places, values) in enumerate(zip(columns, u, strict=True)):
        for place, value in zip(places, values, strict=True):
            put[row, place] = value
    np.add.at(added, at, v)
    np.testing.assert_array_equal(results[0], MATRIX[:, columns])
    np.testing.assert_array_equal(results[1], MATRIX[:, columns])
    np.testing.assert_array_equal(results[2], MATRIX[:, i.clip(0, 9)])
    np.testing.assert_array_equal(results[3], np.where(outside, np.float32(np.nan), MATRIX[:, columns]))
    np.testing.assert_array_equal(results[4], MATRIX[i.astype(np.int32) % 4])
    np.testing.assert_array_equal(results[5], MATRIX[i.astype(np.uint8) % 4])
    np.testing.assert_array_equal(results[6], np.take_along_axis(MATRIX, columns, 1))
    for result in results[7:9]:
        np.testing.assert_array_equal(result, MATRIX[at])
    np.testing.assert_array_equal(results[9], put)
    np.testing.assert_array_equal(results[13], added)
    assert np.isin(results[15], [*MATRIX.ravel(), v[0]]).all()


@pytest.mark.slow
def test_places_made_of_floats() -> None:
    """Grids, boxes, numbers of pictures: whatever the floats, only what is in the picture is read."""
    feed = {
        "x": RANDOM.uniform(1, 2, (2, 1, 5, 6)).astype(np.float32),
        "grid": RANDOM.choice(FLOATS, (2, 2, 8, 8)),
        "boxes": RANDOM.choice(FLOATS, (9, 5)),
    }

    def body(_: Any, x: relax.Expr, grid: relax.Expr, boxes: relax.Expr) -> list[relax.Expr]:
        return [
            R.image.grid_sample(x, grid, method="nearest", padding_mode="border"),
            R.image.grid_sample(x, grid, method="bilinear", padding_mode="zeros"),
            R.vision.roi_align(x, boxes, (2, 2), 1.0, 2),
            R.vision.roi_align(x, boxes, (2, 2), 1.0, -1),  # so many samples as the boxes say
            R.vision.roi_pool(x, boxes, (2, 2), 1.0),
        ]

    results = runs(body, feed)
    assert np.isin(results[0], feed["x"]).all()
    for result in results[1:4]:
        known = result[np.isfinite(result)]
        assert (np.abs(known) <= 2.001).all()


@pytest.mark.slow
def test_lengths_and_classes_from_inputs() -> None:
    feed = {
        "x": MATRIX.T.copy(),
        "lengths": RANDOM.choice(INDICES, 4),
        "classes": RANDOM.choice(INDICES, 10),
        "w": np.ones(4, np.float32),
    }

    def body(_: Any, x: relax.Expr, lengths: relax.Expr, classes: relax.Expr, w: relax.Expr) -> list[relax.Expr]:
        loss = R.nn.nll_loss(x, classes, w, reduction="none", ignore_index=-100)
        return [R.reverse_sequence(x, lengths, 0, 1), loss]

    turned, loss = runs(body, feed)
    assert np.isin(turned, MATRIX).all()
    assert np.isin(-loss, MATRIX).all()


def test_nothing_is_added_where_all_is_proved() -> None:
    index, three = relax.const(np.arange(3), "int64"), relax.const(3, "int64")

    def body(emit: Any, x: relax.Expr, i: relax.Expr) -> list[relax.Expr]:
        return [
            R.take(x, index, axis=0),
            R.take(x, emit(R.floor_mod(i, three)), axis=0, mode="wrap"),
            R.divide(i, three),
        ]

    with tvm.target.Target("llvm"):
        text = legalize(module(body, {"x": MATRIX, "i": np.arange(4)})).script()
    assert "T.min(" not in text and "T.max(" not in text and "T.Select(" not in text


def test_dynamic_sizes() -> None:
    def body(builder: Any, x: relax.Var, i: relax.Var) -> list[relax.Expr]:
        gathered = [R.gather_elements(x, index, 1) for index in (i, computed(builder.emit, i))]
        return [*gathered, R.topk(x, 3, 1, "values")]

    mod, _ = tvmq.from_relax(build_module({"x": (2, "n"), "i": ((2, 1), "int64")}, body))
    exe, data = tvmq.build(mod), np.arange(10, dtype=np.float32).reshape(2, 5)
    for feed in ({"x": data, "i": np.array([[-1], [4]])}, {"x": data[:, :4], "i": np.array([[3], [-4]])}):
        np.testing.assert_array_equal(
            exe.run(feed)[0], np.take_along_axis(feed["x"], feed["i"] % feed["x"].shape[1], 1)
        )
    for run in (exe.run, lambda feed: tvmq.reference.run(mod, feed)):
        with pytest.raises(tvmq.errors.DataError, match=r"index 4 lies outside of -4\.\.3"):
            run({"x": data[:, :4], "i": np.array([[4], [0]])})
        with pytest.raises(tvmq.errors.DataError, match="takes 3"):
            run({"x": data[:, :2], "i": np.array([[0], [0]])})


def test_topk_of_more_than_there_is() -> None:
    with pytest.raises(UnsupportedOpError, match="layer 'topk_0': topk: 99 of an axis of 10; take at most 10"):
        module(lambda _, x: [R.topk(x, 99, 1, "values")], {"x": MATRIX})


MARKED = """
# from tvm.script import ir as I
# from tvm.script import tirx as T
@I.ir_module
class Module:
    @T.prim_func
    def loops(A: T.Buffer((8,), "float32")):
        with T.attr(0, "pragma_scope", "seq"):
            with T.attr(0, "pragma_unroll_explicit", 0):
                for i in range(8):
                    A[i] = T.float32(1)
"""


@pytest.mark.slow
def test_a_scatter_compiles_in_silence(uncached, capfd):
    net = Net((1, 8))
    places, ones = net.constant(np.array([[1, 2]])), net.constant(np.ones((1, 2), np.float32))
    mod, params = tvmq.from_onnx(net.model(net.op("ScatterElements", "x", places, ones, axis=1)))
    with tvm.target.Target("llvm"):
        loops = legalize(mod)
    assert MARK not in loops.script() and without_scopes(loops) is loops
    exe = tvmq.build(mod, params=params)
    assert exe(np.zeros((1, 8), np.float32)).tolist() == [[0, 1, 1, 0, 0, 0, 0, 0]]
    assert "Warning" not in capfd.readouterr().err


def test_only_the_mark_goes():
    marked = tvm.script.from_source(MARKED)
    plain = without_scopes(marked)["loops"].script()
    assert MARK not in plain and "pragma_unroll_explicit" in plain and plain.count("A[i]") == 1
    assert MARK in marked.script()
