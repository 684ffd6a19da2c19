"""The test of a module is found from the module: by its name, by that of its cases, or by `Tests:` in its head."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.project import ROOT, module_name, source_files

MODULES = [path for path in source_files() if path.name not in ("__init__.py", "__main__.py")]


def mirrored_folder(path: Path) -> Path:
    """tvmq/graph/view.py -> tests/graph, passes/families/add.py -> tests/passes/families."""
    parts = path.relative_to(ROOT).parts[:-1]
    return ROOT.joinpath("tests", *(parts[1:] if parts[0] == "tvmq" else parts))


def named_tests(path: Path) -> list[str]:
    """Paths behind `Tests:` in a module's docstring."""
    head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.findall(r"[\w/.]+", "".join(re.findall(r"^Tests: (.*)$", head, re.MULTILINE)))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_module_leads_to_its_test(path):
    named = named_tests(path)
    folder = mirrored_folder(path)
    assert named or any(folder.rglob(f"test_{path.stem}.py")) or (folder / "cases" / path.name).exists(), (
        f"no test_{path.stem}.py in {mirrored_folder(path)}: write it, or name the test in the head, `Tests: tests/...`"
    )
    assert all((ROOT / name).exists() for name in named), f"{named}: a test that the head names does not exist"
