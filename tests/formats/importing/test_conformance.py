"""ONNX's own test cases: one an operator here, all of them in benchmarks/conformance.py."""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.onnx_cases import (
    PASSED,
    REFUSED,
    WRONG,
    Case,
    Verdict,
    expected_refusals,
    is_clear,
    judge_all,
    load_cases,
    sample,
    with_constants,
    write_expectation,
)

EXPECTATION = Path(__file__).parent / "conformance.txt"


def relu(scale: float = 1.0) -> Case:
    """A case that expects scale * relu(x)."""
    x = np.float32([-1, 2])
    types = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", types[:1], types[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return Case("test_relu", "Relu", model, [([x], [np.float32(scale) * np.maximum(x, 0)])], 1e-3, 1e-7)


@pytest.mark.slow
def test_one_case_of_every_operator() -> None:
    cases = sample(list(load_cases().values()))
    verdicts = list(judge_all(cases))
    assert [verdict for verdict in verdicts if verdict.status == WRONG] == []
    refused = expected_refusals(EXPECTATION)
    if refused is not None:
        assert {verdict.name for verdict in verdicts if verdict.status == REFUSED} == refused & {c.name for c in cases}
    assert sum(verdict.status == PASSED for verdict in verdicts) > len(cases) // 2


@pytest.mark.slow
def test_verdicts() -> None:
    right, wrong = list(judge_all([relu(), relu(1.01)]))
    assert right == Verdict("test_relu", PASSED)
    assert wrong.status == WRONG and "Not equal to tolerance" in wrong.detail


@pytest.mark.slow
def test_a_crash_and_a_hang_cost_one_case_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_or_worse(model: onnx.ModelProto, real: object = tvmq.from_onnx) -> object:
        if model.graph.name == "crash":
            os.abort()
        if model.graph.name == "hang":
            time.sleep(60)
        return real(model)  # type: ignore[operator]

    def named(name: str) -> Case:
        case = relu()
        case.model.graph.name = name
        return dataclasses.replace(case, name=name)

    monkeypatch.setattr(tvmq, "from_onnx", import_or_worse)
    monkeypatch.setattr("tests.support.onnx_cases.TIME_LIMIT", 5.0)
    calls: list[None] = []
    cases = [named("crash"), named("fine"), named("hang"), named("end")]
    verdicts = list(judge_all(cases, lambda: calls.append(None)))
    assert [verdict.status for verdict in verdicts] == [WRONG, PASSED, WRONG, PASSED]
    assert "SIGABRT" in verdicts[0].detail and "no result after 5 s" in verdicts[2].detail
    assert len(calls) == 4


def test_clear_messages() -> None:
    assert is_clear("from_onnx, layer 'a': Loop: control flow is not supported; export the model without it")
    assert is_clear("from_onnx: input 'x' is not a tensor; export with tensor inputs only")
    assert not is_clear("from_onnx, layer 'a': Loop: control flow is not supported")
    assert not is_clear("from_onnx, layer 'a': wrong\nTraceback; see above")
    assert not is_clear("no value in Constant")


@pytest.mark.slow
def test_parameters_become_constants() -> None:
    cases = load_cases()
    bound = with_constants(cases["test_reshape_one_dim"])
    assert bound is not None
    assert [value.name for value in bound.graph.input] == ["data"]
    assert [tensor.name for tensor in bound.graph.initializer] == ["shape"]
    assert with_constants(cases["test_relu"]) is None


def test_expectation_file(tmp_path: Path) -> None:
    path = tmp_path / "expected.txt"
    verdicts = [Verdict("test_relu", REFUSED, "why"), Verdict("test_relu", PASSED)]
    write_expectation(path, [relu(), relu()], verdicts)
    assert expected_refusals(path) == {"test_relu"}
    path.write_text(path.read_text().replace(onnx.__version__, "0.0"))
    assert expected_refusals(path) is None
