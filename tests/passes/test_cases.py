"""Every case of tests/passes/cases: this module becomes that one, or is refused, and these are the notes of the pass."""

from __future__ import annotations

from pathlib import Path

import pytest
import tvm

from tests.passes.stages import annotated, partitioned
from tests.support.pass_cases import Case, Notes, Pass, cases_in, check, rewrite
from tvmq import errors
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare
from tvmq.passes.realize.define_floats import define_floats
from tvmq.passes.unify_scales import unify_scales

CASES = [case for path in sorted(Path(__file__).with_name("cases").rglob("*.py")) for case in cases_in(path)]


def decisions(mod: tvm.IRModule) -> dict[str, str]:
    """{variable: family, members and facts of the group that it ends, or the reason for float}."""
    notes = {}
    for name, entry in get_ledger(mod).layers.items():
        notes[name] = entry["why"]
        if entry["precision"] == "int8":
            members = ", ".join(entry["members"])
            facts = {key: value for key, value in entry["facts"].items() if value not in (None, [])}
            rule = entry["why"] if entry["why"].startswith("rule") else ""
            parts = [f"{entry['family']}: {members}", *(f"{k}={v}" for k, v in facts.items() if v is not False), rule]
            notes[name] = "; ".join(filter(None, parts))
    return notes


def specs(mod: tvm.IRModule) -> dict[str, str]:
    """{watched variable: type, bits and scheme of its codes}."""
    calls = [value for _, value in View(mod).bindings if op_name(value) == "tvmq.simulated_quantize"]
    return {
        call.args[0].name: f"{call.attrs.dtype} {call.attrs.bits}{' symmetric' if call.attrs.symmetric else ''}"
        for call in calls
        if call.attrs.kind != "weight"
    }


def scales(mod: tvm.IRModule) -> dict[str, str]:
    """{watched variable: name of its scale}, {concat: parts that others read as well}."""
    calls = [value for _, value in View(mod).bindings if op_name(value) == "tvmq.simulated_quantize"]
    notes = {call.args[0].name: f"scale {call.attrs.tensor}" for call in calls if call.attrs.kind != "weight"}
    for name, entry in get_ledger(mod).layers.items():
        if "shared" in entry.get("facts", ()):
            notes[name] = f"shared: {', '.join(entry['facts']['shared']) or 'none'}"
    return notes


def no_notes(_mod: tvm.IRModule) -> dict[str, str]:
    return {}


# Folder or file of the cases: how a case gets to the pass and through it, and what it notes
PASSES: dict[str, tuple[Pass, Notes]] = {
    "annotate": (annotated, specs),
    "fold_constants": (fold_constants, no_notes),
    "define_floats": (define_floats, no_notes),
    "partition": (partitioned, decisions),
    "prepare": (prepare, no_notes),
    "unify_scales": (lambda mod, **options: unify_scales(annotated(mod, **options)), scales),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    apply, notes = PASSES[case.path.relative_to(Path(__file__).with_name("cases")).parts[0].removesuffix(".py")]
    before, options = case.module("Before"), case.options()
    if "Error" in case.arguments:
        kind, _, words = case.arguments["Error"].partition(": ")
        with pytest.raises(getattr(errors, kind)) as caught:
            apply(before, **options)
        assert words in str(caught.value)
        return
    found = apply(before, **options)
    try:
        check(case, found, notes(found))
    except (AssertionError, ValueError):
        if not request.config.getoption("--update-golden"):
            raise
        if case.arguments.get("After") == "the same":
            raise
        rewrite(case, found, notes(found))
