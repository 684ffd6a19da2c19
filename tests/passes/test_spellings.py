"""Spellings of normalizations, softmax and its logarithm: each becomes the one operator, equal to onnxruntime's floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import onnx
import pytest

import tvmq
from tests.models import Net, block, feeds_of, run_onnx
from tvmq.codegen.reference import Reference
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare

SHAPE, EPSILON = (2, 6, 4, 5), 1e-3


def f32(net: Net, value: float) -> str:
    return net.constant(np.float32(value))


def operators(model: onnx.ModelProto) -> list[str]:
    """Of the prepared model, whose results are checked against onnxruntime's."""
    prepared, feed = prepare(*tvmq.from_onnx(model)), feeds_of(model)[0]
    for found, true in zip(Reference(prepared).run(feed), run_onnx(model, feed), strict=True):
        np.testing.assert_allclose(found, true, rtol=3e-5, atol=3e-6)
    return [op_name(value).removeprefix("tvmq.") for _, value in View(prepared).bindings]


# ---- the parts of a normalization, each in its spellings


def counted(net: Net, axes: Sequence[int]) -> float:
    return float(np.prod([SHAPE[axis] for axis in axes]))


def summed(net: Net, x: str, axes: Sequence[int], keepdims: int = 1) -> str:
    return net.op("ReduceSum", x, net.constant(np.int64(axes)), keepdims=keepdims)


def one_by_one(net: Net, x: str, axes: Sequence[int]) -> str:
    for axis in axes:
        x = net.op("ReduceMean", x, axes=[axis])
    return x


def dropped(net: Net, x: str, axes: Sequence[int]) -> str:
    """Without its axes, which a reshape brings back."""
    shape = [1 if axis in axes else size for axis, size in enumerate(SHAPE)]
    return net.op("Reshape", net.op("ReduceMean", x, axes=list(axes), keepdims=0), net.constant(np.int64(shape)))


def moved(net: Net, x: str, axes: Sequence[int]) -> str:
    """Over the last axes of the transposed tensor, and back."""
    order = [axis for axis in range(4) if axis not in axes] + list(axes)
    mean = net.op("ReduceMean", net.op("Transpose", x, perm=order), axes=list(range(4 - len(axes), 4)))
    return net.op("Transpose", mean, perm=np.argsort(order).tolist())


MEANS: dict[str, Callable[[Net, str, Sequence[int]], str]] = {
    "ReduceMean": lambda net, x, axes: net.op("ReduceMean", x, axes=list(axes)),
    "negative axes": lambda net, x, axes: net.op("ReduceMean", x, axes=[axis - 4 for axis in axes]),
    "unsqueezed": lambda net, x, axes: net.op(
        "Unsqueeze", net.op("ReduceMean", x, axes=list(axes), keepdims=0), net.constant(np.int64(axes))
    ),
    "reshaped": dropped,
    "expanded": lambda net, x, axes: net.op(
        "Expand", net.op("ReduceMean", x, axes=list(axes)), net.constant(np.int64(SHAPE))
    ),
    "sum / n": lambda net, x, axes: net.op("Div", summed(net, x, axes), f32(net, counted(net, axes))),
    "1/n sum": lambda net, x, axes: net.op("Mul", f32(net, 1 / counted(net, axes)), summed(net, x, axes)),
    "one by one": one_by_one,
    "moved": moved,
}
POOLS: dict[str, Callable[[Net, str, Sequence[int]], str]] = {
    "GlobalAveragePool": lambda net, x, _: net.op("GlobalAveragePool", x),
    "AveragePool": lambda net, x, _: net.op("AveragePool", x, kernel_shape=list(SHAPE[2:])),
}
SQUARES: dict[str, Callable[[Net, str], str]] = {
    "x*x": lambda net, x: net.op("Mul", x, x),
    "x^2": lambda net, x: net.op("Pow", x, f32(net, 2)),
    "|x|^2": lambda net, x: net.op("Pow", net.op("Abs", x), f32(net, 2)),
}
AT_LEAST_0: dict[str, Callable[[Net, str], str]] = {
    "as it is": lambda net, v: v,
    "Max": lambda net, v: net.op("Max", f32(net, 0), v),
    "Relu": lambda net, v: net.op("Relu", v),
    "Clip": lambda net, v: net.op("Clip", v, f32(net, 0)),
    "Abs": lambda net, v: net.op("Abs", v),
}
# what a product of x and 1 / root is
QUOTIENTS: dict[str, Callable[[Net, str, str], str]] = {
    "Div": lambda net, x, v: net.op("Div", x, net.op("Sqrt", v)),
    "Reciprocal": lambda net, x, v: net.op("Mul", x, net.op("Reciprocal", net.op("Sqrt", v))),
    "1 / Sqrt": lambda net, x, v: net.op("Mul", net.op("Div", f32(net, 1), net.op("Sqrt", v)), x),
    "Sqrt of 1 / v": lambda net, x, v: net.op("Mul", x, net.op("Sqrt", net.op("Reciprocal", v))),
    "Pow -0.5": lambda net, x, v: net.op("Mul", x, net.op("Pow", v, f32(net, -0.5))),
    "Pow 0.5": lambda net, x, v: net.op("Div", x, net.op("Pow", v, f32(net, 0.5))),
}


@dataclass(frozen=True)
class Spelling:
    """A normalization, by the names of its parts."""

    mean: str = "ReduceMean"
    square: str = "x*x"
    variance: str = "fast"
    least: str = "as it is"
    quotient: str = "Div"
    factors: str = "behind"

    def __str__(self) -> str:
        default = Spelling()
        parts = vars(self).items()
        return ", ".join(value for name, value in parts if value != getattr(default, name)) or "plain"

    def write(self, net: Net, axes: Sequence[int], shape: Sequence[int]) -> str:
        """The layer norm over axes, with factors of that shape."""
        gamma, beta = (net.constant(net.random.uniform(0.5, 2, shape).astype(np.float32)) for _ in range(2))
        mean = self.mean_of(net, "x", axes)
        d = net.op("Sub", "x", mean)
        v = net.op("Add", AT_LEAST_0[self.least](net, self.variance_of(net, d, mean, axes)), f32(net, EPSILON))
        ratio = QUOTIENTS[self.quotient]
        if self.factors == "behind":
            return net.op("Add", net.op("Mul", ratio(net, d, v), gamma), beta)
        if self.factors == "with the root":
            return net.op("Add", net.op("Mul", d, ratio(net, gamma, v)), beta)
        if self.factors == "of x and of the mean":
            factor = ratio(net, gamma, v)
            return net.op("Add", net.op("Mul", "x", factor), net.op("Sub", beta, net.op("Mul", mean, factor)))
        return net.op("Sub", ratio(net, net.op("Mul", d, gamma), v), net.op("Neg", beta))

    def mean_of(self, net: Net, x: str, axes: Sequence[int]) -> str:
        return {**MEANS, **POOLS}[self.mean](net, x, axes)

    def variance_of(self, net: Net, d: str, mean: str, axes: Sequence[int]) -> str:
        square = SQUARES[self.square]
        if self.variance == "fast":
            return net.op("Sub", self.mean_of(net, square(net, "x"), axes), square(net, mean))
        if self.variance == "one factor":
            return self.mean_of(net, net.op("Mul", d, "x"), axes)
        return self.mean_of(net, square(net, d), axes)


FACTORS = ("behind", "with the root", "of x and of the mean", "in front")
SPELLINGS = [
    *(Spelling(mean=mean, variance=variance) for mean, variance in product(MEANS, ("fast", "centred"))),
    *(Spelling(square=square, variance=variance) for square, variance in product(SQUARES, ("fast", "centred"))),
    *(Spelling(least=least, factors=factors) for least, factors in product(AT_LEAST_0, FACTORS)),
    *(Spelling(quotient=quotient, factors=factors) for quotient, factors in product(QUOTIENTS, FACTORS)),
    *(Spelling(variance=v, factors=factors) for v, factors in product(("centred", "one factor"), FACTORS)),
]


@pytest.mark.parametrize("spelling", sorted(set(SPELLINGS), key=str), ids=str)
def test_layer_norm(spelling: Spelling) -> None:
    net = Net(SHAPE)
    assert operators(net.model(spelling.write(net, (3,), (5,)))) == ["layer_norm"]


@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("mean", [*MEANS, *POOLS])
def test_instance_norm(mean: str, factors: str) -> None:
    net = Net(SHAPE)
    spelling = Spelling(mean=mean, factors=factors, least="Max")
    assert operators(net.model(spelling.write(net, (2, 3), (6, 1, 1)))) == ["group_norm"]


@pytest.mark.parametrize("mean", MEANS)
def test_layer_norm_of_channels(mean: str) -> None:
    net = Net(SHAPE)
    model = net.model(Spelling(mean=mean, factors="with the root").write(net, (1,), (6, 1, 1)))
    assert operators(model) == ["permute_dims", "layer_norm", "permute_dims"]


@pytest.mark.parametrize(("mean", "square"), [*product(MEANS, ("x*x",)), ("ReduceMean", "x^2"), ("reshaped", "|x|^2")])
@pytest.mark.parametrize("quotient", ["Div", "Sqrt of 1 / v"])
def test_rms_norm(mean: str, square: str, quotient: str) -> None:
    net = Net(SHAPE)
    total = MEANS[mean](net, SQUARES[square](net, "x"), (3,))
    y = QUOTIENTS[quotient](net, "x", net.op("Add", total, f32(net, EPSILON)))
    y = net.op("Mul", net.constant(net.random.uniform(0.5, 2, 5).astype(np.float32)), y)
    assert operators(net.model(y)) == ["rms_norm"]


def test_variance_of_a_sample() -> None:
    """torch.var divides by n - 1 where nobody says otherwise."""
    net = Net(SHAPE)
    d = net.op("Sub", "x", net.op("ReduceMean", "x", axes=[3]))
    v = net.op("Div", summed(net, net.op("Mul", d, d), [3]), f32(net, 4))
    y = net.op("Div", d, net.op("Add", net.op("Sqrt", v), f32(net, 1e-7)))
    assert operators(net.model(y)) == ["layer_norm"]


def norm_2(net: Net, form: str) -> str:
    """The length of x along its channels."""
    if form == "ReduceL2":
        return net.op("ReduceL2", "x", axes=[1])
    if form == "ReduceSumSquare":
        return net.op("Sqrt", net.op("ReduceSumSquare", "x", axes=[1]))
    total = summed(net, net.op("Pow", "x", f32(net, 2)), [1])
    return net.op("Sqrt", net.op("Add", total, f32(net, 1e-6)) if form == "epsilon inside" else total)


L2: dict[str, Callable[[Net], str]] = {
    **{form: (lambda net, form=form: net.op("Div", "x", norm_2(net, form)))
       for form in ("ReduceL2", "ReduceSumSquare", "epsilon inside", "ReduceSum")},
    "LpNormalization": lambda net: net.op("LpNormalization", "x", axis=1),
    "Max": lambda net: net.op("Div", "x", net.op("Max", norm_2(net, "ReduceL2"), f32(net, 1e-12))),
    "Clip, expanded": lambda net: net.op(
        "Div", "x", net.op("Expand", net.op("Clip", norm_2(net, "ReduceL2"), f32(net, 1e-12)),
                           net.constant(np.int64(SHAPE)))
    ),
    "Max inside": lambda net: net.op("Mul", "x", net.op("Reciprocal", net.op("Sqrt", net.op(
        "Max", net.op("ReduceSumSquare", "x", axes=[1]), f32(net, 1e-12))))),
    "UnitNormalization": lambda net: net.op("Mul", "x", net.op(
        "Min", net.op("Reciprocal", norm_2(net, "ReduceSumSquare")), f32(net, 1e6))),
    "plus a little": lambda net: net.op("Div", "x", net.op("Add", norm_2(net, "ReduceL2"), f32(net, 1e-8))),
}  # fmt: skip


@pytest.mark.parametrize("form", L2)
def test_l2_norm(form: str) -> None:
    net = Net(SHAPE)
    assert operators(net.model(L2[form](net))) == ["permute_dims", "rms_norm", "permute_dims"]


@pytest.mark.parametrize("form", ["Max", "Max inside", "LpNormalization", "plus a little", "UnitNormalization"])
def test_l2_norm_of_zeros_is_zero(form: str) -> None:
    net = Net(SHAPE)
    prepared = prepare(*tvmq.from_onnx(net.model(L2[form](net))))
    assert not np.any(Reference(prepared).run({"x": np.zeros(SHAPE, np.float32)})[0])


# ---- softmax


def finite(net: Net, x: str) -> str:
    """x where it is finite, else 0."""
    infinite = net.op("Or", net.op("IsNaN", x), net.op("IsInf", x))
    return net.op("Where", infinite, f32(net, 0), x)


def shifted(net: Net, form: str) -> str:
    """x less something that is the same along the axis."""
    shifts: dict[str, Callable[[], str]] = {
        "maximum": lambda: net.op("ReduceMax", "x", axes=[-1]),
        "bounded maximum": lambda: net.op("Max", f32(net, -np.inf), net.op("ReduceMax", "x", axes=[-1])),
        "mean": lambda: net.op("ReduceMean", "x", axes=[-1]),
        "number": lambda: f32(net, 1.5),
        "finite maximum": lambda: finite(net, net.op("ReduceMax", "x", axes=[-1])),
        "maximum without its axis": lambda: net.op(
            "Unsqueeze", net.op("ReduceMax", "x", axes=[-1], keepdims=0), net.constant(np.int64([-1]))
        ),
    }
    return "x" if form == "nothing" else net.op("Sub", "x", shifts[form]())


SHIFTS = ("nothing", "maximum", "finite maximum", "bounded maximum", "mean", "number", "maximum without its axis")


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("form", ["Div", "Reciprocal", "exp of log"])
def test_softmax(shift: str, form: str) -> None:
    net = Net(SHAPE)
    u = shifted(net, shift)
    e = net.op("Exp", u)
    total = summed(net, e, [3])
    if form == "exp of log":
        y = net.op("Exp", net.op("Sub", u, net.op("Log", total)))
    else:
        y = net.op("Div", e, total) if form == "Div" else net.op("Mul", e, net.op("Reciprocal", total))
    assert operators(net.model(y))[-1:] == ["softmax"]


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("form", ["log of quotient", "difference", "ReduceLogSumExp", "ReduceLogSum"])
def test_log_softmax(shift: str, form: str) -> None:
    net = Net(SHAPE)
    u = shifted(net, shift)
    e = net.op("Exp", u)
    forms: dict[str, Callable[[], str]] = {
        "log of quotient": lambda: net.op("Log", net.op("Div", e, summed(net, e, [3]))),
        "difference": lambda: net.op("Sub", u, net.op("Log", summed(net, e, [3]))),
        "ReduceLogSumExp": lambda: net.op("Sub", u, net.op("ReduceLogSumExp", u, axes=[3])),
        "ReduceLogSum": lambda: net.op("Sub", u, net.op("ReduceLogSum", e, axes=[3])),
    }
    assert operators(net.model(forms[form]())) == ["log_softmax"]


@pytest.mark.parametrize(("epsilon", "expected"), [(1e-9, ["softmax"]), (1e-3, None)])
def test_softmax_of_a_sum_and_a_little(epsilon: float, expected: list[str] | None) -> None:
    """Beside exp(0) = 1 of the maximum an epsilon counts only if it is no tiny one."""
    net = Net(SHAPE)
    e = net.op("Exp", shifted(net, "maximum"))
    found = operators(net.model(net.op("Div", e, net.op("Add", summed(net, e, [3]), f32(net, epsilon)))))
    assert found == expected if expected else "softmax" not in found


def test_softmax_of_large_scores_without_a_maximum() -> None:
    """exp(100) is no float32; the quotient of two such is one."""
    net = Net((1, 4))
    e = net.op("Exp", "x")
    prepared = prepare(*tvmq.from_onnx(net.model(net.op("Div", e, summed(net, e, [1])))))
    y = Reference(prepared).run({"x": np.float32([[100, 100, 0, 0]])})[0]
    np.testing.assert_allclose(y, [[0.5, 0.5, 0, 0]], atol=1e-7)


# ---- functions of single values


def sigmoid(net: Net, form: int, x: str = "x") -> str:
    one, half = f32(net, 1), f32(net, 0.5)
    if form == 0:
        return net.op("Reciprocal", net.op("Add", one, net.op("Exp", net.op("Neg", x))))
    if form == 1:
        return net.op("Mul", net.op("Add", net.op("Tanh", net.op("Mul", x, half)), one), half)
    e = net.op("Exp", x)
    return net.op("Div", e, net.op("Add", e, one))


def gelu_tanh_argument(net: Net, factor: float) -> str:
    cube = net.op("Mul", f32(net, 0.044715), net.op("Pow", "x", f32(net, 3)))
    return net.op("Mul", f32(net, factor * math.sqrt(2 / math.pi)), net.op("Add", "x", cube))


def half_of_erf(net: Net) -> str:
    return net.op("Mul", f32(net, 0.5), net.op("Erf", net.op("Mul", "x", f32(net, math.sqrt(0.5)))))


def tanh_of_exp(net: Net) -> str:
    up, down = net.op("Exp", "x"), net.op("Exp", net.op("Neg", "x"))
    return net.op("Div", net.op("Sub", up, down), net.op("Add", up, down))


CHAINS: dict[str, tuple[Callable[[Net], str], list[str]]] = {
    **{f"sigmoid {form}": (lambda net, form=form: sigmoid(net, form), ["sigmoid"]) for form in range(3)},
    **{f"silu {form}": (lambda net, form=form: net.op("Mul", "x", sigmoid(net, form)), ["sigmoid", "multiply"])
       for form in range(3)},
    "silu by a quotient": (
        lambda net: net.op("Div", "x", net.op("Add", f32(net, 1), net.op("Exp", net.op("Neg", "x")))),
        ["sigmoid", "multiply"],
    ),
    "silu": (lambda net: net.op("Mul", net.op("Sigmoid", "x"), "x"), ["sigmoid", "multiply"]),
    "silu of 1 x": (
        lambda net: net.op("Mul", "x", net.op("Sigmoid", net.op("Mul", "x", f32(net, 1)))), ["sigmoid", "multiply"]
    ),
    "gelu as a sum": (
        lambda net: net.op("Add", net.op("Mul", "x", f32(net, 0.5)), net.op("Mul", "x", half_of_erf(net))), ["nn.gelu"]
    ),
    "gelu, half inside": (lambda net: net.op("Mul", "x", net.op("Add", f32(net, 0.5), half_of_erf(net))), ["nn.gelu"]),
    "gelu by the rest": (
        lambda net: net.op("Sub", "x", net.op("Mul", "x", net.op("Sub", f32(net, 0.5), half_of_erf(net)))), ["nn.gelu"]
    ),
    "gelu tanh by sigmoid": (
        lambda net: net.op("Mul", "x", net.op("Sigmoid", gelu_tanh_argument(net, 2))), ["nn.gelu_tanh"]
    ),
    "gelu tanh as a sum": (
        lambda net: net.op("Mul", f32(net, 0.5), net.op("Add", "x", net.op(
            "Mul", "x", net.op("Tanh", gelu_tanh_argument(net, 1))))),
        ["nn.gelu_tanh"],
    ),
    "tanh": (tanh_of_exp, ["tanh"]),
    "gelu by 1.702": (
        lambda net: net.op("Mul", "x", net.op("Sigmoid", net.op("Mul", "x", f32(net, 1.702)))),
        ["multiply", "sigmoid", "multiply"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_functions(name: str) -> None:
    write, expected = CHAINS[name]
    net = Net(SHAPE)
    assert operators(net.model(write(net))) == expected


TABLES = {
    **{name: CHAINS[name][0] for name in ("silu 2", "gelu as a sum", "gelu by 1.702")},
    "hard swish": lambda net: net.op("HardSwish", "x"),
    "hard swish, relu6": lambda net: net.op("Div", net.op("Mul", "x", net.op(
        "Clip", net.op("Add", "x", f32(net, 3)), f32(net, 0), f32(net, 6))), f32(net, 6)),
    "hard sigmoid": lambda net: net.op("HardSigmoid", "x", alpha=1 / 6),
    "mish": lambda net: net.op("Mish", "x"),
    "mish, softplus": lambda net: net.op("Mul", "x", net.op("Tanh", net.op("Softplus", "x"))),
    "mish, log": lambda net: net.op("Mul", "x", net.op("Tanh", net.op("Log", net.op(
        "Add", net.op("Exp", "x"), f32(net, 1))))),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_functions_between_products_are_tables(name: str) -> None:
    """In 8 bits every chain of one tensor is a table, in whatever operators it is spelled."""
    net = Net((1, 8))
    model = net.model(net.dense(TABLES[name](net), 8, 8))
    weight = onnx.numpy_helper.from_array(net.weight(8, 8), "first")
    model.graph.initializer.append(weight)
    model.graph.node.insert(0, onnx.helper.make_node("MatMul", ["in", "first"], ["x"]))
    model.graph.input[0].name = "in"
    with tvmq.qconfig(calibrate_mode="minmax"):
        quantized = tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model))
    names = [op_name(value).removeprefix("tvmq.") for _, value in View(quantized).bindings]
    assert set(names) <= {"quantize", "matmul", "add", "requantize", "scale_shift", "table", "dequantize"}, names


# ---- what is none of them


X = 'x: R.Tensor((2, 6, 5), "float32")'


@pytest.mark.parametrize(
    "body",
    [
        # a quotient by the sum of squares, not its root
        "s = R.multiply(x, x)\nt = R.sum(s, axis=[-1], keepdims=True)\ny = R.divide(x, t)",
        # the mean over other axes than the variance
        "m = R.mean(x, axis=[1], keepdims=True)\nd = R.subtract(x, m)\nv = R.variance(x, axis=[-1], keepdims=True)\n"
        'r = R.sqrt(R.add(v, R.const(0.1, "float32")))\ny = R.divide(d, r)',
        # a part of the mean
        'm = R.multiply(R.mean(x, axis=[-1], keepdims=True), R.const(0.9, "float32"))\nd = R.subtract(x, m)\n'
        'v = R.variance(x, axis=[-1], keepdims=True)\nr = R.sqrt(R.add(v, R.const(0.1, "float32")))\ny = R.divide(d, r)',
        # a large epsilon beside the root
        "m = R.mean(x, axis=[-1], keepdims=True)\nd = R.subtract(x, m)\nv = R.variance(x, axis=[-1], keepdims=True)\n"
        'r = R.add(R.sqrt(v), R.const(0.1, "float32"))\ny = R.divide(d, r)',
        # exponentials of another base in numerator and sum
        'e = R.exp(x)\nh = R.exp(R.multiply(x, R.const(0.5, "float32")))\nt = R.sum(e, axis=[-1], keepdims=True)\n'
        "y = R.divide(h, t)",
        # half a softmax
        'e = R.exp(x)\nt = R.sum(e, axis=[-1], keepdims=True)\nh = R.multiply(e, R.const(0.5, "float32"))\n'
        "y = R.divide(h, t)",
        # a softmax of two axes
        "e = R.exp(x)\nt = R.sum(e, axis=[1, 2], keepdims=True)\ny = R.divide(e, t)",
    ],
)
def test_others_stay(body: str) -> None:
    found = [op_name(value) for _, value in View(prepare(block(X, body))).bindings]
    assert not any("norm" in name or "softmax" in name for name in found), found


def test_shared_statistics_stay() -> None:
    """A variance that something else reads keeps the group as it is: nothing is computed twice."""
    net = Net(SHAPE)
    mean = net.op("ReduceMean", "x", axes=[3])
    d = net.op("Sub", "x", mean)
    v = net.op("Add", net.op("ReduceMean", net.op("Mul", d, d), axes=[3]), f32(net, EPSILON))
    model = net.model(net.op("Div", d, net.op("Sqrt", v)), v)
    assert "layer_norm" not in operators(model)


def test_values_far_from_zero_are_normalized_well() -> None:
    """E[x^2] - E[x]^2 of values around 100 keeps few digits; the operator takes the mean off first."""
    net = Net(SHAPE)
    model = net.model(Spelling(least="Max").write(net, (3,), (5,)))
    x = (100 + np.random.default_rng(0).standard_normal(SHAPE)).astype(np.float32)
    wide = x.astype(np.float64) - x.mean(-1, dtype=np.float64, keepdims=True)
    unit = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + EPSILON)
    constants = [onnx.numpy_helper.to_array(c) for c in model.graph.initializer]
    gamma, beta = (array for array in constants if array.shape == (5,))
    found = Reference(prepare(*tvmq.from_onnx(model))).run({"x": x})[0]
    error, other = (np.abs(y - unit * gamma - beta).max() for y in (found, run_onnx(model, {"x": x})[0]))
    assert error < 2e-4 < other / 10
