"""Every case of tests/passes/cases: this module becomes that one, or is refused, and these are the notes of the pass."""

from __future__ import annotations

from pathlib import Path

import pytest
import tvm

from tests.passes.stages import annotated, calibrated, partitioned, realized
from tests.support.models.networks import at_stage
from tests.support.pass_cases import Case, Notes, Pass, cases_in, check, rewrite
from tvmq import errors
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import PARTS, function_module, inline_functions
from tvmq.graph.view import View, op_name
from tvmq.options.config import QConfig
from tvmq.passes.correct_bias import correct_bias
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.integrality import integrality
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare
from tvmq.passes.quantize_dynamic import quantize_dynamic
from tvmq.passes.realize.define_floats import define_floats
from tvmq.passes.realize.group_queries import group_queries
from tvmq.passes.scale_outliers import scale_outliers
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


def reasons(mod: tvm.IRModule) -> dict[str, str]:
    """{variable: what decided}."""
    return {name: entry["why"] for name, entry in get_ledger(mod).layers.items()}


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


def functions(mod: tvm.IRModule) -> dict[str, str]:
    """{variable: the function in which it stands}; floats of the core, and behind the result what the core is."""
    core, whole = integrality(mod), View(inline_functions(mod))
    notes = {var.name: part for part in PARTS for var, _ in View(function_module(mod, part)).bindings}
    notes |= {one.variable: f"{notes[one.variable]}, {one.op} in {one.dtype}" for one in core.floats}
    return notes | {name: f"{notes[name]}; {core}" for name in whole.outputs}


def no_notes(_mod: tvm.IRModule) -> dict[str, str]:
    return {}


# Folder or file of the cases: how a case gets to the pass and through it, and what it notes
PASSES: dict[str, tuple[Pass, Notes]] = {
    "annotate": (annotated, specs),
    "calibrate": (calibrated, no_notes),
    "correct_bias": (lambda mod, means: correct_bias(calibrated(mod), means), no_notes),
    "pack_weights": (realized, no_notes),
    "quantize_dynamic": (lambda mod, **options: quantize_dynamic(at_stage(mod, "prepared"), QConfig(**options)), reasons),
    "realize": (realized, no_notes),
    "scale_outliers": (lambda mod, outliers: scale_outliers(at_stage(mod, "prepared"), outliers), no_notes),
    "fold_constants": (fold_constants, no_notes),
    "group_queries": (group_queries, no_notes),
    "define_floats": (define_floats, no_notes),
    "partition": (partitioned, decisions),
    "partition_conversions": (lambda mod: partition_conversions(at_stage(mod, "realized")), functions),
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
        rewrite(case, found, notes(found))
        check(next(one for one in cases_in(case.path) if one.title == case.title), found, notes(found))


FILE = '''"""annotate: a file."""

# Given
x: R.Tensor((1, 2, 4, 4), "float32")
w = np.ones((2, 2, 3, 3))

# Case: first
# Before
c = R.nn.conv2d(x, w)
d = R.nn.relu(c)  # ?
# After

# Case: second
# Options: per_channel=False
# Before
c = R.nn.conv2d(x, w)
'''


def test_a_case_file_is_rewritten_where_it_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "annotate.py"
    path.write_text(FILE)
    first, second = cases_in(path)
    assert second.options() == {"per_channel": False} and second.lines == {
        "Options": [],
        "Before": ["c = R.nn.conv2d(x, w)"],
    }
    found = annotated(first.module("Before"))
    with pytest.raises((AssertionError, ValueError)):
        check(first, found, specs(found))
    rewrite(first, found, specs(found))
    first, second = cases_in(path)
    check(first, found, specs(found))
    assert first.lines["After"][-1] == "d = R.nn.relu(c)" and "d = R.nn.relu(c)  # nothing\n" in path.read_text()
    assert path.read_text().endswith(FILE[FILE.index("# Case: second") :])
    other = annotated(first.module("Before"), dtype_input="int8")
    with pytest.raises(ValueError, match="StructuralEqual"):
        check(first, other, specs(other))
