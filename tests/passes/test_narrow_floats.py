"""Floats of 16 bits: compiled code, the definition and the emulator of the backend agree bit for bit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from tvm import relax

import tvmq
from tests.graph.op_case import HARD_FLOATS
from tests.support.models.onnx_models import make_model
from tvmq.backends import backend_named
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.errors import StageError
from tvmq.graph import ops
from tvmq.numerics.narrow_float_types import NARROW, round_floats
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


@pytest.mark.parametrize("dtype", NARROW)
def test_a_backend_whose_floats_have_16_bits(dtype: str, model: Any, recwarn: pytest.WarningsRecorder) -> None:
    backend = replace(CPU, name="narrow", float_type=dtype, families=frozenset({"matmul", "dense"}))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    assert tvmq.check_backend(module, backend).conforms
    results = equal_everywhere(module, backend)
    assert not [one for one in recwarn if issubclass(one.category, tvmq.errors.BackendWarning)]
    wide = tvmq.build(tvmq.quantize(*model, X, target=replace(backend, float_type="float32"), guard=None))
    assert not np.array_equal(results[0], wide.run({"x": X})[0])
    notes = tvmq.explain(module).ledger.notes
    assert any(f"narrow_floats: backend narrow: 6 operators in {dtype}, by roundings" in note for note in notes), notes


@pytest.mark.slow
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("cpu", [
    pytest.param("x86-64-v2", marks=pytest.mark.isa("sse4_2")),
    pytest.param("haswell", marks=pytest.mark.isa("avx2")),
    pytest.param("sapphirerapids", marks=pytest.mark.isa("avx512_fp16")),
])  # fmt: skip
def test_other_cpus_give_the_same(cpu: str, dtype: str, model: Any) -> None:
    backend = replace(CPU, name="narrow", float_type=dtype, families=frozenset({"matmul", "dense"}))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    equal_everywhere(module, backend, f"llvm -mcpu={cpu}")


@pytest.mark.parametrize("dtype", NARROW)
def test_single_operators(dtype: str, model: Any) -> None:
    """A product in 16 bits between others in float32: what it reads is rounded, and its weight."""
    backend = replace(CPU, name="mixed", operators=(OperatorEntry(("matmul", "dense"), computes=dtype),))
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    heavy = [layer for layer in tvmq.explain(module).ledger.layers.values() if layer.get("macs")]
    assert dtype in module.script() and {layer["precision"] for layer in heavy} == {"float"}
    equal_everywhere(module, backend)


def test_both_types_in_one_network(model: Any) -> None:
    """A reader rounds to its own type what another gave."""
    entries = (OperatorEntry(("matmul", "dense"), computes="bfloat16"), OperatorEntry(("table",), computes="float16"))
    backend = replace(CPU, name="both", operators=entries)
    module = tvmq.quantize(*model, X, target=backend, guard=None)
    assert {"float16", "bfloat16"} <= set(re.findall(r"b?float16", module.script()))
    equal_everywhere(module, backend)


def rounding_alone() -> Any:
    """A module of the operator alone."""
    x, builder = relax.Var("x", relax.TensorType(HARD_FLOATS.shape, "float32")), relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(builder.emit(ops.round_floats(x, dtype="bfloat16")))
        builder.emit_func_output(y)
    return tvmq.quantize(builder.get(), None, [np.zeros(HARD_FLOATS.shape, np.float32)], guard=None)


def test_onnx_has_two_casts(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    tvmq.to_onnx(rounding_alone(), tmp_path / "m.onnx")
    (y,) = onnxruntime.InferenceSession(str(tmp_path / "m.onnx")).run(None, {"x": HARD_FLOATS})
    np.testing.assert_array_equal(y, round_floats(HARD_FLOATS, "bfloat16"))


def test_torch_has_two_casts() -> None:
    torch = pytest.importorskip("torch")
    y = tvmq.to_torch(rounding_alone())(torch.from_numpy(HARD_FLOATS)).numpy()
    np.testing.assert_array_equal(y, round_floats(HARD_FLOATS, "bfloat16"))


def test_the_operator_rounds_to_bfloat16_alone() -> None:
    call = ops.round_floats(relax.const(X), dtype="float16")
    with pytest.raises(ValueError, match="tvmq.round_floats rounds to bfloat16, not to float16; astype gives that type"):
        call.op.get_attr("FLegalize")(relax.BlockBuilder(), call)


def test_without_narrow_types_nothing_changes_and_the_stage_is_checked(model: Any) -> None:
    module = tvmq.quantize(*model, X, guard=None)
    assert narrow_floats(module, CPU) is module
    with pytest.raises(StageError, match="narrow_floats: the module is 'imported'"):
        narrow_floats(model[0], replace(CPU, name="narrow", float_type="float16"))
