"""prepare: weights bound, constants and batch norm folded; refusals."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.support.models.networks import Net, assert_healthy, assert_same, block, run_onnx
from tvmq.errors import ModelError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'


WEIGHT = np.arange(4, dtype=np.float32).reshape(2, 2, 1, 1) + 1
W = 'w: R.Tensor((2, 2, 1, 1), "float32")'


def test_weights_become_constants() -> None:
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w)")
    assert_same(prepare(before, {"w": WEIGHT}), block(f"{X}, {W}", "c = R.nn.conv2d(x, w)", w=WEIGHT))


def test_weights_without_values_are_refused() -> None:
    net = Net((1, 3, 6, 6))
    mod, params = tvmq.from_onnx(net.model(net.conv("x", 3, 4)))
    name = sorted(params)[0]
    message = f"prepare: 1 weights have no values, first '{name}'; give the params that from_onnx returned"
    with pytest.raises(ModelError, match=message):
        prepare(mod, {key: value for key, value in params.items() if key != name})


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "operator, rank", [("ConvTranspose", 2), ("Conv", 1), ("Conv", 3), ("ConvTranspose", 1), ("Gemm", 0)]
)
@pytest.mark.parametrize("groups", [1, 2])
def test_folded_networks_compute_the_same(operator: str, rank: int, groups: int) -> None:
    """Batch norm behind every kind of product, groups included: nothing of it is left, the results are onnxruntime's."""
    if operator == "Gemm":
        net = Net((3, 4))
        net_out = net.dense("x", 4, 6)
        net_out = net.op("Mul", net_out, net.constant(np.linspace(-1, 2, 6, dtype=np.float32)))
        net_out = net.op("Add", net_out, net.constant(np.ones(6, np.float32)))
    else:
        net = Net((2, 4, *[5] * rank))
        shape = (4, 6 // groups) if operator == "ConvTranspose" else (6, 4 // groups)
        weight = net.constant(net.weight(*shape, *[3] * rank))
        net_out = net.op(operator, "x", weight, net.constant(net.weight(6, 1)[:, 0]), group=groups)
        net_out = net.batch_norm(net_out, 6)
    model = net.model(net_out)
    prepared = prepare(*tvmq.from_onnx(model))
    names = [op_name(value) for _, value in View(prepared).bindings]
    assert names[-1] == "add" and len(names) == 2, names
    feed = {"x": np.random.default_rng(3).standard_normal(net.shapes[0]).astype(np.float32)}
    np.testing.assert_allclose(tvmq.build(prepared).run(feed)[0], run_onnx(model, feed)[0], rtol=1e-4, atol=1e-5)


def test_names_follow_what_is_folded() -> None:
    net = Net((1, 3, 6, 6))
    model = net.model(net.op("Relu", net.batch_norm(net.conv("x", 3, 4), 4)))
    prepared = prepare(*tvmq.from_onnx(model))
    assert_healthy(prepared)
    view = View(prepared)
    assert view.sources(view.bindings[-1][0].name) == ("/relu_2",)
    assert view.sources(view.bindings[-2][0].name) == ("/conv_0", "/batchnormalization_1")
    assert get_ledger(prepared).stage == "prepared"


@pytest.mark.parametrize("params, message", [
    ({"v": WEIGHT}, "params name 'v', which is no parameter of the module; it has .*'w'"),
    ({"w": WEIGHT.reshape(4)}, r"weight 'w' has shape \(4,\), the module takes \[2, 2, 1, 1\]"),
    ({"w": np.where(WEIGHT == 3, np.nan, WEIGHT)}, "weight 'w' holds 1 NaN or infinite of 4 values; repair"),
    (
        {"w": np.where(WEIGHT > 2, np.inf, WEIGHT)},
        "weight 'w' holds 2 NaN or infinite of 4 values, which reach 'c'; repair",
    ),
])  # fmt: skip
def test_refused_params(params: dict[str, np.ndarray], message: str) -> None:
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w)")
    with pytest.raises(ModelError, match=f"prepare: .*{message}"):
        prepare(before, params)


def test_control_flow_is_refused() -> None:
    x, condition = (relax.Var("x", relax.TensorType([1], "float32")), relax.Var("c", relax.TensorType([], "bool")))
    both = [relax.SeqExpr([], x), relax.SeqExpr([], x)]
    result = relax.Var("y", relax.TensorType([1], "float32"))
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(result, relax.If(condition, *both))])], result)
    func = relax.Function([x, condition], body, relax.TensorType([1], "float32"))
    with pytest.raises(ModelError, match="main, 'y': control flow and match-casts are not supported"):
        prepare(tvm.IRModule({"main": func}))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_a_resize_to_one_row_that_aligns_corners(mode: str) -> None:
    """TVM divides by the distance of the corners."""
    n = Net((1, 2, 4, 5))
    corners = {"mode": mode, "coordinate_transformation_mode": "align_corners"}
    model = n.model(n.op("Resize", "x", "", "", n.constant(np.int64([1, 2, 1, 9])), **corners))
    x = np.random.default_rng(0).normal(size=(1, 2, 4, 5)).astype(np.float32)
    mod, params = tvmq.from_onnx(model)
    (found,) = tvmq.build(mod, params=params).run({"x": x})
    np.testing.assert_allclose(found, run_onnx(model, {"x": x})[0], rtol=1e-5, atol=1e-6)
