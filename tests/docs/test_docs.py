"""Pages of the documentation: their Python runs, their commands and links exist, no page is left out."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import replace
from importlib.util import find_spec

import pytest

import tvmq
from tests.support.project import ROOT
from tvmq.demo import load_demo

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md")) + [ROOT / name for name in ("README.md", "MIGRATING.md", "CONTRIBUTING.md")]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
# Executed here unchanged; the others show files and packages that only a reader has
RUN = [
    "getting-started", "by-hand", "data", "accuracy", "mixed-precision", "guard", "faq", "index", "reading-models",
    "library", "report", "invariance", "streaming", "tensors", "interpreter",
]  # fmt: skip
# Page -> the test that runs it
ELSEWHERE = {
    "backends": "tests/backends/test_page.py",
    "c-export": "tests/formats/c/test_page.py",
    "emulation": "tests/chips/emulation/test_page.py",
    "lowering": "tests/codegen/custom_lowering/test_page.py",
    "formats": "tests/formats/exporting/test_formats_page.py",
    "integral": "tests/passes/test_integral_page.py",
    "torch": "tests/formats/torch/importer/test_page.py",
    "training": "tests/training/test_page.py",
    "MIGRATING": "tests/relay/test_migrating_page.py",
    "README": "tests/docs/test_readme.py",
}
EXCERPTS = {
    "compare", "continuous-integration", "cuda", "detectors", "extending", "language-models", "precision-search",
    "quantized-models", "recipes", "saved-models", "serving", "ten-minutes",
}  # fmt: skip
# Folders of docs/ that are made when the site is built
GENERATED = ("reference/", "passes/", "tutorials/")


def blocks(page) -> list[str]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_python_runs(name, tmp_path, monkeypatch):
    """Examples run with few calibration pictures and the quickest options; only errors are looked for."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # what a reader's system clears away
    whole = load_demo()
    monkeypatch.setattr("tvmq.demo.load_demo", lambda: replace(whole, calibration=whole.calibration[:8]))
    page = DOCS / f"{name}.md"
    code = blocks(page)
    assert code, f"{name}.md has no Python any more; take it off RUN"
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest", outlier_channels=False):
        exec(compile("\n".join(code), str(page), "exec"), {})


def test_every_page_with_python_is_tested():
    with_python = {page.stem for page in PAGES if blocks(page)}
    unknown = with_python - set(RUN) - set(ELSEWHERE) - EXCERPTS
    assert not unknown, f"{sorted(unknown)}: add to RUN, or to EXCERPTS where a reader's files are shown"
    for name, test in ELSEWHERE.items():
        assert f"{name}.md" in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_excerpts_are_python_and_name_what_there_is(page):
    for code in blocks(page):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tvmq":
                # a package such as tvmq.training is looked for, not imported: that may need torch
                is_there = find_spec(f"tvmq.{node.attr}") is not None or hasattr(tvmq, node.attr)
                assert is_there, f"{page.name}: tvmq.{node.attr} is not there"


def code_of(text: str) -> str:
    """Fenced and indented parts that are no Python."""
    fenced = re.findall(r"^```(?:text|console)\n(.*?)^```$", text, re.M | re.S)
    return "\n".join([*fenced, *re.findall(r"^ {4}(.*)$", text, re.M)])


def commands(text: str) -> list[str]:
    """Lines of a page that call tvmq, without prompt and remark."""
    found = re.findall(r"^(?:\$ )?(?:\.venv/bin/)?(tvmq [a-z]+ .*)$", code_of(text), re.M)
    found += re.findall(r"`(tvmq [a-z]+ [^`]*)`", text)
    return [line.partition("  #")[0] for line in found]


def test_commands_and_their_options_exist():
    from tvmq.tools.cli.commands import COMMANDS, load_command

    known = {
        name: {option for param in load_command(name).params for option in (*param.opts, *param.secondary_opts)}
        for name in COMMANDS
    }
    seen = 0
    for page in PAGES:
        for line in commands(page.read_text(encoding="utf-8")):
            words = shlex.split(line.replace("'", "").replace('"', ""))
            assert words[1] in known, f"{page.name}: {line}: no such command"
            for word in words[2:]:
                option = word.partition("=")[0].rstrip(",.;:)")
                if option.startswith("--") and option != "--help":
                    assert option in known[words[1]], f"{page.name}: {line}: no option {option}"
                    seen += 1
    assert seen > 20


def test_scripts_and_their_options_exist():
    shared = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").glob("*/*.py"))
    seen = 0
    for page in PAGES:
        for script, rest in re.findall(
            r"python ((?:benchmarks|tools)/\w+\.py)([^`\n]*)", page.read_text(encoding="utf-8")
        ):
            source = (ROOT / script).read_text(encoding="utf-8") + shared
            for option in re.findall(r" (--[a-z][\w-]*)", rest):
                parameter = rf"\b{option[2:].replace('-', '_')}: Annotated"  # of typer
                assert f'"{option}"' in source or re.search(parameter, source), f"{page.name}: {script} {option}"
                seen += 1
    assert seen > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target = link.partition("#")[0]
        if re.match(r"[a-z]+:", link) or not target or target.startswith(GENERATED):
            continue
        assert (page.parent / target).exists(), f"{page.name}: {link} leads nowhere"


def test_the_index_lists_every_page():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = [
        line
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.M | re.S)
        for line in tree.split("\n")
        if line and not line.startswith(":")
    ]
    assert len(listed) == len(set(listed))
    own = {name for name in listed if not name.startswith(GENERATED)}
    assert own == {page.stem for page in DOCS.glob("*.md")} - {"index"}


def test_no_page_has_a_name_of_pages_that_sphinx_makes():
    """Sphinx writes its own search.html, genindex.html and others over a document of that name, without a warning."""
    reserved = {"search", "genindex", "modindex", "py-modindex", "contents", "opensearch", "searchindex", "objects"}
    pages = {path.stem for path in DOCS.glob("*.md")}
    assert "precision-search" in pages and pages.isdisjoint(reserved)


def test_the_site_needs_nothing_from_elsewhere():
    """The site takes no fonts, scripts or pictures from elsewhere, and its build runs no notebook."""
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    assert 'nb_execution_mode = "off"' in conf
    for path in [DOCS / "conf.py", *(DOCS / "_static").glob("*")]:
        text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")  # a name
        assert not re.search(r"https?://|@import|url\(", text), path.name
