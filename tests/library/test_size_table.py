"""Numbers computed from sizes: in Python as in native code, from TIR's expressions, and memory that storages share."""

from __future__ import annotations

import itertools

import pytest
import tvm
from tvm import tirx

from tvmq.codegen.compile.kernel_scratch import Scratch
from tvmq.errors import BuildError
from tvmq.library import size_table
from tvmq.library.call_plan import TensorLocation
from tvmq.library.scratch_sizes import ScratchSizes
from tvmq.library.size_expressions import Unknown, number_of
from tvmq.library.size_table import OutOfRange, SizeTable, value_of
from tvmq.library.storage_plan import Span, share_storages

ROWS, COLUMNS = (tirx.Var(name, "int64") for name in ("rows", "columns"))
SIZES = [*range(1, 9), 1000, 2**31 - 1]


def evaluate(expr: tvm.ir.Expr, sizes: dict[str, int]) -> int:
    """An expression's value by the table."""
    table = SizeTable(("rows", "columns"))
    number = number_of(table, expr, lambda var: table.dimension(var.name))
    return value_of(number, table.values(sizes))


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (ROWS * 3 - COLUMNS, lambda r, c: 3 * r - c),
        ((ROWS - 7) // 2, lambda r, c: (r - 7) // 2),
        (tirx.floormod(ROWS - 7, 4), lambda r, c: (r - 7) % 4),
        (tirx.truncdiv(ROWS - 7, 2), lambda r, c: int((r - 7) / 2)),
        (tirx.truncmod(ROWS - 7, 4), lambda r, c: (r - 7) - 4 * int((r - 7) / 4)),
        (tirx.max(ROWS, COLUMNS) + tirx.min(ROWS, 5), lambda r, c: max(r, c) + min(r, 5)),
        (tirx.Select(ROWS <= COLUMNS, ROWS, tirx.const(-2, "int64")), lambda r, c: r if r <= c else -2),
        (tirx.if_then_else(ROWS >= COLUMNS, COLUMNS, ROWS), lambda r, c: min(r, c)),
        (tirx.Select(tirx.all(ROWS > 2, COLUMNS != 3), ROWS, COLUMNS), lambda r, c: r if r > 2 and c != 3 else c),
        (tirx.Select(tirx.any(ROWS == 2, tirx.Not(COLUMNS < 3)), ROWS, 0 * COLUMNS), lambda r, c: r * (r == 2 or c >= 3)),
        ((ROWS - 700) >> 3, lambda r, c: (r - 700) >> 3),
        (tirx.Cast("uint64", tirx.Cast("int32", ROWS)), lambda r, c: r),
    ],
)  # fmt: skip
def test_expressions_of_tir(expr, expected):
    for rows, columns in itertools.product(SIZES[:-1], SIZES[:-1]):
        assert evaluate(expr, {"rows": rows, "columns": columns}) == expected(rows, columns)


def test_numbers_beyond_their_range_are_refused():
    large = {"rows": 2**31 - 1, "columns": 2**31 - 1}
    assert evaluate(ROWS * COLUMNS, large) == (2**31 - 1) ** 2
    with pytest.raises(OutOfRange):
        evaluate(ROWS * COLUMNS * ROWS, large)
    with pytest.raises(OutOfRange):  # kernels count in 32 bits
        evaluate(tirx.Cast("int32", ROWS) * tirx.Cast("int32", COLUMNS), large)
    with pytest.raises(OutOfRange):
        evaluate(ROWS // (COLUMNS - 4), {"rows": 3, "columns": 4})
    with pytest.raises(Unknown, match="popcount"):
        evaluate(tirx.popcount(ROWS), {"rows": 1, "columns": 1})
    table = SizeTable(("rows",))
    table.length(number_of(table, ROWS - 3, lambda var: table.dimension(var.name)))
    assert table.values({"rows": 3}) == [3, 0, 0]
    with pytest.raises(OutOfRange):
        table.values({"rows": 2})


def test_equal_numbers_stand_once():
    table = SizeTable(("rows", "columns"))
    rows, columns = map(table.dimension, table.dimensions)
    assert table.multiply([rows, 4, columns, 2]) == table.multiply([2, columns, 4, rows])
    table.require_same(table.multiply([rows, 8]), table.multiply([2, rows, 4]))
    assert len(table.entries) == 3  # rows * 8, columns * 8 * rows
    assert table.shape((rows, 3)) == table.shape((rows, 3)) == 5 and table.values({"rows": 7, "columns": 1})[5:] == [
        7,
        3,
    ]
    assert table.apply("add", 0, rows) == rows == table.apply("multiply", rows, 1) and table.multiply([rows, 0]) == 0
    with pytest.raises(KeyError):
        table.dimension("depth")


def test_reshapes_of_other_sizes_are_refused():
    table = SizeTable(("rows",))
    rows = table.dimension("rows")
    table.require_same(rows, table.multiply([table.apply("floor_divide", rows, 4), 4]))
    assert table.values({"rows": 8})[0] == 8
    with pytest.raises(OutOfRange):
        table.values({"rows": 9})


def test_a_table_has_an_end(monkeypatch):
    monkeypatch.setattr(size_table, "MOST_ENTRIES", 3)
    table = SizeTable(("rows",))
    table.apply("add", table.dimension("rows"), 1)
    table.apply("add", table.dimension("rows"), 2)
    with pytest.raises(BuildError, match="the model computes more than 3 numbers from its dynamic sizes; fix some"):
        table.apply("add", table.dimension("rows"), 3)


def test_storages_that_are_apart_in_time_share_memory():
    table = SizeTable(("rows",))
    sizes = [table.multiply([table.dimension("rows"), count]) for count in (10, 4, 9)]
    spans = {number: Span(size, number, number + 1) for number, size in enumerate(sizes)}
    begins, total = share_storages(spans, table, {"rows": 64})
    values = table.values({"rows": 64})
    assert [value_of(begins[number], values) for number in range(3)] == [0, 640, 0]
    assert value_of(total, values) == 640 + 256


def test_a_slot_has_the_size_of_its_largest_whatever_the_sizes():
    table = SizeTable(("rows",))
    spans = {0: Span(table.multiply([table.dimension("rows"), 64]), 0, 0), 1: Span(640, 1, 1)}
    _, total = share_storages(spans, table, {"rows": 64})
    assert [value_of(total, table.values({"rows": rows})) for rows in (1, 10, 64)] == [640, 640, 4096]


def test_scratch_of_kernels():
    table = SizeTable(("rows",))
    x, width = tirx.Var("x", "int64"), tirx.Var("width", "int32")
    dynamic = Scratch((4 * tirx.Cast("int64", width),), (x,), {x: (0, 1)}, {width: tirx.Cast("int32", x + 1)})
    kernels = ScratchSizes(table, {"fixed": Scratch((64, 1)), "dynamic": dynamic})
    place = TensorLocation("input", 0, 0, (1, table.dimension("rows")), "float32")
    assert kernels.most([("fixed", ())]) == (2 * 128 + 128, 0)
    numbers = kernels.most([("fixed", ()), ("dynamic", (place,))])
    assert [value_of(number, table.values({"rows": 15})) for number in numbers] == [384, 64 + 64 + 128]
    assert [value_of(number, table.values({"rows": 1000})) for number in numbers] == [4032 + 64 + 128, 1024 + 64 + 128]
    lost = ScratchSizes(table, {"lost": Scratch((x,))})
    with pytest.raises(BuildError, match=r"kernel 'lost' needs memory of a size that its arguments do not tell \(x\)"):
        lost.most([("lost", ())])
