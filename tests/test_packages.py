"""setup.cfg lists exactly the folders that hold code, and what the package needs as data."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tvmq
from tests.support.project import ROOT, module_name, setup_cfg, source_files


def listed(section: str, option: str) -> list[str]:
    return setup_cfg()[section][option].split()


def test_packages_are_the_folders_with_code():
    folders = {module_name(path.parent / "__init__.py") for path in source_files()}
    assert sorted(listed("options", "packages")) == sorted(folders)


def test_every_package_has_an_init():
    folders = {path.parent for path in source_files()}
    bare = sorted(str(folder) for folder in folders if not (folder / "__init__.py").exists())
    assert not bare, f"folders without __init__.py: {bare}; an editable install does not find them reliably"


def test_extras_are_named_and_well_formed():
    """A reader finds each somewhere, as pip takes it: `tvmq[torch]`, `.[docs]`."""
    extras = setup_cfg()["options.extras_require"]
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "Makefile", *ROOT.glob("*.md"), *ROOT.glob("*/*.md"))]
    assert "tutorials" in extras
    for name, lines in extras.items():
        assert any(re.search(rf"(?:tvmq|\.)\[{name}\]", text) for text in texts), f"nobody names the extra {name}"
        for line in lines.split("\n"):
            assert not line or line.startswith("#") or Requirement(line).specifier, f"{name}: '{line}' has no bound"


def test_data_files_are_shipped():
    patterns = {name: value.split() for name, value in setup_cfg()["options.package_data"].items()}
    files = [path for path in (ROOT / "tvmq").rglob("*") if path.is_file()]
    data = [path for path in files if path.suffix not in (".py", ".pyc")]
    assert ROOT / "tvmq" / "py.typed" in data
    for path in data:
        shipped = patterns.get(module_name(path.parent / "__init__.py"), [])
        assert any(path.match(pattern) for pattern in shipped), f"{path.relative_to(ROOT)} is not shipped"


def test_passes_are_mapped_to_their_folder():
    assert listed("options", "package_dir") == ["tvmq", "=", "tvmq", "tvmq.passes", "=", "passes"]


@pytest.mark.slow
def test_passes_are_found_in_the_folder_of_the_sources():
    """Python started there takes `tvmq` from the sources; -S leaves out what an editable install adds."""
    code = "import tvmq.passes.prepare; print(tvmq.passes.__file__, tvmq.passes.prepare.__name__)"
    places = os.pathsep.join(path for path in sys.path if path and Path(path) != ROOT)
    found = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": places},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.stdout.split() == [str(ROOT / "passes" / "__init__.py"), "tvmq.passes.prepare"], found.stderr


def test_the_version_stands_in_one_place():
    assert setup_cfg()["metadata"]["version"] == "attr: tvmq.version.__version__"
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", tvmq.__version__)


def test_setuptools_reads_the_version_without_importing():
    """A build has none of the dependencies: the file holds a literal and imports nothing."""
    (assigned,) = [node for node in ast.parse((ROOT / "tvmq" / "version.py").read_text()).body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(assigned.value) == tvmq.__version__


def test_console_script_exists():
    target = setup_cfg()["options.entry_points"]["console_scripts"].split("=")[1].strip()
    module, _, name = target.partition(":")
    assert callable(getattr(__import__(module, fromlist=[name]), name))
