"""Legal forms between stages: the error about a pass that breaks one names the variable and the law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.networks import block
from tvmq.errors import StageError
from tvmq.extension import make_const, op_name, ops, rewrite
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.legal_forms import check_form
from tvmq.graph.view import View
from tvmq.passes.calibrate import calibrate
from tvmq.passes.realize import realize
from tvmq.quantization import stages
from tvmq.quantization.stages import INTEGERS, PREPARATION, ROUNDING, Stage, StageContext, run_stages
from tvmq.quantization.static_quantization import StaticQuantization

DATA = {"x": np.random.default_rng(1).normal(size=(4, 2, 6, 6)).astype(np.float32)}
Pass = Callable[[tvm.IRModule], tvm.IRModule]


def network() -> tvm.IRModule:
    weight = np.random.default_rng(2).normal(size=(3, 2, 3, 3)).astype(np.float32)
    signature = 'x: R.Tensor((1, 2, 6, 6), "float32"), w: R.Tensor((3, 2, 3, 3), "float32")'
    body = "c = R.nn.conv2d(x, w, padding=[1, 1])\nr = R.nn.relu(c)\ns = R.nn.softmax(r, axis=1)"
    return block(signature, body, '(1, 3, 6, 6), "float32"', w=weight)


def set_stage(mod: tvm.IRModule, stage: str) -> tvm.IRModule:
    return with_ledger(mod, replace(get_ledger(mod), stage=stage))


def change_calls(mod: tvm.IRModule, operator: str, change: Callable[[relax.Call], relax.Expr]) -> tvm.IRModule:
    return rewrite(mod, lambda _r, _v, value: change(value) if op_name(value) == operator else None)


def with_scale(call: relax.Call, scale: np.ndarray) -> relax.Expr:
    return relax.Call(call.op, [call.args[0], make_const(scale), call.args[2]], call.attrs)


def with_codes_of_16_bits(call: relax.Call) -> relax.Expr:
    return ops.quantize(*call.args, dtype="uint8", qmin=0, qmax=65535)


def without_first_binding(mod: tvm.IRModule) -> tvm.IRModule:
    """The convolution under another name; the ledger goes on naming the old one."""
    text = mod.script(show_meta=True).replace("c: R.Tensor", "c_old: R.Tensor").replace("relu(c)", "relu(c_old)")
    return tvm.script.from_source(text)


def two_results(mod: tvm.IRModule) -> tvm.IRModule:
    return with_ledger(block('x: R.Tensor((1, 2, 6, 6), "float32")', "y = R.nn.relu(x)\nz = (y, y)"), get_ledger(mod))


def without_inputs(mod: tvm.IRModule) -> tvm.IRModule:
    func = mod["main"]
    return tvm.IRModule({"main": relax.Function([], func.body, func.body.ty, func.is_pure, func.attrs)})


def calibrated_by_halves(mod: tvm.IRModule) -> tvm.IRModule:
    """Thresholds for all tensors, then no scale at the first one."""
    known = calibrate(mod, {name: (-1.0, 2.0) for name in View(mod).var})
    seen: list[relax.Call] = []

    def forget_first(call: relax.Call) -> relax.Expr:
        seen.append(call)
        return with_scale(call, np.zeros_like(call.args[1].value.numpy())) if len(seen) == 1 else call

    return change_calls(known, "tvmq.simulated_quantize", forget_first)


def early_table(mod: tvm.IRModule) -> tvm.IRModule:
    codes = relax.const(np.zeros((1, 3, 6, 6), np.uint8))
    table = ops.table(codes, relax.const(np.arange(256, dtype=np.float32)), function="identity")
    return change_calls(mod, "tvmq.softmax", lambda call: relax.op.add(call, table))


BROKEN: list[tuple[str, Pass, str]] = [
    ("calibrate", calibrated_by_halves, "'x_sq' is no legal tvmq.simulated_quantize of a 'calibrated' module, where its "
     "scale is positive and finite; this pass broke it"),
    ("calibrate", lambda mod: set_stage(mod, "calibrated"), "'x_sq' is no legal tvmq.simulated_quantize .* positive"),
    ("round_biases", early_table, "'s_table' is a tvmq.table, which this pass must not add; leave it to its stage"),
    ("round_biases", without_first_binding, "'c' is in a group of the ledger and not in the module; keep its name"),
    ("round_biases", without_inputs, "its module is not well formed: "),
    ("round_biases", two_results, "inputs and results were .*, now they are .*; keep them"),
    ("round_biases", lambda mod: set_stage(mod, "prepared"), "it gave a module that is 'prepared', not 'annotated'"),
    ("round_biases", lambda mod: mod["main"], "it gave a Function; return the IRModule"),
    ("realize", lambda mod: set_stage(mod, "realized"), "'x_sq' is no legal tvmq.simulated_quantize .* none is left"),
    ("realize", lambda mod: change_calls(realize(mod), "tvmq.quantize", with_codes_of_16_bits),
     "'x_q' is no legal tvmq.quantize of a 'realized' module, where qmin..qmax lie in their type, in this order"),
]  # fmt: skip


def annotated_and_context() -> tuple[tvm.IRModule, StageContext]:
    config = tvmq.qconfig()
    context = StageContext(config)
    quantization = StaticQuantization(run_stages(network(), PREPARATION, context), None, config, context.backend, {})
    annotated = quantization.annotate_model()
    calibration = tvmq.run_calibration(annotated, None, DATA)
    return annotated, replace(context, calibration=calibration)


@pytest.mark.parametrize(("name", "broken", "message"), BROKEN)
def test_the_pass_that_breaks_a_form_is_named(name: str, broken: Pass, message: str) -> None:
    mod, context = annotated_and_context()
    road = tuple(
        Stage(name, lambda mod, _: broken(mod), stage.form, stage.adds) if stage.name == name else stage
        for stage in (*ROUNDING, *INTEGERS)
    )
    with pytest.raises(StageError, match=rf"^quantize, stage '{name}': {message}"):
        run_stages(mod, road, context)


def test_a_call_that_was_illegal_before_is_not_the_fault_of_a_pass() -> None:
    mod, context = annotated_and_context()
    realized = run_stages(mod, (*ROUNDING, *INTEGERS), context)
    illegal = change_calls(realized, "tvmq.quantize", with_codes_of_16_bits)
    passed_on = change_calls(illegal, "tvmq.dequantize", lambda call: call)
    assert passed_on is not illegal
    check_form("pass", illegal, passed_on, INTEGERS[-1].form)
    with pytest.raises(StageError, match="'x_q' is no legal tvmq.quantize"):
        check_form("pass", realized, passed_on, INTEGERS[-1].form)


def test_unchecked_stages_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users do not pay for the checks: without the variable nothing is looked at."""
    mod, context = annotated_and_context()
    monkeypatch.delenv("TVMQ_CHECK_STAGES")
    monkeypatch.setattr(stages, "check_form", None)
    assert get_ledger(run_stages(mod, (*ROUNDING, *INTEGERS), context)).stage == "realized"
    broken = Stage("round_biases", lambda mod, _: set_stage(mod, "prepared"), ROUNDING[0].form)
    assert get_ledger(run_stages(mod, (broken,), context)).stage == "prepared"


def test_every_law_has_a_sentence_that_reads_in_the_message() -> None:
    for stage in (*PREPARATION, *ROUNDING, *INTEGERS):
        for laws in stage.form.laws.values():
            assert all(sentence[0].islower() and not sentence.endswith((".", ";")) for sentence, _ in laws)


def watched_early(mod: tvm.IRModule) -> tvm.IRModule:
    """A user's pass that does the work of annotate."""
    scale, zero = relax.const(np.float32(0)), relax.const(np.int32(0))
    return change_calls(
        mod, "nn.relu", lambda call: ops.simulated_quantize(call, scale, zero, kind="activation", tensor="r")
    )


@pytest.mark.parametrize("is_checked", [True, False])
def test_passes_of_users_are_always_checked(monkeypatch: pytest.MonkeyPatch, is_checked: bool) -> None:
    if not is_checked:
        monkeypatch.delenv("TVMQ_CHECK_STAGES")
    config = tvmq.qconfig(passes=[f"{__name__}:watched_early"])
    message = (
        f"quantize, pass '{__name__}:watched_early': 'r' is a tvmq.simulated_quantize, which this pass must not add"
    )
    with pytest.raises(StageError, match=message):
        tvmq.quantize(network(), None, DATA, config=config, guard=None)
