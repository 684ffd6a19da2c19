"""Claims of docs/backends.md, checked by running its examples."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.support.project import ROOT
from tvmq.backends import BACKENDS
from tvmq.backends.description import Backend
from tvmq.backends.vocabulary import FAMILIES
from tvmq.errors import ConfigError
from tvmq.numerics.known_rules import KNOWN_RULES
from tvmq.numerics.requantize_rule import RequantizeRule


@pytest.mark.slow
def test_the_example_runs_and_prints_what_the_page_says(capsys):
    page = (ROOT / "docs" / "backends.md").read_text()
    code = re.search(r"^## Quantize\n+```python\n(.*?)```", page, re.S | re.M).group(1)
    exec(compile(code, "docs/backends.md", "exec"), {})
    said = re.search(r"It prints `(.*?)`", page).group(1)
    assert capsys.readouterr().out == f"{said}\n"


PAGE = ROOT / "docs" / "backends.md"


def test_the_description_is_one_and_its_errors_are_those_of_the_page():
    page = PAGE.read_text(encoding="utf-8")
    data = json.loads(re.search(r"```json\n(.*?)```", page, re.S).group(1))
    backend = Backend.from_json(json.dumps(data))
    assert backend.rule("add") == replace(KNOWN_RULES["tosa_double"], accumulator_bits=24)
    said = re.findall(r"^    (mychip\.json: .*)$", page, re.M)
    data["operators"][0]["weights"]["dtype"] = "int9x"
    found = [refusal(data)]
    data["operators"][0]["weights"]["dtype"] = "int4"
    data["operators"][2]["pattern"] = "concat"
    assert [*found, refusal(data)] == said


def refusal(data: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as error:
        Backend.from_json(json.dumps(data), "mychip.json")
    return str(error.value)


def test_fields_and_rules_are_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in (*BACKENDS, *FAMILIES))
    assert all(f"`{field.name}`" in page for field in fields(Backend) if field.name != "name")
    own = {"accumulator_bits", "overflow", "bias_bits"}  # which are not part of the rule
    assert all(f"`{field.name}`" in page for field in fields(RequantizeRule) if field.name not in own)
