"""What docs/backends.md shows is true."""

from __future__ import annotations

import re

import pytest

from tests.project import ROOT


@pytest.mark.slow
def test_the_example_runs_and_prints_what_the_page_says(capsys):
    page = (ROOT / "docs" / "backends.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.S).group(1)
    exec(compile(code, "docs/backends.md", "exec"), {})
    said = re.search(r"It prints `(.*?)`", page).group(1)
    assert capsys.readouterr().out == f"{said}\n"
