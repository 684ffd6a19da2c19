"""Operators of users: type, definition and kernel, from an ONNX node to compiled integers that are verified."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te, tirx
from tvm.script import tirx as T

import tvmq
from tests.support.models.built_modules import build_module
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import ArtifactError, BuildError, ConfigError
from tvmq.extension import Group, importer, operator
from tvmq.graph.analysis.batch_dimension import batch_dimension

HALF, ONE = np.float32(0.5), np.float32(1)


def float_gate(x: te.Tensor, slope: float) -> te.Tensor:
    def element(*at: Any) -> Any:
        gate = x(*at) * tirx.const(slope, "float32") + tirx.const(0.5, "float32")
        return x(*at) * tirx.min(tirx.max(gate, tirx.const(0.0, "float32")), tirx.const(1.0, "float32"))

    return te.compute(x.shape, element)


def code_gate(x: te.Tensor, step: int, zero: int) -> te.Tensor:
    def element(*at: Any) -> Any:
        code = tirx.Cast("int32", x(*at)) - zero
        return code * tirx.min(tirx.max(code * step + 128, 0), 256)

    return te.compute(x.shape, element)


def defined_code_gate(x: np.ndarray, step: int, zero: int) -> np.ndarray:
    code = x.astype(np.int32) - zero
    return code * np.clip(code * step + 128, 0, 256)


GATE = operator(
    "tvmq_tests.gate",
    definition=lambda x, slope: x * np.clip(x * np.float32(slope) + HALF, 0, ONE),
    kernel=float_gate,
    attributes={"slope": float},
)
CODES = operator(
    "tvmq_tests.gate_codes",
    definition=defined_code_gate,
    kernel=code_gate,
    result=lambda x, **_: (x.shape, "int32"),
    attributes={"step": int, "zero": int},
    samples_apart=True,
)


class GateFamily:
    """x * clip(slope * x + 1/2, 0, 1) in integers: the gate in steps of 1/256."""

    name = "tvmq_tests_gate"
    operators = ("tvmq_tests.gate",)

    def group(self, view: Any, variable: Any, value: Any) -> Group:
        return Group(self.name, variable.name, [variable.name], [value.args[0].name])

    def realize(self, realizer: Any, group: Group) -> Any:
        x = realizer.codes(group.inputs[0])
        step = round(float(x.scale) * realizer.view.value[group.root].attrs.slope * 256)
        sums = realizer.emit(CODES(x.var, step=step, zero=x.zero_point), f"{group.root}_sums")
        return realizer.requantize(sums, np.float64([float(x.scale) / 256]), group)


FAMILY = GateFamily()


class SigmoidFamily(GateFamily):
    """A family in place of the table that a sigmoid would become."""

    name = "tvmq_tests_sigmoid"
    operators = ("sigmoid",)

    def realize(self, realizer: Any, group: Group) -> Any:
        x = realizer.codes(group.inputs[0])
        sums = realizer.emit(CODES(x.var, step=1, zero=x.zero_point), f"{group.root}_sums")
        return realizer.requantize(sums, np.float64([float(x.scale) / 256]), group)


SIGMOID = SigmoidFamily()


@pytest.fixture(scope="module")
def quantized() -> tuple[tvm.IRModule, list[dict[str, np.ndarray]]]:
    importer("tvmq.tests", "Gate")(_import)
    net = Net((1, 2, 6, 6))
    gated = net.op("Gate", net.conv(net.inputs[0], 2, 4), domain="tvmq.tests", slope=0.25)
    model = net.model(net.dense(net.op("Flatten", gated), 144, 3), domain="tvmq.tests")
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    floats = tvmq.build(mod, params=params)
    assert tvmq.verify(floats, feeds).exact and not any("gate" in name for name in tvmq.verify(floats, feeds).islands)
    with tvmq.qconfig(operators=[f"{__name__}:FAMILY"], calibrate_mode="minmax"):
        return tvmq.quantize(mod, params, feeds, guard=None), feeds


def _import(call: Any) -> Any:
    return GATE(call.input(0), slope=call.attributes["slope"])


@pytest.mark.slow
def test_an_operator_from_an_onnx_node_to_verified_integers(quantized, tmp_path):
    mod, feeds = quantized
    exe = tvmq.build(mod)
    assert tvmq.verify(exe, feeds).exact
    explanation = tvmq.explain(exe)
    assert (
        all(entry["precision"] == "int8" for entry in explanation.ledger.layers.values()) and not explanation.undefined
    )
    assert "R.tvmq_tests.gate_codes(" in mod["main"].script()
    again = tvm.script.from_source(mod["main"].script(show_meta=True))
    assert "gate_codes" in again.script()
    exe.save(tmp_path / "m.tvmq")
    assert tvmq.verify(tvmq.load(tmp_path / "m.tvmq"), feeds).exact


@pytest.mark.slow
def test_verify_finds_a_kernel_that_is_not_its_definition(quantized):
    mod, feeds = quantized
    exe = tvmq.build(mod)
    kept = CODES.definition
    operator(
        "tvmq_tests.gate_codes",
        definition=lambda x, step, zero: kept(x, step, zero) + 40,
        kernel=code_gate,
        result=CODES.result,
        attributes=dict(CODES.attributes),
    )
    try:
        assert not tvmq.verify(exe, feeds).exact
    finally:
        operator(
            "tvmq_tests.gate_codes",
            definition=kept,
            kernel=code_gate,
            result=CODES.result,
            attributes=dict(CODES.attributes),
        )
    assert tvmq.verify(exe, feeds).exact


@pytest.mark.parametrize("apart", [True, False])
def test_a_dynamic_batch_is_run_sample_by_sample_where_the_operator_says_so(apart: bool):
    own = operator(
        f"tvmq_tests.negative_{apart}".lower(),
        definition=lambda x: -x,
        kernel=lambda x: te.compute(x.shape, lambda *at: -x(*at)),
        samples_apart=apart,
    )
    mod = build_module({"x": (("n", 3), "int32")}, lambda _, x: own(x))
    assert (batch_dimension(mod) == "n") is apart
    values = np.arange(12, dtype=np.int32).reshape(4, 3)
    exe = tvmq.build(mod)
    np.testing.assert_array_equal(exe(values), -values)
    assert tvmq.verify(exe, {"x": values}).exact


@pytest.mark.slow
def test_a_kernel_in_tir_is_taken_as_it_is():
    def doubled(x: te.Tensor) -> Any:
        (count,) = (int(size) for size in x.shape)

        @T.prim_func(s_tir=True)
        def func(a: T.Buffer((count,), "int32"), b: T.Buffer((count,), "int32")):
            for i in T.serial(count):
                b[i] = a[i] * 2

        return func

    twice = operator("tvmq_tests.twice", definition=lambda x: x * 2, kernel=doubled)
    mod = build_module({"x": ((5,), "int32")}, lambda _, x: twice(x))
    exe = tvmq.build(mod)
    np.testing.assert_array_equal(exe(np.arange(5, dtype=np.int32)), np.arange(5) * 2)
    operator("tvmq_tests.twice", definition=lambda x: x * 2, kernel=lambda x: "no kernel")
    with pytest.raises(BuildError, match="operator 'tvmq_tests.twice': its kernel gave a str; return a TE tensor"):
        tvmq.build(mod)


@pytest.mark.slow
def test_lowerings_take_operators_of_ones_own(quantized):
    mod, feeds = quantized
    lowering = tvmq.Lowering(
        "tvmq_tests.gate_codes",
        lambda match: code_gate(
            *match.placeholders(), match.attrs("tvmq_tests.gate_codes").step, match.attrs("tvmq_tests.gate_codes").zero
        ),
    )
    (check,) = tvmq.verify(tvmq.build(mod, lowerings=[lowering]), feeds).lowerings
    assert check.values > 0 and check.differing == 0


@pytest.mark.slow
def test_a_family_in_place_of_a_table():
    net = Net((1, 2, 6, 6))
    model = net.model(net.dense(net.op("Flatten", net.op("Sigmoid", net.conv(net.inputs[0], 2, 4))), 144, 3))
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(operators=[f"{__name__}:SIGMOID"], calibrate_mode="minmax"):
        mod = tvmq.quantize(mod, params, feeds_of(model), guard=None)
    assert "gate_codes" in mod["main"].script() and tvmq.verify(tvmq.build(mod), feeds_of(model)).exact


@pytest.mark.parametrize(("name", "options", "message"), [
    ("tvmq.mine", {}, "with a namespace of yours"),
    ("mine", {}, "a name is 'namespace.name'"),
    ("my_chip.op", {"kernel": 3}, "kernel= is a function. Got a int"),
    ("my_chip.op", {"attributes": {"sizes": list}}, "attribute 'sizes' must be int, float, bool or str"),
    ("tvmq_tests.gate", {"attributes": {"other": int}}, "it was made with inputs x and attributes slope"),
])  # fmt: skip
def test_an_operator_that_cannot_be_is_refused(name: str, options: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        operator(name, **{"definition": lambda x: x, "kernel": lambda x: x, **options})


def test_calls_are_checked():
    x = relax.Var("x", relax.TensorType([2], "float32"))
    with pytest.raises(ConfigError, match=r"tvmq_tests.gate: 2 tensors; give x"):
        GATE(x, x, slope=1.0)
    with pytest.raises(ConfigError, match=r"tvmq_tests.gate: attributes none; give slope"):
        GATE(x)


@pytest.mark.slow
def test_a_saved_model_runs_without_the_package_and_says_what_verifying_needs(quantized, tmp_path):
    mod, feeds = quantized
    exe = tvmq.build(mod)
    exe.save(tmp_path / "m.tvmq")
    np.savez(tmp_path / "data.npz", x=feeds[0]["x"], wanted=exe.run(feeds[0])[0])
    code = f"""
import numpy as np, tvmq
data = np.load({str(tmp_path / "data.npz")!r})
exe = tvmq.load({str(tmp_path / "m.tvmq")!r})
assert np.array_equal(exe.run({{"x": data["x"]}})[0], data["wanted"])
try:
    exe.module
except tvmq.errors.ArtifactError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "its module has the operator 'tvmq_tests.gate_codes', which nobody has made in this process" in done.stdout
    assert ArtifactError.__name__
