"""docs/lowering.md: its first example runs and prints what the page says."""

import re

import pytest

from tests.support.project import ROOT

PAGE = (ROOT / "docs" / "lowering.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_prints_what_the_page_shows(capsys):
    code = re.search(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    shown = re.search(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    assert code and shown
    exec(compile(code[1], "docs/lowering.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == shown[1]
