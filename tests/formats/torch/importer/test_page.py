"""The page about torch says what is true: its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[4] / "docs" / "torch.md"


@pytest.mark.slow
def test_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    torch.manual_seed(0)
    names: dict[str, object] = {"__name__": "page"}
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "exact: yes" in printed
    assert "rule 'head'" in printed and "features.{0, 1, 2}" in printed
    assert names["scores"].shape == (1, 10) and names["fast_scores"].shape == (4, 10)
