"""Loop with a known number of steps is written out; others are refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from frontend_models import check, make_model
from onnx import TensorProto, helper, numpy_helper

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.names import get_names

X = np.random.default_rng(3).standard_normal((2, 3)).astype(np.float32)


def typed(name: str, code: int, shape: Any = ()) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, code, shape)


def loop(
    inputs: list[str],
    results: list[str],
    nodes: list[onnx.NodeProto],
    outputs: list[str],
    weights: dict[str, Any] | None = None,
) -> onnx.NodeProto:
    """A Loop 'repeat' over a state s; its body reads i, c and s."""
    given = [typed("i", TensorProto.INT64), typed("c", TensorProto.BOOL), typed("s", TensorProto.FLOAT, None)]
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()]
    ends = [typed(outputs[0], TensorProto.BOOL), *(typed(name, TensorProto.FLOAT, None) for name in outputs[1:])]
    body = helper.make_graph(nodes, "body", given, ends, tensors)
    return helper.make_node("Loop", inputs, results, name="repeat", body=body)


NUMBER = [helper.make_node("Cast", ["i"], ["n"], to=TensorProto.FLOAT), helper.make_node("Add", ["s", "n"], ["a"])]
STEP = [*NUMBER, helper.make_node("Tanh", ["a"], ["t"], name="tanh")]
ON = helper.make_node("Identity", ["c"], ["on"])
SHAPE = {"x": ("float32", (2, 3))}


@pytest.mark.slow
@pytest.mark.parametrize("opset", [11, 17])
def test_steps_are_written_out_and_results_stacked(opset: int) -> None:
    nodes = [*STEP, ON, helper.make_node("Mul", ["t", "k"], ["row"])]
    node = loop(["m", "go", "x"], ["y", "rows"], nodes, ["on", "t", "row"], {"k": np.float32(2)})
    constants = {"m": np.int64(3), "go": np.array(True)}
    mod = check(make_model([node], SHAPE, ["y", "rows"], constants, opset), {"x": X})
    layers = {name for names in get_names(mod["main"]).values() for name in names}
    assert {"repeat/0/tanh", "repeat/1/tanh", "repeat/2/tanh"} <= layers


@pytest.mark.parametrize("steps, going", [(0, True), (5, False)])
def test_no_steps(steps: int, going: bool) -> None:
    node = loop(["m", "go", "x"], ["s1"], [*STEP, ON], ["on", "t"])
    after = helper.make_node("Neg", ["s1"], ["y"])
    check(make_model([node, after], SHAPE, ["y"], {"m": np.int64(steps), "go": np.array(going)}), {"x": X})


@pytest.mark.slow
def test_number_of_steps_from_a_shape() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["dims"]),
        helper.make_node("Gather", ["dims", "one"], ["m"]),
        loop(["m", "", "x"], ["y"], [*STEP, helper.make_node("Constant", [], ["on"], value=TRUE)], ["on", "t"]),
    ]
    constants = {"one": np.int64(1)}
    # of a dynamic batch the other dimensions are known all the same
    check(make_model(nodes, {"x": ("float32", ("n", 3))}, ["y"], constants), {"x": X})


TRUE = numpy_helper.from_array(np.array(True))


@pytest.mark.slow
def test_condition_that_only_folding_tells() -> None:
    nodes = [*STEP, helper.make_node("Less", ["i", "last"], ["on"])]
    node = loop(["most", "go", "x"], ["y"], nodes, ["on", "t"], {"last": np.int64(2)})
    constants = {"most": np.int64(2**63 - 1), "go": np.array(True)}
    mod = check(make_model([node], SHAPE, ["y"], constants), {"x": X})
    assert mod.script().count("R.tanh") == 3


@pytest.mark.slow
def test_a_branch_inside_a_loop() -> None:
    """If on the number of the step, known once the loop is written out."""

    def one(name: str, op_type: str) -> onnx.GraphProto:
        node = helper.make_node(op_type, ["t"], [name])
        return helper.make_graph([node], name, [], [typed(name, TensorProto.FLOAT, None)])

    choice = helper.make_node("If", ["early"], ["u"], then_branch=one("p", "Neg"), else_branch=one("q", "Exp"))
    nodes = [*STEP, ON, helper.make_node("Less", ["i", "one"], ["early"]), choice]
    node = loop(["m", "go", "x"], ["y"], nodes, ["on", "u"], {"one": np.int64(1)})
    mod = check(make_model([node], SHAPE, ["y"], {"m": np.int64(3), "go": np.array(True)}), {"x": X})
    assert (mod.script().count("R.negative"), mod.script().count("R.exp(")) == (1, 2)


@pytest.mark.parametrize("nodes, outputs, constants, message", [
    ([*STEP, ON], ["on", "t"], {"m": np.int64(5000)}, "5000 iterations of 4 nodes exceed the 10000 nodes"),
    ([*STEP, ON], ["on", "t"], {}, "Loop: control flow that depends on values known only at run time"),
    ([*STEP, helper.make_node("ReduceMax", ["t"], ["h"], keepdims=0), helper.make_node("Less", ["h", "h"], ["on"])],
     ["on", "t"], {"m": np.int64(5)}, "Loop: control flow that depends on values known only at run time"),
    ([*STEP, helper.make_node("Less", ["i", "i"], ["on"])], ["on", "t", "a"], {"m": np.int64(5)},
     "its condition is known only at run time and it has 1 scan outputs"),
    ([*STEP, ON], ["on", "t", "a"], {"m": np.int64(0)}, "'rows' is a scan output of no iterations"),
])  # fmt: skip
def test_other_loops_are_refused(
    nodes: list[onnx.NodeProto], outputs: list[str], constants: dict[str, Any], message: str
) -> None:
    results = ["y", "rows"][: len(outputs) - 1]
    node = loop(["m", "go", "x"], results, nodes, outputs)
    inputs = SHAPE if "m" in constants else {**SHAPE, "m": ("int64", ())}
    model = make_model([node], inputs, results, {**constants, "go": np.array(True)})
    with pytest.raises(UnsupportedOpError, match=f"layer 'repeat.*{message}"):
        from_onnx(model)
