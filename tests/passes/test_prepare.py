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
from tvmq.graph.view import View, const_value, is_const, op_name
from tvmq.passes.prepare import prepare

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'


WEIGHT = np.arange(4, dtype=np.float32).reshape(2, 2, 1, 1) + 1
W = 'w: R.Tensor((2, 2, 1, 1), "float32")'
BIAS = 'b: R.Tensor((1, 2, 1, 1), "float32")'
CHANNELS = ", ".join(f'{name}: R.Tensor((2,), "float32")' for name in ("gamma", "beta", "mean", "variance"))
STATISTICS = {
    "gamma": np.float32([2, 3]),
    "beta": np.float32([1, -1]),
    "mean": np.float32([0.5, 0.25]),
    "variance": np.float32([4, 0.25]) - np.float32(2**-10),
}
BATCH_NORM = "n = R.nn.batch_norm({x}, gamma, beta, mean, variance, axis=1, epsilon=0.0009765625, training=False)"
SCALE, SHIFT = np.float32([1, 6]).reshape(1, 2, 1, 1), np.float32([0.5, -2.5]).reshape(1, 2, 1, 1)


def test_weights_become_constants() -> None:
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w)")
    assert_same(prepare(before, {"w": WEIGHT}), block(f"{X}, {W}", "c = R.nn.conv2d(x, w)", w=WEIGHT))


def test_batch_norm_goes_into_weight_and_bias() -> None:
    body = f"c = R.nn.conv2d(x, w)\na = R.add(c, b)\n{BATCH_NORM.format(x='a')}\ny = n[0]"
    bias = np.float32([1, 2]).reshape(1, 2, 1, 1)
    before = block(f"{X}, {W}, {BIAS}, {CHANNELS}", body, w=WEIGHT, b=bias, **STATISTICS)
    expected = block(
        f"{X}, {W}, {BIAS}",
        "c = R.nn.conv2d(x, w)\na = R.add(c, b)",
        w=WEIGHT * SCALE.reshape(2, 1, 1, 1),
        b=bias * SCALE + SHIFT,
    )
    assert_same(prepare(before), expected)


def test_batch_norm_gives_a_bias_where_there_is_none() -> None:
    body = f"c = R.nn.conv2d(x, w)\n{BATCH_NORM.format(x='c')}\ny = n[0]"
    before = block(f"{X}, {W}, {CHANNELS}", body, w=WEIGHT, **STATISTICS)
    expected = block(
        f"{X}, {W}, {BIAS}",
        "c = R.nn.conv2d(x, w)\na = R.add(c, b)",
        w=WEIGHT * SCALE.reshape(2, 1, 1, 1),
        b=SHIFT,
    )
    assert_same(prepare(before), expected)


def test_batch_norm_behind_a_sigmoid_stays_two_operators() -> None:
    body = f"c = R.nn.conv2d(x, w)\nr = R.sigmoid(c)\n{BATCH_NORM.format(x='r')}\ny = n[0]"
    before = block(f"{X}, {W}, {CHANNELS}", body, w=WEIGHT, **STATISTICS)
    expected = block(
        f"{X}, {W}, {BIAS}, d{BIAS[1:]}",
        "c = R.nn.conv2d(x, w)\nr = R.sigmoid(c)\ns = R.multiply(r, b)\ny = R.add(s, d)",
        w=WEIGHT,
        b=SCALE,
        d=SHIFT,
    )
    assert_same(prepare(before), expected)


def test_batch_norm_of_a_shared_convolution_stays_two_operators() -> None:
    """Scaling the weight would change what the other reader sees."""
    body = f"c = R.nn.conv2d(x, w)\n{BATCH_NORM.format(x='c')}\ny = n[0]\nz = R.add(c, y)"
    mod = prepare(block(f"{X}, {W}, {CHANNELS}", body, w=WEIGHT, **STATISTICS))
    names = [op_name(value) for _, value in View(mod).bindings]
    assert names == ["nn.conv2d", "multiply", "add", "add"]
    np.testing.assert_array_equal(const_value(View(mod).bindings[0][1].args[1]), WEIGHT)


def test_batch_norm_of_a_sum_that_is_no_bias() -> None:
    """Behind add(relu, constant), and behind the bias of a convolution whose sums others read: nothing is absorbed."""
    bias = np.float32([1, 2]).reshape(1, 2, 1, 1)
    for body in ("c = R.nn.conv2d(x, w)\nr = R.nn.relu(c)\na = R.add(r, b)", "c = R.nn.conv2d(x, w)\na = R.add(c, b)"):
        end = "\ny = n[0]\nz = R.add(c, y)" if "relu" not in body else "\ny = n[0]"
        before = block(
            f"{X}, {W}, {BIAS}, {CHANNELS}", f"{body}\n{BATCH_NORM.format(x='a')}{end}", w=WEIGHT, b=bias, **STATISTICS
        )
        mod = prepare(before)
        assert "multiply" in [op_name(value) for _, value in View(mod).bindings]
        np.testing.assert_array_equal(const_value(View(mod).bindings[0][1].args[1]), WEIGHT)


def test_weights_without_values_are_refused() -> None:
    net = Net((1, 3, 6, 6))
    mod, params = tvmq.from_onnx(net.model(net.conv("x", 3, 4)))
    name = sorted(params)[0]
    message = f"prepare: 1 weights have no values, first '{name}'; give the params that from_onnx returned"
    with pytest.raises(ModelError, match=message):
        prepare(mod, {key: value for key, value in params.items() if key != name})


@pytest.mark.parametrize("case", ["read twice", "computed statistics", "training"])
def test_batch_norm_that_stays(case: str) -> None:
    call = BATCH_NORM.format(x="c")
    constants = dict(STATISTICS)
    if case == "training":
        call = call.replace("training=False", "training=True")
    if case == "computed statistics":
        del constants["mean"]
    last = "y = n[0]\nv = n[0]\nz = R.add(y, v)" if case == "read twice" else "y = n[0]"
    before = block(f"{X}, {W}, {CHANNELS}", f"c = R.nn.conv2d(x, w)\n{call}\n{last}", w=WEIGHT, **constants)
    after = prepare(before)
    assert_same(after, before)


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


def test_scalars_and_channel_constants_fold_into_the_weight() -> None:
    body = "c = R.nn.conv2d(x, w)\nd = R.multiply(c, R.const(2.0, 'float32'))\ne = R.multiply(b, d)\nf = R.add(e, b)\ng = R.subtract(f, b)"
    b = np.float32([2, 3]).reshape(1, 2, 1, 1)
    before = block(f"{X}, {W}, {BIAS}", body, w=WEIGHT, b=b)
    expected = block(
        f"{X}, {W}, {BIAS}",
        "c = R.nn.conv2d(x, w)\na = R.add(c, b)",
        w=WEIGHT * 2 * b.reshape(2, 1, 1, 1),
        b=np.zeros_like(b),
    )
    assert_same(prepare(before), expected)


def test_constants_that_vary_over_pixels_stay() -> None:
    full = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    before = block(
        f'{X}, {W}, b: R.Tensor((1, 1, 4, 4), "float32")',
        "c = R.nn.conv2d(x, w)\nd = R.multiply(c, b)",
        w=WEIGHT,
        b=full,
    )
    assert_same(prepare(before), before)


def test_constants_that_enlarge_the_result_stay() -> None:
    """A summand of a larger batch must not become part of the bias."""
    signature = f'{X}, {W}, {BIAS}, d: R.Tensor((3, 2, 1, 1), "float32")'
    body = "c = R.nn.conv2d(x, w)\ne = R.add(c, b)\nf = R.add(e, d)"
    before = block(
        signature,
        body,
        '(3, 2, 4, 4), "float32"',
        w=WEIGHT,
        b=np.ones((1, 2, 1, 1), "f4"),
        d=np.ones((3, 2, 1, 1), "f4"),
    )
    assert_same(prepare(before), before)


def test_dropout_disappears_and_softmax_is_ours() -> None:
    before = block(X, "d = R.nn.dropout(x, rate=0.5)\ne = d[0]\ns = R.nn.softmax(e, axis=1)")
    assert_same(prepare(before), block(X, "s = R.tvmq.softmax(x, axis=1)"))


def test_constant_arithmetic_is_folded() -> None:
    body = "s = R.multiply(b, b)\nt = R.reshape(s, R.shape([2, 1, 1, 1]))\nu = R.permute_dims(t, axes=[1, 0, 2, 3])\ny = R.add(x, u)"
    b = np.float32([2, 3]).reshape(1, 2, 1, 1)
    assert_same(prepare(block(f"{X}, {BIAS}", body, b=b)), block(f"{X}, {BIAS}", "y = R.add(x, b)", b=b * b))


def test_integers_of_64_bits_keep_their_type() -> None:
    body = "i = R.add(b, b)\ny = R.take(x, i, axis=3)"
    before = block(f'{X}, b: R.Tensor((2,), "int64")', body, '(1, 2, 4, 2), "float32"', b=np.int64([0, 1]))
    prepared = prepare(before)
    ((_, take),) = View(prepared).bindings
    assert is_const(take.args[1]) and const_value(take.args[1]).dtype == np.int64
    np.testing.assert_array_equal(const_value(take.args[1]), [0, 2])


def test_names_follow_what_is_folded() -> None:
    net = Net((1, 3, 6, 6))
    model = net.model(net.op("Relu", net.batch_norm(net.conv("x", 3, 4), 4)))
    prepared = prepare(*tvmq.from_onnx(model))
    assert_healthy(prepared)
    view = View(prepared)
    assert view.sources(view.bindings[-1][0].name) == ("/relu_2",)
    assert view.sources(view.bindings[-2][0].name) == ("/conv_0", "/batchnormalization_1")
    assert get_ledger(prepared).stage == "prepared"


def test_preparing_twice_changes_nothing() -> None:
    net = Net((1, 3, 6, 6))
    prepared = prepare(*tvmq.from_onnx(net.model(net.batch_norm(net.conv("x", 3, 4), 4))))
    assert_same(prepare(prepared), prepared)


@pytest.mark.parametrize(
    "params, message",
    [
        ({"v": WEIGHT}, "params name 'v', which is no parameter of the module; it has .*'w'"),
        ({"w": WEIGHT.reshape(4)}, r"weight 'w' has shape \(4,\), the module takes \[2, 2, 1, 1\]"),
        (
            {"w": np.where(WEIGHT == 3, np.nan, WEIGHT)},
            "weight 'w' holds 1 NaN or infinite of 4 values; repair",
        ),
        (
            {"w": np.where(WEIGHT > 2, np.inf, WEIGHT)},
            "weight 'w' holds 2 NaN or infinite of 4 values, which reach 'c'; repair",
        ),
    ],
)
def test_refused_params(params: dict[str, np.ndarray], message: str) -> None:
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w)")
    with pytest.raises(ModelError, match=f"prepare: .*{message}"):
        prepare(before, params)


def test_minus_infinity_may_mask() -> None:
    """An additive attention mask holds 0 and -inf."""
    mask = np.float32([0, -np.inf]).reshape(1, 2, 1, 1)
    before = block(f"{X}, {BIAS}", "y = R.add(x, b)")
    assert_same(prepare(before, {"b": mask}), block(f"{X}, {BIAS}", "y = R.add(x, b)", b=mask))


def test_control_flow_is_refused() -> None:
    x, condition = (
        relax.Var("x", relax.TensorType([1], "float32")),
        relax.Var("c", relax.TensorType([], "bool")),
    )
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
