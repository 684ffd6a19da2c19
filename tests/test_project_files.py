"""Files beside the code: workflows call what exists, templates ask for what helps, versions agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tvmq
from tests.support.project import ROOT, setup_cfg
from tvmq.tools.cli.commands import COMMANDS

yaml = pytest.importorskip("yaml", reason="pyyaml is in the extra test")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read(path: Path) -> Any:
    """A YAML file; `on` is a boolean to YAML 1.1, and no matter here."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: dict[str, Any]) -> list[str]:
    """Every line that a workflow runs."""
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [line.strip() for step in steps for line in step.get("run", "").splitlines() if line.strip()]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)(?: [a-z ]+)?:(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_there_are_workflows_and_templates():
    assert {path.stem for path in WORKFLOWS} == {"test", "docs", "packages", "next-tvm", "release"}
    assert {"bug", "accuracy", "speed", "feature"} <= {path.stem for path in TEMPLATES}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_workflows_run_exists(path):
    lines = commands(read(path))
    assert lines
    for line in lines:
        words = line.split()
        if words[0] == "make":
            assert words[1] in make_targets(), line
        elif words[:2] != ["sudo", "apt-get"]:  # packages of the machine's own
            assert words[0] == "python" and (ROOT / words[1]).is_file(), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_ask_for_nothing_but_reading(path):
    assert read(path)["permissions"] == {"contents": "read"}


def test_only_publishing_gets_an_identity():
    for path in WORKFLOWS:
        for name, job in read(path)["jobs"].items():
            assert ("permissions" in job) == (name == "publish"), f"{path.name}, {name}"
    release = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert release["publish"]["needs"] == "build" and "secrets" not in (ROOT / ".github/workflows/release.yml").read_text()


def test_every_supported_python_is_tested():
    classifiers = setup_cfg()["metadata"]["classifiers"]
    supported = set(re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE))
    assert (
        set(read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"])
        == supported
    )
    packages = read(ROOT / ".github" / "workflows" / "packages.yml")["jobs"]["linux"]["steps"]
    chosen = next(step["with"]["python-version"] for step in packages if "setup-python" in step.get("uses", ""))
    assert set(chosen.split()) == supported


def test_faults_are_reported_with_the_doctors_word():
    for name in ("bug", "accuracy", "speed"):
        form = read(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml")
        fields = {part.get("id"): part for part in form["body"]}
        assert "tvmq doctor --json" in fields["doctor"]["attributes"]["label"]
        assert fields["doctor"]["validations"]["required"] is True
    asked = " ".join(path.read_text() for path in TEMPLATES)
    assert set(re.findall(r"tvmq ([a-z]+) ", asked)) <= set(COMMANDS)


def test_forms_are_complete():
    for path in TEMPLATES:
        if path.stem != "config":
            form = read(path)
            assert form["name"] and form["description"] and form["body"]
            assert all(part["type"] in ("textarea", "input", "dropdown", "markdown") for part in form["body"])


def test_the_citation_is_of_this_version():
    citation = read(ROOT / "CITATION.cff")
    assert (citation["version"], citation["license"]) == (tvmq.__version__, setup_cfg()["metadata"]["license"])
    assert citation["authors"] == [{"name": "tvmq contributors"}]


def test_the_changelog_has_the_version_and_its_date():
    """A release has a section of its own with the date of the citation; between releases neither has a date."""
    citation, text = read(ROOT / "CITATION.cff"), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles[0] == "[Unreleased]"
    released = [f"[{tvmq.__version__}] - {citation.get('date-released')}"]
    assert ("date-released" not in citation) if ".dev" in tvmq.__version__ else (titles[1:2] == released)


def test_continuous_integration_runs_every_target():
    """`make` targets that the workflows run are those of .ci/run, so that both say the same."""
    script = (ROOT / ".ci" / "run").read_text()
    for path in WORKFLOWS:
        for line in commands(read(path)):
            if line.startswith("make"):
                name = line.split()[1]
                assert re.search(rf"make (--keep-going )?{name}\b|^for target in .*\b{name}\b|={name}\b", script, re.M), line
