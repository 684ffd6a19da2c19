"""The ledger: what was decided for every operator and by whom, kept in the module as JSON.

The function attribute "tvmq.ledger" holds {"stage": ..., "config": ..., "layers": {variable name: entry}, "notes":
[...], "codes": {...}, "data_hash": ..., "preprocessing": {...}}.
An entry is a dictionary with at least
    op          operator family, for example "conv2d"
    precision   "int8" or "float"
    why         the rule, default or limit that decided
"codes" of a realized module is {variable of codes: (scale, zero point)}; "data_hash" the fingerprint of the data that
its ranges were chosen from, "" where there were none; "preprocessing" says how pictures become inputs, and names the
classes, where it is known (calibration/data/picture_preprocessing.py).
The stage names the last of STAGES that the module has passed.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import tvm
from tvm import relax

from tvmq.base.text import read_json
from tvmq.errors import ModelError, StageError
from tvmq.graph.names import attribute_errors, read_attribute

ATTRIBUTE = "tvmq.ledger"
TEXTS = ("op", "precision", "why")  # of each entry
LATER = ("data_hash", "preprocessing")
STAGES = ("imported", "prepared", "partitioned", "annotated", "calibrated", "realized")


@dataclass
class Ledger:
    """Decisions about a module; see the head of this file."""

    stage: str = "imported"
    config: dict[str, Any] = field(default_factory=dict)
    backend: str = "cpu"
    layers: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    codes: dict[str, tuple[float, int]] = field(default_factory=dict)
    data_hash: str = ""
    preprocessing: dict[str, Any] = field(default_factory=dict)


def check_module(mod: Any) -> tvm.IRModule:
    """The argument, which is a module. raises ModelError for anything else"""
    if isinstance(mod, tvm.IRModule):
        return mod
    raise ModelError(
        f"a module must be a tvm.IRModule. Got {type(mod).__name__} instead; "
        "importers return a module and its weights: mod, params = from_onnx(...)"
    )


def get_ledger(source: tvm.IRModule | relax.Function) -> Ledger:
    """The ledger of a module's main function (or of a function); an empty one where there is none.

    raises  ModelError for anything else
    """
    func = source if isinstance(source, relax.Function) else check_module(source)["main"]
    text = read_attribute(func, ATTRIBUTE)
    if not text:
        return Ledger()
    with attribute_errors(ATTRIBUTE):
        ledger = Ledger(**read_json(text.encode()))
        _check_form(ledger)
        return ledger


def _check_form(ledger: Ledger) -> None:
    """TypeError for fields that no pass writes so."""
    is_right = (
        ledger.stage in STAGES
        and isinstance(ledger.backend, str)
        and isinstance(ledger.data_hash, str)
        and isinstance(ledger.preprocessing, dict)
        and isinstance(ledger.config, dict)
        and all(isinstance(note, str) for note in ledger.notes)
        and all(isinstance(scale, float | int) and isinstance(zero, int) for scale, zero in ledger.codes.values())
        and all(isinstance(entry.get(name, ""), str) for entry in ledger.layers.values() for name in TEXTS)
        and all(isinstance(name, str) for entry in ledger.layers.values() for name in entry.get("layers", ()))
    )
    if not is_right:
        raise TypeError


def stage_of(mod: tvm.IRModule) -> str:
    """Stage of a module: one of STAGES, "imported" for one that no pass has seen.

    >>> from tvm.script import relax as R
    >>> stage_of(tvm.IRModule({"main": tvm.relax.Function([], R.const(1.0))}))
    'imported'
    """
    return get_ledger(mod).stage


def with_ledger(mod: tvm.IRModule, ledger: Ledger) -> tvm.IRModule:
    """A module like `mod` that carries `ledger`."""
    result = mod.clone()
    result["main"] = mod["main"].with_attr(ATTRIBUTE, json.dumps(entries_of(ledger)))
    return result


def entries_of(ledger: Ledger) -> dict[str, Any]:
    """Fields of a ledger as JSON has them; without those that modules had not which were saved earlier, if empty."""
    entries = asdict(ledger)
    return {name: value for name, value in entries.items() if value or name not in LATER}


EMULATED = "tvmq.emulated"  # compiled code would give other codes than the device: `build` refuses
MAY_DIFFER = "tvmq.may_differ"  # it may give other ones: `build` warns


def mark_emulated(mod: tvm.IRModule, why: str, attribute: str = EMULATED) -> tvm.IRModule:
    """A module of a backend whose arithmetic compiled code does not have, or not always: EMULATED or MAY_DIFFER."""
    result = mod.clone()
    result["main"] = mod["main"].with_attr(attribute, why)
    return result


def why_emulated(mod: tvm.IRModule, attribute: str = EMULATED) -> str | None:
    """Reason that `mark_emulated` gave for a module; None if it is not marked."""
    func = next((func for var, func in mod.functions_items() if var.name_hint == "main"), None)
    return read_attribute(func, attribute) or None if func is not None else None


def require_stage(mod: tvm.IRModule, stage: str, allowed: Sequence[str]) -> Ledger:
    """The ledger of `mod`, refused unless the module stands at one of the allowed stages."""
    ledger = get_ledger(mod)
    if ledger.stage not in allowed:
        raise StageError(
            f"{stage}: the module is '{ledger.stage}', this pass needs {' or '.join(repr(s) for s in allowed)}; "
            "the order is " + " -> ".join(STAGES)
        )
    return ledger
