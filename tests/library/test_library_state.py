"""Libraries of models with a state: the program has it in memory of its own, and the facts say what belongs together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.support.models.stateful_models import STATEFUL
from tvmq.errors import DataError


@pytest.fixture(scope="module", params=["convolutions", "attention"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, tvmq.Executable, Path]:
    model, sequences = STATEFUL[request.param]
    mod, params = tvmq.from_onnx(model())
    exe = tvmq.build(tvmq.quantize(mod, params, sequences(4, 0), guard=None))
    folder = tmp_path_factory.mktemp(request.param)
    tvmq.export_library(exe, folder, name="net")
    return request.param, exe, folder


@pytest.mark.slow_cases("convolutions")
def test_a_library_runs_sessions(exported: tuple[str, tvmq.Executable, Path], tmp_path: Path) -> None:
    name, exe, folder = exported
    library = tvmq.load(folder)
    assert library.states == exe.states
    calls = STATEFUL[name][1](1, 1)[0]
    ours, wanted = library.new_state(), exe.new_state()
    for call in calls:
        assert np.array_equal(library.run(call, ours)[0], exe.run(call, wanted)[0])
    assert all(np.array_equal(ours.arrays[key], wanted.arrays[key]) for key in ours.arrays)
    ours.save(tmp_path / "s.npz")
    assert exe.load_state(tmp_path / "s.npz").length == wanted.length
    with pytest.raises(DataError, match="hands a state to its next call"):
        library.run(calls[0])


def test_facts_and_header_name_the_pairs(exported: tuple[str, tvmq.Executable, Path]) -> None:
    name, exe, folder = exported
    state = json.loads((folder / "net.json").read_text())["state"]
    assert [one["input"] for one in state["tensors"]] == [one.name for one in exe.states.tensors]
    assert all(one["dtype"] == "uint8" and one["scale"] > 0 for one in state["tensors"])
    header = (folder / "net.h").read_text()
    zero = exe.states.tensors[0].pair.zero_point
    begin = f"every element {zero}" if name == "convolutions" else "without rows, which each call appends"
    first = 1 if name == "convolutions" else 2
    assert f"state: output 1 is input {first} of the next call; before the first one {begin}" in header
