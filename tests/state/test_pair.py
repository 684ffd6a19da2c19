"""Pairs of states as text and JSON."""

from __future__ import annotations

import json

from tvmq.state.pair import APPENDED, StatePair


def test_json_holds_all_of_a_pair() -> None:
    pair = StatePair("k", "k_out", APPENDED, 2, 0.5, 0.25, 7)
    assert StatePair.from_json(json.loads(json.dumps(pair.to_json()))) == pair
    assert "axis" not in StatePair("h", "hn").to_json()  # the manifest of a saved model has no null


def test_what_a_later_version_adds_is_ignored() -> None:
    assert StatePair.from_json({"input": "h", "output": "hn", "layers": 3}) == StatePair("h", "hn")
