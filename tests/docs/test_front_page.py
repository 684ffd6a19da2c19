"""The picture of the front page equals one drawn from the results."""

from __future__ import annotations

import runpy

from tests.support.project import ROOT


def test_the_picture_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "tools" / "draw_front_page.py"))
    assert script["PICTURE"].read_text() == script["draw"](), "run python tools/draw_front_page.py"
    assert len(script["read_speeds"]()) > 9 and len(script["read_errors"]()) > 9
