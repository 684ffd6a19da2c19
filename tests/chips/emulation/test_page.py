"""Claims of docs/emulation.md, checked by running its examples."""

import re

import pytest

from tests.support.project import ROOT
from tvmq.tools.cli.commands import COMMANDS

PAGE = (ROOT / "docs" / "emulation.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_examples_run_and_print_what_the_page_says(capsys):
    first, second = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(first, "docs/emulation.md", "exec"), {})
    said = re.search(r"It prints\n\n```text\n(.*?)\n```", PAGE, re.S).group(1)
    assert capsys.readouterr().out.rstrip("\n") == said
    exec(compile(second, "docs/emulation.md", "exec"), {"tvmq": __import__("tvmq")})
    assert capsys.readouterr().out.strip() == re.search(r"It prints `(.*?)`", PAGE).group(1)


def test_the_commands_exist():
    assert set(re.findall(r"^    tvmq ([a-z-]+) ", PAGE, re.M)) <= set(COMMANDS)
