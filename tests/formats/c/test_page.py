"""Claims of docs/c-export.md: its Python prints the output shown, its C compiles and recognizes the digits."""

from __future__ import annotations

import ctypes
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.devices.c_harness import compile_c
from tests.support.project import ROOT
from tvmq.demo import load_demo

PAGE = (ROOT / "docs" / "c-export.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (python,), (c,) = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S) for kind in ("python", "c"))
    names: dict[str, Any] = {}
    exec(compile(python, "docs/c-export.md", "exec"), names)
    said = re.search(r"It prints\n\n```text\n(.*?)\n```", PAGE, re.S)
    assert said is not None and capsys.readouterr().out.strip() == said.group(1)
    folder = tmp_path / "build" / "firmware"
    (folder / "best.c").write_text(c)
    compile_c("gcc", [folder / "digits.c", folder / "best.c"], folder / "all.so", ["-O2", "-shared", "-fPIC"])
    best = ctypes.CDLL(str(folder / "all.so")).best_digit
    exe, images = tvmq.build(names["qmod"]), load_demo().test[:20]
    for image in np.ascontiguousarray(images, np.float32):
        (scores,) = exe.run({"image": image[None]})
        assert best(image.ctypes.data_as(ctypes.c_void_p)) == scores.argmax()


def test_the_commands_exist() -> None:
    from tvmq.tools.cli.commands import COMMANDS

    assert set(re.findall(r"^    tvmq ([a-z-]+) ", PAGE, re.M)) <= set(COMMANDS)
