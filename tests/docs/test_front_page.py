"""The pictures of the front page equal those drawn from the results, and can be read on a telephone."""

from __future__ import annotations

import re
import runpy

from tests.support.project import ROOT


def test_the_pictures_are_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "tools" / "draw_front_page.py"))
    for path, text in script["draw"]().items():
        assert path.read_text() == text, "run python tools/draw_front_page.py"
    assert len(script["read_speeds"]()) > 9 and len(script["read_errors"]()) > 9


def test_the_pictures_keep_their_size_on_a_telephone() -> None:
    """390 pixels less two margins of 16; letters of 13."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\((\S+\.svg)\)", readme)
    assert len(pictures) == 2
    for name in pictures:
        svg = (ROOT / name).read_text(encoding="utf-8")
        assert int(re.search(r'width="(\d+)"', svg)[1]) <= 390 - 2 * 16
        assert min(map(int, re.findall(r"(\d+)px", svg))) >= 13
