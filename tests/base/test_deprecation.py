"""Deprecated names work, warn at the line of their caller, and are gone in the version that was announced."""

from __future__ import annotations

import ast
import warnings

import pytest

import tvmq
from tests.support.project import source_files
from tvmq.base.deprecation import warn_deprecated
from tvmq.tools.doctor.versions import sort_key


def quantise(x: int) -> int:
    """Twice as much."""
    warn_deprecated("tvmq.quantise", "0.3.0", "tvmq.quantize", until="0.5.0")
    return 2 * x


def test_it_works_and_warns_where_it_is_called():
    with pytest.warns(FutureWarning, match="tvmq.quantise is deprecated since 0.3.0 and will be gone in 0.5.0") as seen:
        assert quantise(3) == 6
    assert seen[0].filename == __file__


def test_it_can_be_made_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        with pytest.raises(FutureWarning, match="use tvmq.quantize"):
            warn_deprecated("tvmq.x", "0.3.0", "tvmq.quantize", until="0.5.0")


def announced() -> list[tuple[str, str]]:
    """(where, the version without it) of all calls in the package."""
    found = []
    for path in source_files():
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "deprecated(" in text else ():
            name = getattr(getattr(node, "func", None), "id", "")
            if name in ("deprecated", "warn_deprecated"):
                until = [keyword.value for keyword in node.keywords if keyword.arg == "until"]
                found += [(f"{path}:{node.lineno}", v.value) for v in until if isinstance(v, ast.Constant)]
    return found


@pytest.mark.slow
def test_what_was_announced_is_done():
    overdue = [where for where, until in announced() if sort_key(until) <= sort_key(tvmq.__version__)]
    assert not overdue, f"these were to be gone by now: {overdue}"
