"""Claims of docs/integral.md, checked by running its examples."""

from __future__ import annotations

import re

import pytest

from tests.support.project import ROOT
from tvmq.passes.integrality import NOTHING, OPTIONS, STREAM

PAGE = (ROOT / "docs" / "integral.md").read_text()


@pytest.mark.slow
def test_the_example_runs_and_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.S).group(1)
    exec(compile(code, "docs/integral.md", "exec"), {})
    said = re.search(r"It prints\n\n```text\n(.*?)```", PAGE, re.S).group(1)
    assert capsys.readouterr().out == said


def test_the_page_names_every_remedy() -> None:
    for option, value in [*OPTIONS.values(), STREAM]:
        assert f"{option}={str(value) if value is True else chr(34) + str(value) + chr(34)}" in PAGE
    assert "without an integer form" in PAGE and "no integer form" in NOTHING
