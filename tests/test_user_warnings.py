"""Warnings point at the line of the user that called tvmq, at any depth of calls."""

from __future__ import annotations

import types
import warnings

import pytest

from tvmq.tools.cli.console import warning_printer

SOURCE = """
from tvmq.base.deprecation import warn_user

def warn():
    warn_user("look here")

def call():
    warn()
"""


@pytest.mark.parametrize("module, filename", [
    ("tvmq.quantization.guard.deep", __file__), ("tvmq", __file__), ("tvmq.tools.cli.command", "tvmq.tools.cli.command"),
    ("tvmquick", "tvmquick"),
])  # fmt: skip
def test_a_warning_points_at_the_first_line_outside_of_tvmq(module: str, filename: str) -> None:
    fake = types.ModuleType(module)
    exec(compile(SOURCE, module, "exec"), vars(fake))
    with pytest.warns(UserWarning, match="look here") as seen:
        fake.call()
    assert [warning.filename for warning in seen] == [filename]


def test_a_command_shows_its_text_alone_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = warning_printer()
        for text in ("look here", "look here", "and here"):
            warnings.warn(text, stacklevel=1)
    assert capsys.readouterr().err == "WARNING: look here\nWARNING: and here\n"


def test_it_is_shown_once_for_a_line() -> None:
    fake = types.ModuleType("tvmq.deep")
    exec(compile(SOURCE, "deep", "exec"), vars(fake))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            fake.call()
    assert len(seen) == 1
