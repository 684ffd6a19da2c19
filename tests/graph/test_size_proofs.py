"""Expressions of dynamic sizes: which are at most others, their quotients and remainders, and their text."""

from __future__ import annotations

from typing import Any

import pytest
from tvm import tirx
from tvm.sym import Analyzer

from tvmq.graph.multiples import OnlyMultiples, require_equal, require_multiple
from tvmq.graph.size_division import divide, remainder, simplify_size
from tvmq.graph.size_proofs import find_period, is_at_most, largest_value
from tvmq.graph.size_text import shape_text, size_text
from tvmq.graph.sizes import evaluate_at

ROWS, COLUMNS = tirx.Var("rows", "int64"), tirx.Var("columns", "int64")
PADDED = (ROWS + 31) // 32 * 32


@pytest.mark.parametrize(("small", "large"), [
    (0, ROWS), (ROWS // 2, ROWS), ((ROWS + 1) // 2, ROWS), (0, (31 - (ROWS + 31) % 32) // 2), (PADDED, ROWS + 31),
    (((ROWS + 1) // 2 + 1) // 2, ROWS), (ROWS // 2 + COLUMNS // 3, ROWS + COLUMNS), (ROWS * 3 // 4, ROWS), (2, 2),
])  # fmt: skip
def test_sizes_that_are_proved_to_be_at_most_others(small: Any, large: Any) -> None:
    assert is_at_most(small, large)


@pytest.mark.parametrize(("small", "large"), [
    (1, ROWS), (ROWS // 2, ROWS - 1), (ROWS * 5 // 4, ROWS), (ROWS, COLUMNS), (PADDED, ROWS + 30), (3, 2),
    (ROWS // 5000, ROWS // 5001),
])  # fmt: skip
def test_sizes_that_are_not(small: Any, large: Any) -> None:
    assert not is_at_most(small, large)


def test_the_largest_value() -> None:
    assert find_period(ROWS // 4 + ROWS % 6) == 12 and find_period((ROWS // 4 + 1) // 3) == 12
    assert largest_value(PADDED - ROWS) == 31 and largest_value(7) == 7
    assert largest_value(ROWS + COLUMNS) is None and largest_value(ROWS // 2) is None


@pytest.mark.parametrize("b", [1, 2, 3, 32])
@pytest.mark.parametrize("a", [ROWS, ROWS + 7, -ROWS, 32 - remainder(ROWS, 32), PADDED - ROWS, -5, 6])
def test_quotients_and_remainders_are_those_of_numbers(a: Any, b: int) -> None:
    for rows in range(70):
        number = a if isinstance(a, int) else evaluate_at(a, ROWS, rows)
        quotient, rest = divide(a, b), remainder(a, b)
        at = [size if isinstance(size, int) else evaluate_at(size, ROWS, rows) for size in (quotient, rest)]
        assert at == [abs(number) // b * (1 if number >= 0 else -1), number % b], rows


def test_a_quotient_of_either_sign_is_rounded_towards_zero() -> None:
    for rows in (0, 9, 10, 11, 14):
        assert evaluate_at(divide(10 - ROWS, 2), ROWS, rows) == int((10 - rows) / 2)
    assert size_text(divide(ROWS, COLUMNS)) == "rows // columns" and divide(-7, 2) == -3


@pytest.mark.parametrize("amount", [PADDED - ROWS, remainder(-ROWS, 32), remainder(32 - remainder(ROWS, 32), 32)])
def test_padding_to_a_multiple_is_seen_to_be_one(amount: Any) -> None:
    amount = Analyzer().simplify(amount)
    half = Analyzer().simplify(divide(amount, 2))
    assert size_text(simplify_size(ROWS + half + (amount - half))) == "32*((rows + 31) // 32)"


@pytest.mark.parametrize(("size", "text"), [
    (3, "3"), (ROWS, "rows"), (ROWS * 2 + 1, "2*rows + 1"), (ROWS - 3, "rows - 3"), ((ROWS + 1) // 2, "(rows + 1) // 2"),
    (ROWS // 2 * 2, "2*(rows // 2)"), (tirx.max(ROWS, tirx.const(7, "int64")), "max(rows, 7)"),
    (ROWS // (COLUMNS * 2), "rows // (2*columns)"), (tirx.Cast("int64", ROWS) + 1, "rows + 1"), (ROWS << 1, "rows << 1"),
    (-(ROWS // 2), "-(rows // 2)"), (tirx.truncdiv(ROWS, COLUMNS), "rows / columns"),
])  # fmt: skip
def test_sizes_read_as_people_write_them(size: Any, text: str) -> None:
    assert size_text(size) == text


def test_shapes_as_text() -> None:
    assert shape_text([1, ROWS, ROWS + COLUMNS]) == "[1, rows, rows + columns]"


def test_multiples_of_several_dimensions() -> None:
    windows = ROWS // 4 * 4 * (COLUMNS // 6 * 6)
    for one, name, multiple in ((ROWS * COLUMNS, "rows", 12), (ROWS // 4 * 4 * COLUMNS, "columns", 6)):
        with pytest.raises(OnlyMultiples) as needed:
            require_equal(one, windows)
        assert (needed.value.name, needed.value.multiple) == (name, multiple)
    require_equal(windows, windows)
    require_equal(ROWS, COLUMNS)
    assert require_multiple(ROWS * 4, 2) and not require_multiple(ROWS + COLUMNS, 2) and not require_multiple(3, 2)
