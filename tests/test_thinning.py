"""Cases that `make test` leaves to `make slow`, and the limit that keeps it short."""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.cpu_times import MOST_SECONDS, too_long
from tests.support.thinning import is_kept, is_slow_case


@pytest.mark.parametrize("n, others", [(2, 3), (3, 4), (5, 30), (6, 20)])
def test_each_combination_of_the_others_stays_once_and_all_values_take_turns(n: int, others: int) -> None:
    kept = [case for number, case in enumerate(product(range(others), range(n))) if is_kept(number, n)]
    assert [other for other, _ in kept] == list(range(others))
    assert {value for _, value in kept} == set(range(n))


@pytest.mark.parametrize("n", [2, 4, 6])
def test_turns_are_no_stripes(n: int) -> None:
    """A value meets cases of even and of odd number: what alternates from case to case is no part of the choice."""
    kept = [case for number, case in enumerate(product(range(n * n), range(n))) if is_kept(number, n)]
    assert all({other % 2 for other, value in kept if value == wanted} == {0, 1} for wanted in range(n))


def test_a_test_that_takes_too_long_fails_in_ci() -> None:
    seconds = {"a.py::test_a": MOST_SECONDS + 1, "a.py::test_b": MOST_SECONDS - 1}
    assert too_long(seconds, {}) == []
    (line,) = too_long(seconds, {"CI": "true"})
    assert line == (
        "a.py::test_a took 11.0 s of CPU, a test of `make test` may take 10 s; "
        "make it smaller, or mark it with pytest.mark.slow"
    )


def test_cases_are_slow_by_name() -> None:
    patterns = ("encoder", "*-dynamic")
    assert is_slow_case("a.py::test_a[encoder]", patterns) and is_slow_case("a.py::test_a[8-dynamic]", patterns)
    assert not any(is_slow_case(name, patterns) for name in ("a.py::test_a[decoder]", "a.py::test_a", "encoder"))
