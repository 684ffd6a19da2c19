"""The tutorials are well formed and use public names only; the quickest runs. `make tutorials` executes all of them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import tvmq
from tests.support.project import ROOT, setup_cfg

TUTORIALS = sorted((ROOT / "tutorials").glob("[0-9]*.py"))
# Documented modules beside `tvmq` itself.
PUBLIC = {"tvmq", "tvmq.demo", "tvmq.training", "tvmq.errors", "tvmq.extension", "tvmq.relay", "tvmq.relay.tvm.contrib"}
MARKER = re.compile(r"^# %%(?: \[markdown\])?$")
PRIVATE_PATH = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|mnt)/")

every = pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)


def cells(path: Path) -> list[tuple[str, list[str]]]:
    """("markdown" or "code", lines) of each cell; lines before the first marker are a cell of their own."""
    found: list[tuple[str, list[str]]] = [("code", [])]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# %%"):
            found.append(("markdown" if line.endswith("[markdown]") else "code", []))
        else:
            found[-1][1].append(line)
    return found


def loaded_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Modules of tvmq that are imported, and the names that are taken from `tvmq` itself."""
    modules: set[str] = set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "tvmq":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tvmq":
            names.add(node.attr)
    return {module for module in modules if module.partition(".")[0] == "tvmq"}, names


def test_there_are_tutorials_and_their_list_names_them():
    listed = re.findall(r"\]\((\d\w+\.py)\)", (ROOT / "tutorials" / "README.md").read_text(encoding="utf-8"))
    assert [path.name for path in TUTORIALS] == listed


@every
def test_the_first_cell_says_how_to_run_it(path):
    kind, lines = next(cell for cell in cells(path) if any(cell[1]))
    text = " ".join(line.removeprefix("#").strip() for line in lines)
    assert kind == "markdown" and f"`python tutorials/{path.name}`" in text and "Run it in the folder" in text


@every
def test_needs_are_named_and_in_their_extra(path):
    """Imports of a tutorial that tvmq does not install are in the extra `tutorials`, which its first cell names.

    torch has an extra of its own, since pip would fetch a CUDA build for it; a tutorial ends in its first lines without.
    """
    own = {*sys.stdlib_module_names, "tvmq", "tvm", "numpy", "onnx"}
    packages = {"sklearn": "scikit-learn"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    needed = {packages.get(name, name) for module in modules if (name := module.partition(".")[0]) not in own}
    first = "\n".join(cells(path)[1][1])
    if "torch" in needed:
        needed.remove("torch")
        assert "pip install '.[torch]'" in first and 'find_spec("torch") is None' in "\n".join(cells(path)[2][1])
    extras = setup_cfg()["options.extras_require"]
    assert needed <= set(re.findall(r"^[\w-]+", extras["tutorials"], re.M))
    assert all(name in first for name in (*needed, "pip install '.[tutorials]'")), needed


def test_what_tutorials_need_is_part_of_what_the_documentation_needs():
    extras = setup_cfg()["options.extras_require"]
    assert set(extras["tutorials"].split()) <= set(extras["docs"].split())


@every
def test_cells_are_well_formed(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        assert not line.startswith("# %%") or MARKER.match(line), f"{line!r} begins no cell"
    (_, before), *rest = cells(path)
    assert not before, "the first line begins the first cell"
    for kind, lines in rest:
        assert any(lines), "a cell is empty"
        if kind == "markdown":
            assert all(line.startswith("#") for line in lines if line), "text that is no comment"


@every
def test_begins_with_its_title(path):
    kind, lines = cells(path)[1]
    assert kind == "markdown"
    assert lines[0].startswith(f"# # {path.name[:2]}. "), lines[0]


@pytest.mark.slow_cases("06_speed")
@every
def test_claims_are_asserted(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert sum(isinstance(node, ast.Assert) for node in ast.walk(tree)) >= 3


@every
def test_uses_public_names_only(path):
    modules, names = loaded_names(ast.parse(path.read_text(encoding="utf-8")))
    assert modules <= PUBLIC
    assert names <= {*tvmq.__all__, *(module.partition(".")[2] for module in PUBLIC)}


@every
def test_touches_nothing_private(path):
    text = path.read_text(encoding="utf-8")
    private = [
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__")
    ]
    assert not private
    assert not PRIVATE_PATH.search(text), "a path of one machine"


@every
def test_links_lead_to_tutorials(path):
    for name in re.findall(r"\((\d\d_\w+)\.ipynb\)", path.read_text(encoding="utf-8")):
        assert (path.parent / f"{name}.py").exists(), f"there is no tutorial {name}"
