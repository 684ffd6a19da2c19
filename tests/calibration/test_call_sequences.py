"""Sequences of calls in all forms that users have them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tvmq.calibration.call_sequences import CallSequences
from tvmq.calibration.dataset import Input
from tvmq.errors import DataError

INPUTS = [Input("x", (1, 4), "float32"), Input("h", (1, 2), "float32")]
STEPS = np.arange(24, dtype=np.float32).reshape(6, 1, 4)


def read(data: Any, inputs: list[Input] = INPUTS) -> list[list[float]]:
    """The first number of x of each call."""
    return [[float(call["x"].flat[0]) for call in calls] for calls in CallSequences(data, inputs, ["h"])]


FORMS: dict[str, Any] = {
    "lists of calls": [[{"x": step} for step in STEPS[:4]], [{"x": step} for step in STEPS[4:]]],
    "lists of arrays": [list(STEPS[:4]), list(STEPS[4:])],
    "a generator": ([{"x": step} for step in part] for part in (STEPS[:4], STEPS[4:])),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_two_sequences(form: str) -> None:
    sequences = CallSequences(FORMS[form], INPUTS, ["h"])
    for _ in range(2):  # what can be read once was read once
        assert [[float(c["x"].flat[0]) for c in calls] for calls in sequences] == [[0, 4, 8, 12], [16, 20]]


def test_arrays_with_further_axes() -> None:
    assert read({"x": STEPS[0]}) == [[0]]
    assert read({"x": STEPS}) == read(STEPS) == [[0, 4, 8, 12, 16, 20]]
    assert read({"x": STEPS.reshape(2, 3, 1, 4)}) == [[0, 4, 8], [12, 16, 20]]


def test_calls_alone_are_sequences_of_one() -> None:
    assert read([{"x": STEPS[0]}, {"x": STEPS[2]}]) == [[0], [8]]


def test_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", x=STEPS.reshape(2, 3, 1, 4))
    np.save(tmp_path / "s.npy", STEPS)
    assert read(tmp_path / "s.npz") == [[0, 4, 8], [12, 16, 20]] and read(str(tmp_path / "s.npy")) == read(STEPS)
    (tmp_path / "torn.npz").write_bytes(b"PK")
    with pytest.raises(DataError, match="is no readable .npz or .npy file"):
        read(tmp_path / "torn.npz")
    with pytest.raises(DataError, match="no file"):
        read(tmp_path / "none.npz")


def test_what_is_the_same_in_all_calls() -> None:
    inputs = [*INPUTS, Input("rate", (), "int64")]
    calls = next(iter(CallSequences({"x": STEPS, "rate": np.int64(8000)}, inputs, ["h"])))
    assert [int(call["rate"]) for call in calls] == [8000] * 6


def test_the_first_call_may_give_the_state() -> None:
    begin = np.ones((1, 2), np.float32)
    calls = next(iter(CallSequences([[{"x": STEPS[0], "h": begin}, {"x": STEPS[1]}]], INPUTS, ["h"])))
    assert np.array_equal(calls[0]["h"], begin) and "h" not in calls[1]
    with pytest.raises(DataError, match="sequence 0, call 1: 'h' is a state, which the call before gives; leave it out"):
        read([[{"x": STEPS[0]}, {"x": STEPS[1], "h": begin}]])


REFUSED: list[tuple[Any, str]] = [
    ([[]], "sequence 0: it has no calls; give at least one"),
    (7, "cannot read int; give a list of sequences of calls"),
    ([[{"y": STEPS[0]}]], "input 'x' is missing"),
    ([[{"x": STEPS[0], "y": 1}]], "the model has no input 'y'"),
    ({"x": STEPS[None, None]}, r"arrays of the sizes x \[1, 1, 6, 1, 4\] are no sequences"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED)
def test_refusals(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(data)


def test_a_call_of_several_inputs_names_them() -> None:
    inputs = [*INPUTS, Input("z", (1, 4), "float32")]
    with pytest.raises(DataError, match=r"a call must be \{input: array\} of \['x', 'z'\]\. Got ndarray instead"):
        read([[STEPS[0]]], inputs)
