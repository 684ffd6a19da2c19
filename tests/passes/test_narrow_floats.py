"""Floats of 16 bits: compiled code, the definition and the emulator of the backend agree bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.backends import backend_named
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.errors import StageError
from tvmq.passes.narrow_floats import narrow_floats

CPU = backend_named("cpu")
X = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def model() -> Any:
    """A product, sigmoid, a sum with what was before, a division, a product, argmax beside."""
    random = np.random.default_rng(1)
    constants = {name: random.normal(size=(6, 6)).astype(np.float32) for name in ("w1", "w2")}
    constants["third"] = np.float32(3.0)
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"], name="first"),
        helper.make_node("Sigmoid", ["a"], ["b"], name="squash"),
        helper.make_node("Add", ["b", "x"], ["c"], name="sum"),
        helper.make_node("Div", ["c", "third"], ["d"], name="part"),
        helper.make_node("MatMul", ["d", "w2"], ["y"], name="second"),
        helper.make_node("ArgMax", ["y"], ["best"], name="best"),
    ]
    return tvmq.from_onnx(make_model(nodes, {"x": [8, 6]}, ["y", "best"], constants, 17))


def equal_everywhere(module: Any, backend: Any, target: str = "llvm") -> list[np.ndarray]:
    """Results of compiled code, which are those of the definition and of the emulator."""
    compiled = tvmq.build(module, target=target).run({"x": X})
    defined, emulated = tvmq.reference.run(module, {"x": X}), tvmq.emulate(module, backend).run({"x": X})
    for ours, one, other in zip(compiled, defined, emulated, strict=True):
        np.testing.assert_array_equal(ours, one)
        np.testing.assert_array_equal(ours, other)
    return compiled


def test_a_backend_whose_floats_have_16_bits(model: Any, recwarn: pytest.WarningsRecorder) -> None:
    backend = replace(CPU, name="narrow", float_type="float16", families=frozenset({"matmul", "dense"}))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    assert tvmq.check_backend(module, backend).conforms
    results = equal_everywhere(module, backend)
    assert not [one for one in recwarn if issubclass(one.category, tvmq.errors.BackendWarning)]
    wide = tvmq.build(tvmq.quantize(*model, X, target=replace(backend, float_type="float32"), guard=None))
    assert not np.array_equal(results[0], wide.run({"x": X})[0])
    notes = tvmq.explain(module).ledger.notes
    assert any("narrow_floats: backend narrow: 6 operators in float16, by casts" in note for note in notes), notes


def test_bfloat16_is_emulated_alone(model: Any) -> None:
    backend = replace(CPU, name="brain", float_type="bfloat16", families=frozenset({"matmul", "dense"}))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    with pytest.warns(tvmq.errors.BackendWarning, match="float_type is bfloat16, compiled floats are float32 and float16"):
        compiled = tvmq.build(module).run({"x": X})[0]
    assert not np.array_equal(compiled, tvmq.emulate(module, backend).run({"x": X})[0])


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm -mcpu=x86-64-v2", "llvm -mcpu=haswell", "llvm -mcpu=sapphirerapids"])
def test_other_cpus_give_the_same(model: Any, target: str) -> None:
    backend = replace(CPU, name="narrow", float_type="float16", families=frozenset({"matmul", "dense"}))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    try:
        equal_everywhere(module, backend, target)
    except tvmq.errors.TargetError as error:
        pytest.skip(str(error))


def test_single_operators(model: Any) -> None:
    """A product in float16 between others in float32: what it reads is rounded, and its weight."""
    backend = replace(CPU, name="mixed", operators=(OperatorEntry(("matmul", "dense"), computes="float16"),))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    heavy = [layer for layer in tvmq.explain(module).ledger.layers.values() if layer.get("macs")]
    assert "float16" in module.script() and {layer["precision"] for layer in heavy} == {"float"}
    equal_everywhere(module, backend)


def test_without_narrow_types_nothing_changes_and_the_stage_is_checked(model: Any) -> None:
    module = tvmq.quantize(*model, X, guard=None)
    assert narrow_floats(module, CPU) is module
    with pytest.raises(StageError, match="narrow_floats: the module is 'imported'"):
        narrow_floats(model[0], replace(CPU, name="narrow", float_type="float16"))
