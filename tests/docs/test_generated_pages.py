"""Pages generated from the source: they omit nothing of it, and their pictures show every binding."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import re
import sys

import pytest

from tests.support.project import ROOT, modules

sys.path.append(str(ROOT / "docs" / "_ext"))

import architecture_pages  # noqa: E402
import built_links  # noqa: E402
import error_pages  # noqa: E402
import pages  # noqa: E402
import pass_pages  # noqa: E402
import pass_samples  # noqa: E402
import pictures  # noqa: E402
import plain_docstrings  # noqa: E402

from tvmq import errors  # noqa: E402
from tvmq.passes import PASSES  # noqa: E402

LIBRARY = [
    name
    for name in modules()
    if name.startswith(("tvmq.numerics", "tvmq.calibration.observers", "tvmq.codegen.compile.build"))
]


@pytest.mark.parametrize("module", [plain_docstrings, error_pages, pages], ids=lambda module: module.__name__)
def test_examples(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


def test_notebooks_are_copied_beside_what_a_reader_downloads(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "DOCS", tmp_path / "docs")
    cells = [{"cell_type": "markdown", "source": ["# One\n", "[two](02_two.ipynb)"]}]
    for name, text in {"build/tutorials/01_one.ipynb": json.dumps({"cells": cells}), "tutorials/01_one.py": "# %%"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert pages.copy_notebooks() == ["01_one"]
    folder = tmp_path / "docs" / "tutorials"
    (cell,) = json.loads((folder / "01_one.ipynb").read_text())["cells"]
    assert "".join(cell["source"]).startswith("# One\ntwo\n\nDownload: {download}`01_one.ipynb <downloads/01_one.ipynb>`")
    assert json.loads((folder / "downloads" / "01_one.ipynb").read_text())["cells"] == cells
    assert (folder / "downloads" / "01_one.py").read_text() == "# %%"


# ---- docstrings


def words(text: str) -> list[str]:
    return re.findall(r"\w+", re.sub(r":(?:py:obj|doc):`([^<`]*)<[^`]*>`", r"\1", text.replace("\\", "")))


def docstrings() -> list[tuple[str, str]]:
    """Those of the definition, of observers and of building, with their names."""
    found = []
    for name in LIBRARY:
        module = importlib.import_module(name)
        for key, value in [("", module), *vars(module).items()]:
            ours = key == "" or (not key.startswith("_") and getattr(value, "__module__", "") == name)
            if ours and isinstance(getattr(value, "__doc__", None), str):
                found.append((f"{name}.{key}", value.__doc__))
    return found


def test_no_word_of_a_docstring_is_lost():
    known = docstrings()
    assert len(known) > 100
    for name, text in known:
        shown = re.sub(r"^ *(\.\. (list-table|code-block).*|:(class|widths).*)$", "", "\n".join(
            plain_docstrings.to_rst(text, {"quantize": "tvmq.quantize"})), flags=re.M)  # fmt: skip
        assert words(shown) == words(inspect.cleandoc(text)), name


@pytest.mark.parametrize("text, rst", [
    ("x = a * b_\n", "``x = a * b_``"),
    ("Like *this*, or 2 * 3 * 4", "Like *this*, or 2 \\* 3 \\* 4"),
    ("see docs/speed.md", "see :doc:`speed </speed>`"),
])  # fmt: skip
def test_text(text, rst):
    assert plain_docstrings.to_rst(text)[0] == rst


def test_columns_within_columns_are_lines():
    table = plain_docstrings.to_rst("raises  ModelError  the file\n        DataError   the data")
    assert [line.strip() for line in table[4:6]] == ["* - *raises*", "- | ModelError: the file"]


# ---- errors


@pytest.mark.slow
def test_every_error_has_its_messages():
    (page,) = error_pages.pages()
    for name in error_pages.CLASSES:
        assert f"## {name}\n" in page.text
    found = error_pages.all_messages()
    assert len(found) == sum(_calls(path) for path in error_pages.sources())
    unknown = [message for message in found if message.text is None]
    assert len(unknown) < 10, f"messages that no page can show: {unknown}"
    assert page.text.count("<dt>") == len(found) - len(unknown)


def _calls(path) -> int:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [ast.unparse(node.func).split(".")[-1] for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(name in vars(errors) and name.endswith("Error") for name in names)


# ---- passes


def test_the_picture_of_the_stages_leads_to_every_pass_of_quantize():
    drawn = "\n".join(architecture_pages.draw_stages(""))
    others = {"import_qdq", "quantize_dynamic", "partition_conversions", "narrow_floats"}  # of other ways through the passes
    assert {name for name in PASSES if f'"{name}.html"' in drawn} >= set(PASSES) - others


@pytest.fixture(scope="module")
def samples():
    return pass_samples.samples()


@pytest.mark.slow
def test_every_pass_has_a_sample_that_it_changes(samples):
    assert set(samples) == set(PASSES)
    for name, sample in samples.items():
        same = pictures.picture(sample.before, sample.before, name)
        assert name == "partition" or 'class="float changed"' not in same
        drawn = pictures.picture(sample.before, sample.after, name)
        assert name == "partition" or " changed" in drawn, f"{name}: nothing changes in its picture"


@pytest.mark.slow
def test_boxes_do_not_overlap(samples):
    for name, sample in samples.items():
        for _, func in pictures.functions(sample.after):
            found = pictures.boxes(func, {})
            svg, width, height = pictures.drawn(found, set(), name)
            assert len(found) == svg.count("<rect")
            places = [tuple(map(float, p)) for p in re.findall(
                r'<rect class="[^"]*" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)]  # fmt: skip
            for number, (x, y, w, h) in enumerate(places):
                assert 0 <= x and x + w <= width + 1 and y + h <= height + 1, name
                for x2, y2, w2, h2 in places[:number]:
                    assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, name


@pytest.mark.slow
def test_text_shows_what_changed(samples):
    lines = pass_pages._difference(samples["annotate"])
    assert any(line.startswith("+") and "simulated_quantize" in line for line in lines)
    assert not any("metadata[" in line for line in lines)


def test_cases_of_the_tests_are_shown():
    lines = pass_pages._cases("partition")
    assert sum(line.count("# Case: ") for line in lines) > 10 and any("tril has no integer form" in line for line in lines)
    assert pass_pages._cases("equalize") == []


# ---- links of the built site


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><a href="b.html#gone">x</a><a href="c.html">x</a>'
                                     '<script src="https://elsewhere.example/x.js"></script>')  # fmt: skip
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="https://elsewhere.example/">x</a><a href="#here">x</a>')
    assert list(built_links.problems(tmp_path)) == [
        "a.html: b.html#gone: no such place on the page",
        "a.html: c.html: no such page",
        "a.html: https://elsewhere.example/x.js: is fetched from elsewhere",
    ]
