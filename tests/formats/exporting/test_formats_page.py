"""Claims of docs/formats.md: its Python prints the output shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import ROOT

PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pytest.importorskip("tflite", reason="pip install 'tvmq[tflite]' writes TFLite files")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for python in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(python, "docs/formats.md", "exec"), names)
    said = re.search(r"It prints\n\n```text\n(.*?)\n```", PAGE, re.S)
    assert said is not None and capsys.readouterr().out.strip() == said.group(1)
    assert names["given"].shape == (1, 16, 16, 1)
