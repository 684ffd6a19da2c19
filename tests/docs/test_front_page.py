"""Pictures of the front page and of the concepts are those that their scripts draw, and can be read on a telephone."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.support.project import ROOT


@pytest.mark.parametrize("name", ["draw_front_page", "draw_concepts"])
def test_the_pictures_are_up_to_date(name) -> None:
    for path, text in runpy.run_path(str(ROOT / "tools" / f"{name}.py"))["draw"]().items():
        assert path.read_text(encoding="utf-8") == text, f"run python tools/{name}.py"


def test_the_pictures_have_all_networks() -> None:
    script = runpy.run_path(str(ROOT / "tools" / "draw_front_page.py"))
    assert len(script["read_speeds"]()) > 9 and len(script["read_errors"]()) > 9


def test_the_pictures_keep_their_size_on_a_telephone() -> None:
    """390 pixels less two margins of 16; letters of 12 and more."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\((\S+\.svg)\)", readme)
    assert len(pictures) == 2
    for name in (*pictures, "docs/_static/concepts_narrow.svg"):
        svg = (ROOT / name).read_text(encoding="utf-8")
        assert int(re.search(r'width="(\d+)"', svg)[1]) <= 390 - 2 * 16
        assert min(map(int, re.findall(r"(\d+)px", svg))) >= 12
