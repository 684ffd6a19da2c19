"""tools/next_tvm.py: what it installs, and how it says what breaks."""

from __future__ import annotations

from tests.support.project import ROOT
from tools.next_tvm import TESTS, describe, other_requirements


def test_tvm_alone_is_taken_in_its_newest_version():
    required = other_requirements()
    assert any(line.startswith("numpy>=") for line in required) and any(line.startswith("pytest>=") for line in required)
    assert not any(line.startswith("apache-tvm") for line in required)


def test_the_tests_exist_and_begin_with_the_private_facts():
    assert TESTS[0] == "tests/base/test_tvm_internals.py" and all((ROOT / test).exists() for test in TESTS)


def test_what_breaks_is_listed():
    output = "....\nFAILED tests/a.py::test_x[1] - AssertionError: the mark moved\nERROR tests/b.py\n2 failed, 3 passed"
    assert describe(output, "apache-tvm 0.28, apache-tvm-ffi 0.2").splitlines() == [
        "apache-tvm 0.28, apache-tvm-ffi 0.2: 2 tests fail",
        "- `tests/a.py::test_x[1]`: AssertionError: the mark moved", "- `tests/b.py`: see the log",
    ]  # fmt: skip
    assert describe("5 passed", "apache-tvm 0.28") == "apache-tvm 0.28: all pass"
