"""tools/tutorials.py: a working tutorial becomes a notebook with outputs, a failing one an error with its place."""

import importlib.util
import json
import os
from pathlib import Path

import pytest

from tests.support.project import ROOT

for needed in ("jupytext", "nbclient", "ipykernel"):
    pytest.importorskip(needed, reason="in the extra docs")

GOOD = "# %% [markdown]\n# # 99. Sums\n\n# %%\nprint(1 + 1)\n"
BAD = f"{GOOD}\n# %%\nlarge = 2\nassert large > 3, 'two is small'\n"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("tutorials_tool", ROOT / "tools" / "tutorials.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(folder, text):
    path = folder / "99_sums.py"
    path.write_text(text)
    return path


def test_outputs_are_in_the_notebook(tool, tmp_path, capsys):
    assert tool.make(written(tmp_path, GOOD), tmp_path)
    title, code = json.loads((tmp_path / "99_sums.ipynb").read_text())["cells"]
    assert title["source"] == ["# 99. Sums"]
    assert code["outputs"][0]["text"] == ["2\n"]
    assert capsys.readouterr().out.startswith("tutorials/99_sums.py: ")


def test_what_it_leaves_to_the_system_is_removed(tool, tmp_path):
    text = "# # Folders\n\n# %%\nimport tempfile\nprint(tempfile.mkdtemp())\n"
    assert tool.make(written(tmp_path, text), tmp_path)
    cells = json.loads((tmp_path / "99_sums.ipynb").read_text())["cells"]
    (folder,) = [output["text"] for cell in cells for output in cell.get("outputs", ())]
    assert not Path("".join(folder).strip()).exists()


def test_without_a_package_that_it_asks_for_nothing_runs(tool, tmp_path, capsys):
    asked = GOOD + '\n# %%\nimportlib.util.find_spec("no_such_package") is None\n'
    assert tool.make(written(tmp_path, asked), tmp_path)
    assert capsys.readouterr().out == "tutorials/99_sums.py: not executed, no_such_package is missing\n"
    assert all(not cell.get("outputs") for cell in json.loads((tmp_path / "99_sums.ipynb").read_text())["cells"])


def test_a_failure_names_cell_line_and_assert_and_leaves_nothing(tool, tmp_path, capsys):
    path = written(tmp_path, BAD)
    assert not tool.make(path, tmp_path)
    first, arrow = capsys.readouterr().out.splitlines()
    assert first == "tutorials/99_sums.py: cell 3, from line 8: AssertionError: two is small"
    assert "assert large > 3" in arrow
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_newer_than_all_code_is_kept(tool, tmp_path):
    notebook = written(tmp_path, GOOD)
    newest = tool.last_change()
    os.utime(notebook, (newest, newest))
    assert tool.is_fresh(notebook, newest)
    assert not tool.is_fresh(notebook, newest + 1)
    assert not tool.is_fresh(tmp_path / "absent.ipynb", newest)


def test_unknown_names_are_refused(tool):
    assert [path.name[:2] for path in tool.tutorials(["01"])] == ["01"]
    with pytest.raises(SystemExit, match="tutorials: none begins with 77"):
        tool.tutorials(["77"])
