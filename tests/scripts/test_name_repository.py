"""tools/name_repository.py: what a package index shows leads to the files of the tag."""

from __future__ import annotations

import configparser
import re

import pytest

from tests.support.project import ROOT
from tools.name_repository import LINK, add_addresses, make_absolute

ADDRESS, TAG = "https://host/owner/tvmq", "v0.1.0"


def test_each_relative_link_of_the_readme_leads_to_a_file():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    done = make_absolute(text, ADDRESS, TAG)
    assert LINK.search(text) and not LINK.search(done)
    paths = re.findall(rf"\({ADDRESS}/(?:blob|raw)/{TAG}/([^)#]+)", done)
    assert len(paths) == len(LINK.findall(text)) and all((ROOT / path).exists() for path in paths)
    assert f"]({ADDRESS}/raw/{TAG}/docs/_static/beside_peers_speed.svg)" in done


def test_the_package_names_its_repository():
    config = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    parsed = configparser.ConfigParser()
    parsed.read_string(add_addresses(config, ADDRESS, TAG))
    urls = dict(line.split(" = ") for line in parsed["metadata"]["project_urls"].split("\n") if line)
    assert urls["Source"] == ADDRESS and urls["Changelog"] == f"{ADDRESS}/blob/{TAG}/CHANGELOG.md"
    with pytest.raises(ValueError, match="project_urls belong behind"):
        add_addresses(add_addresses(config, ADDRESS, TAG), ADDRESS, TAG)
