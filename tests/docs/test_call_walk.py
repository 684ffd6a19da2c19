"""Calls of a first session go down the rooms; each return upward is explained."""

from __future__ import annotations

import sys

import pytest

from tests.support.project import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))

import call_walk  # noqa: E402


@pytest.mark.slow
def test_each_return_of_a_first_session_is_explained() -> None:
    walks = call_walk.record_walks()
    returns = {pair for walk in walks for pair in walk.returns}
    assert returns == set(call_walk.RETURNS), "pairs that RETURNS does not explain, or that no longer occur"
    assert [walk.call for walk in walks] == ["from_onnx", "quantize", "build", "save", "load", "run"]
    assert walks[-1].folders == ["runtime"]  # to run a model takes the runtime alone
