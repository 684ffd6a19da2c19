"""The description of a compiled model: conversion to JSON and back."""

from __future__ import annotations

import json
from typing import Any

from tvmq.runtime.artifact.model_description import CallDescription, Description, LoweringDescription, SizedFunction

TENSOR = {"name": "x", "shape": ["batch", 3], "dtype": "float32"}
PLAIN = Description([TENSOR], [TENSOR], {"stage": "realized"}, {"a": ["conv"]}, "batch", {}, [])
CALLS = CallDescription([["kernel", 0]], [{"layers": ["conv"], "macs": 9, "dtype": "int8"}], [0])
FULL = Description(
    **{name: getattr(PLAIN, name) for name in ("inputs", "outputs", "ledger", "names", "batch", "limits", "indices")},
    common=[SizedFunction("main_1", {"batch": 8}, [TENSOR], [TENSOR])],
    functions={"quantize_inputs": {"inputs": [TENSOR], "outputs": []}},
    calls=CallDescription(CALLS.functions, CALLS.origins, CALLS.unaligned, {"main_1": CALLS}),
    lowerings=LoweringDescription([], [{"lowering": "chip"}], [{"lowering": "chip", "why": "strides"}], [], ["c"]),
    notes={"a": "why"},
)


def through_json(description: Description) -> Description:
    return Description.from_json(json.loads(json.dumps(description.to_json())))


def test_json_and_back() -> None:
    for description in (PLAIN, FULL):
        assert json.dumps(through_json(description).to_json()) == json.dumps(description.to_json())


def test_entries_stand_in_the_order_of_the_file() -> None:
    plain = ["inputs", "outputs", "ledger", "names", "batch", "limits", "indices", "calls"]
    assert list(PLAIN.to_json()) == plain
    assert list(FULL.to_json()) == [*plain[:-1], "common", "functions", "calls", "lowerings", "notes"]
    assert list(FULL.to_json()["lowerings"]) == ["names", "taken", "missed", "libraries", "modules"]
    assert list(FULL.to_json()["calls"]) == ["functions", "origins", "unaligned", "common"]


def test_files_of_other_versions_are_read() -> None:
    """Earlier ones lack entries, later ones may have more."""
    least: dict[str, Any] = {"inputs": [], "outputs": [], "ledger": {}, "names": {}, "batch": "", "limits": {}}
    description = Description.from_json({**least, "calls": {"origins": [], "later": 1}, "later": 2})
    assert description.lowerings is None and not description.common and not description.calls.functions


def test_interfaces_of_all_functions() -> None:
    main, quantize_inputs = FULL.interfaces().values()
    assert main.unaligned == [0] and main.batch == quantize_inputs.batch == "batch"
    assert not quantize_inputs.unaligned and quantize_inputs.inputs == [TENSOR]
