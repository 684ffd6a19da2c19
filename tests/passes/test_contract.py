"""Properties that every pass of the table keeps, at every stage of small networks."""

from __future__ import annotations

import importlib
import re
from itertools import pairwise

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

import tvmq
from tests.passes.nets import NETS
from tests.passes.stages import every_stage
from tests.support.models.networks import assert_healthy, at_stage
from tvmq.errors import StageError
from tvmq.graph.ledger import STAGES, get_ledger
from tvmq.graph.legal_forms import check_form
from tvmq.graph.view import View, leaves, used_vars
from tvmq.passes import OPS, PASSES, load
from tvmq.passes.correct_bias import correct_bias
from tvmq.quantization.stages import DECISIONS, INTEGERS, PREPARATION, ROUNDING

SAMPLES = ["squeeze_excite", "concat_shared_part", "split_branches", "island_of_layer_norm", "batch_norm_folded"]


@pytest.fixture(scope="module", params=SAMPLES)
def stages(request: pytest.FixtureRequest) -> dict[str, tvm.IRModule]:
    """{pass: the module it gives}, "imported" included."""
    made, outputs = NETS[request.param]()
    mod, params = tvmq.from_onnx(made.model(*outputs))
    return every_stage(mod, params)


@pytest.mark.slow
def test_every_pass_gives_a_healthy_module(stages: dict[str, tvm.IRModule]) -> None:
    for mod in stages.values():
        assert_healthy(mod)
        view = View(mod)
        for var, value in view.bindings:
            for used in used_vars(value):
                assert used in view.var, f"'{var.name}' reads '{used}', which nobody binds"
        assert all(leaf.name in view.var for leaf in leaves(view.func.body.body))


@pytest.mark.slow
def test_no_pass_changes_its_input(stages: dict[str, tvm.IRModule]) -> None:
    """Also not its types or attributes: the printed text is the same before and after."""
    order = list(stages)
    for before, name in zip(order, order[1:], strict=False):
        mod = stages[before]
        text, digest = mod.script(show_meta=True), tvm_ffi.structural_hash(mod)
        load(PASSES[name])(mod, *arguments_of(name, mod))
        assert tvm_ffi.structural_hash(mod) == digest, f"{name} changed its input"
        assert mod.script(show_meta=True) == text, f"{name} changed its input"


def arguments_of(name: str, mod: tvm.IRModule) -> tuple:
    """Arguments of a pass besides the module."""
    if name == "calibrate":
        return ({source: (-1.0, 2.0) for source in View(mod).var},)
    if name in ("round_weights", "correct_bias"):
        return ({},)
    if name == "prepare":
        weights = mod["main"].params[int(mod["main"].attrs["num_input"]) :]
        return ({p.name: np.ones([int(d) for d in p.ty.shape], str(p.ty.dtype)) for p in weights},)
    return ()


@pytest.mark.slow_cases("squeeze_excite", "concat_shared_part", "split_branches")
def test_modules_survive_saving(stages: dict[str, tvm.IRModule]) -> None:
    for mod in stages.values():
        loaded = tvm.ir.load_json(tvm.ir.save_json(mod))
        tvm.ir.assert_structural_equal(loaded, mod)
        assert get_ledger(loaded) == get_ledger(mod)


def test_source_names_are_those_of_the_model(stages: dict[str, tvm.IRModule]) -> None:
    known = {name for sources in View(stages["imported"]).names.values() for name in sources}
    known |= set(View(stages["imported"]).params)
    for name, mod in stages.items():
        view = View(mod)
        used = {source for variable in view.value for source in view.names[variable]}
        assert used <= known, f"{name} invented {used - known}"


def test_stages_follow_each_other(stages: dict[str, tvm.IRModule]) -> None:
    found = [get_ledger(mod).stage for mod in stages.values()]
    assert found == sorted(found, key=STAGES.index) and set(found) == set(STAGES)


def test_every_pass_gives_its_legal_form(stages: dict[str, tvm.IRModule]) -> None:
    forms = {stage.name: stage for stage in (*PREPARATION[:1], *DECISIONS, *ROUNDING, *INTEGERS)}
    for before, name in pairwise(stages):
        if name in forms:
            check_form(name, stages[before], stages[name], forms[name].form, forms[name].adds)


def test_clean_up_passes_are_idempotent(stages: dict[str, tvm.IRModule]) -> None:
    again = load(PASSES["fold_constants"])(stages["fold_constants"])
    tvm.ir.assert_structural_equal(again, stages["fold_constants"])
    tvm.ir.assert_structural_equal(load(PASSES["pack_weights"])(stages["pack_weights"]), stages["pack_weights"])
    tvm.ir.assert_structural_equal(load(PASSES["prepare"])(stages["prepare"]), stages["prepare"])


@pytest.mark.parametrize("name", [name for name in PASSES if name not in ("prepare", "fold_constants")])
def test_passes_refuse_modules_of_other_stages(stages: dict[str, tvm.IRModule], name: str) -> None:
    """All stages but the one that the head of the pass names; so a pass that moves the stage never runs twice."""
    head = importlib.import_module(PASSES[name].partition(":")[0]).__doc__
    needed = re.search(r"Needs +an? (\w+) module", head)[1]
    for stage in set(STAGES) - {needed}:
        mod = at_stage(stages["imported"], stage)
        message = f"{name}: the module is '{stage}', this pass needs '{needed}'; the order is imported -> prepared"
        with pytest.raises(StageError, match=message):
            load(PASSES[name])(mod, *arguments_of(name, mod))


@pytest.mark.parametrize("target", [*PASSES.values(), *dict.fromkeys(OPS.values())])
def test_heads_of_files(target: str) -> None:
    """Whoever prints a file's head learns what it does to a module."""
    head = importlib.import_module(target.partition(":")[0]).__doc__ or ""
    words = ["Before", "After"]
    if target in PASSES.values():
        words += ["Needs", "Leaves", "Numerics"]
    for word in words:
        assert word in head, f"{target}: the head of its file lacks '{word}'"


@pytest.mark.parametrize("target", dict.fromkeys(OPS.values()))
def test_families(target: str) -> None:
    """Every line of OPS names an object with what partition and realize ask for."""
    family = load(target)
    assert isinstance(family.name, str) and callable(family.group) and callable(family.realize)


@pytest.mark.parametrize("name", OPS)
def test_operators_exist(name: str) -> None:
    assert tvm.ir.Op.get(f"relax.{name}") is not None


@pytest.mark.slow_cases("squeeze_excite")
def test_correct_bias_changes_biases_alone(stages: dict[str, tvm.IRModule]) -> None:
    """Bias correction without means changes nothing; with means it leaves its input alone."""
    mod = stages["calibrate"]
    digest = tvm_ffi.structural_hash(mod)
    tvm.ir.assert_structural_equal(correct_bias(mod, {}), mod)
    corrected = correct_bias(
        mod, {name: [1.0] * int(var.ty.shape[1]) for name, var in View(mod).var.items() if _picture(var)}
    )
    assert_healthy(corrected)
    assert tvm_ffi.structural_hash(mod) == digest
    load(PASSES["realize"])(corrected)


def _picture(var: relax.Var) -> bool:
    return isinstance(var.ty, relax.TensorType) and var.ty.ndim == 4
