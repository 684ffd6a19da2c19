"""Pairs of states by the names of inputs and outputs."""

from __future__ import annotations

import pytest

from tvmq.state.name_pairs import pair_names, words_of

PAIRS = [
    (["x", "h_in", "c_in"], ["y", "h_out", "c_out"], {"h_in": "h_out", "c_in": "c_out"}),
    (["input", "h", "c"], ["output", "hn", "cn"], {"h": "hn", "c": "cn"}),
    (["input", "state", "sr"], ["output", "stateN"], {"state": "stateN"}),
    (["x", "h_0"], ["y", "h_n"], {"h_0": "h_n"}),
    (["x", "in_cache0", "in_cache1"], ["y", "out_cache0", "out_cache1"], {f"in_cache{i}": f"out_cache{i}" for i in (0, 1)}),
    (["mix", "tra_cache"], ["enh", "tra_cache_out"], {"tra_cache": "tra_cache_out"}),
    (["x", "hidden"], ["y", "new_hidden"], {"hidden": "new_hidden"}),
    (["x", "prevState"], ["y", "nextState"], {"prevState": "nextState"}),
    (["past_key_0", "past_value_0"], ["present_key_0", "present_value_0"], {"past_key_0": "present_key_0", "past_value_0": "present_value_0"}),
    (["ids", "past_key_values.10.key"], ["logits", "present.1.key", "present.10.key"], {"past_key_values.10.key": "present.10.key"}),
    (["h_in_0", "h_in_1"], ["h_out_0", "h_out_1"], {"h_in_0": "h_out_0", "h_in_1": "h_out_1"}),
]  # fmt: skip
NO_PAIRS = [
    (["image_in"], ["image_out"]),
    (["audio", "rate"], ["audio_out"]),
    (["key", "value", "query"], ["output"]),
    (["value"], ["value_out"]),
    (["x", "state"], ["y"]),
    (["state"], ["state"]),
]


@pytest.mark.parametrize(("inputs", "outputs", "pairs"), PAIRS)
def test_names_that_tell(inputs: list[str], outputs: list[str], pairs: dict[str, str]) -> None:
    assert pair_names(inputs, outputs) == pairs


@pytest.mark.parametrize(("inputs", "outputs"), NO_PAIRS)
def test_names_that_do_not(inputs: list[str], outputs: list[str]) -> None:
    assert pair_names(inputs, outputs) == {}


def test_an_output_belongs_to_one_input() -> None:
    assert pair_names(["h", "h_in"], ["h_out"]) == {"h": "h_out"}


def test_words() -> None:
    assert words_of("/encoder/hiddenState.1") == ("encoder", "hidden", "state", "1")
