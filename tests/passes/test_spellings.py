"""Spellings of normalizations: each becomes the one operator, equal to onnxruntime's floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import onnx
import pytest

import tvmq
from tests.passes.spellings import EPSILON, SHAPE, Value, factors, names_of, operators, written
from tests.support.models.networks import Net, run_onnx
from tvmq.errors import ModelError
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

Axes = tuple[int, ...]

# ---- the parts of a normalization, each in its spellings


def counted(axes: Axes) -> float:
    return float(np.prod([SHAPE[axis] for axis in axes]))


def one_by_one(x: Value, axes: Axes) -> Value:
    for axis in axes:
        x = x.mean(axis)
    return x


def dropped(x: Value, axes: Axes) -> Value:
    """Without its axes, which a reshape brings back."""
    shape = [1 if axis in axes else size for axis, size in enumerate(SHAPE)]
    return x.mean(*axes, keepdims=0).op("Reshape", np.int64(shape))


def moved(x: Value, axes: Axes) -> Value:
    """Over the last axes of the transposed tensor, and back."""
    order = [axis for axis in range(4) if axis not in axes] + list(axes)
    mean = x.op("Transpose", perm=order).mean(*range(4 - len(axes), 4))
    return mean.op("Transpose", perm=np.argsort(order).tolist())


MEANS: dict[str, Callable[[Value, Axes], Value]] = {
    "ReduceMean": lambda x, axes: x.mean(*axes),
    "negative axes": lambda x, axes: x.mean(*(axis - 4 for axis in axes)),
    "unsqueezed": lambda x, axes: x.mean(*axes, keepdims=0).op("Unsqueeze", np.int64(axes)),
    "reshaped": dropped,
    "expanded": lambda x, axes: x.mean(*axes).op("Expand", np.int64(SHAPE)),
    "sum / n": lambda x, axes: x.sum(*axes) / counted(axes),
    "1/n sum": lambda x, axes: 1 / counted(axes) * x.sum(*axes),
    "one by one": one_by_one,
    "moved": moved,
}
POOLS: dict[str, Callable[[Value, Axes], Value]] = {
    "GlobalAveragePool": lambda x, _: x.op("GlobalAveragePool"),
    "AveragePool": lambda x, _: x.op("AveragePool", kernel_shape=list(SHAPE[2:])),
}
SQUARES: dict[str, Callable[[Value], Value]] = {
    "x*x": lambda x: x * x,
    "x^2": lambda x: x**2,
    "|x|^2": lambda x: x.abs() ** 2,
}
AT_LEAST_0: dict[str, Callable[[Value], Value]] = {
    "as it is": lambda v: v,
    "Max": lambda v: v.lift(0).op("Max", v),
    "Relu": lambda v: v.relu(),
    "Clip": lambda v: v.op("Clip", 0),
    "Abs": lambda v: v.abs(),
}
# what a product of x and 1 / root is
QUOTIENTS: dict[str, Callable[[Value, Value], Value]] = {
    "Div": lambda x, v: x / v.sqrt(),
    "Reciprocal": lambda x, v: x * v.sqrt().reciprocal(),
    "1 / Sqrt": lambda x, v: 1 / v.sqrt() * x,
    "Sqrt of 1 / v": lambda x, v: x * v.reciprocal().sqrt(),
    "Pow -0.5": lambda x, v: x * v**-0.5,
    "Pow 0.5": lambda x, v: x / v**0.5,
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

    def model(self, axes: Axes, shape: Axes) -> onnx.ModelProto:
        """The layer norm over axes, with factors of that shape."""
        return written(lambda x: self.write(x, axes, *factors(x.net, *shape)))

    def write(self, x: Value, axes: Axes, gamma: Value, beta: Value) -> Value:
        mean = self.mean_of(x, axes)
        d = x - mean
        v = AT_LEAST_0[self.least](self.variance_of(x, d, mean, axes)) + EPSILON
        ratio = QUOTIENTS[self.quotient]
        if self.factors == "behind":
            return ratio(d, v) * gamma + beta
        if self.factors == "with the root":
            return d * ratio(gamma, v) + beta
        if self.factors == "of x and of the mean":
            return x * (factor := ratio(gamma, v)) + (beta - mean * factor)
        return ratio(d * gamma, v) - -beta

    def mean_of(self, x: Value, axes: Axes) -> Value:
        return {**MEANS, **POOLS}[self.mean](x, axes)

    def variance_of(self, x: Value, d: Value, mean: Value, axes: Axes) -> Value:
        square = SQUARES[self.square]
        if self.variance == "fast":
            return self.mean_of(square(x), axes) - square(mean)
        return self.mean_of(d * x if self.variance == "one factor" else square(d), axes)


FACTORS = ("behind", "with the root", "of x and of the mean", "in front")
SPELLINGS = [
    *(Spelling(mean=mean, variance=variance) for mean, variance in product(MEANS, ("fast", "centred"))),
    *(Spelling(square=square, variance=variance) for square, variance in product(SQUARES, ("fast", "centred"))),
    *(Spelling(least=least, factors=factors) for least, factors in product(AT_LEAST_0, FACTORS)),
    *(Spelling(quotient=quotient, factors=factors) for quotient, factors in product(QUOTIENTS, FACTORS)),
    *(Spelling(variance=v, factors=factors) for v, factors in product(("centred", "one factor"), FACTORS)),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("spelling", sorted(set(SPELLINGS), key=str), ids=str)
def test_layer_norm(spelling: Spelling) -> None:
    assert operators(spelling.model((3,), (5,))) == ["layer_norm"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize("mean", [*MEANS, *POOLS])
def test_instance_norm(mean: str, factors: str) -> None:
    assert operators(Spelling(mean=mean, factors=factors, least="Max").model((2, 3), (6, 1, 1))) == ["group_norm"]


@pytest.mark.parametrize("mean", MEANS)
def test_layer_norm_of_channels(mean: str) -> None:
    model = Spelling(mean=mean, factors="with the root").model((1,), (6, 1, 1))
    assert operators(model) == ["permute_dims", "layer_norm", "permute_dims"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("mean", "square"), [*product(MEANS, ("x*x",)), ("ReduceMean", "x^2"), ("reshaped", "|x|^2")])
@pytest.mark.parametrize("quotient", ["Div", "Sqrt of 1 / v"])
def test_rms_norm(mean: str, square: str, quotient: str) -> None:
    def formula(x: Value) -> Value:
        return factors(x.net, 5)[0] * QUOTIENTS[quotient](x, MEANS[mean](SQUARES[square](x), (3,)) + EPSILON)

    assert operators(written(formula)) == ["rms_norm"]


def fast_norm(x: Value, *axes: int) -> Value:
    """Without factors, as jax writes it."""
    mean = x.mean(*axes)
    v = ((x * x).mean(*axes) - mean * mean).op("Max", 0)
    return (x - mean) * (v + EPSILON).sqrt().reciprocal()


def variance_of_a_sample(x: Value) -> Value:
    """torch.var divides by n - 1 where nobody says otherwise."""
    d = x - x.mean(3)
    return d / (((d * d).sum(3) / 4).sqrt() + 1e-7)


def expanded_factors(x: Value) -> Value:
    """Constants as large as the tensor which change along the row alone, and a second product behind the first."""
    first, second, beta = (np.broadcast_to(x.net.random.uniform(0.5, 2, 5).astype("f4"), SHAPE) for _ in range(3))
    return fast_norm(x, 3) * first * second + beta


def nan_that_is_never_chosen(x: Value) -> Value:
    """jax writes a variance as where(n > 0, sum / n, NaN)."""
    d = x - x.mean(3)
    v = x.lift(5).op("Greater", 0).op("Where", (d * d).sum(3) / 5, np.full((2, 6, 4, 1), np.nan))
    return d / (v + EPSILON).sqrt()


def two_differences(x: Value) -> Value:
    gamma, beta = factors(x.net, 5)
    d, e = x - x.mean(-1), x - x.mean(-1)
    return beta + gamma * (d / (EPSILON + (d * e).mean(-1)).sqrt())


def torch_group_norm(x: Value) -> Value:
    """A group norm as torch exports it to ONNX."""
    rows = x.op("Reshape", np.int64([0, 3, -1])).op("InstanceNormalization", np.ones(3), np.zeros(3))
    gamma, beta = factors(x.net, 6, 1, 1)
    return gamma * rows.op("Reshape", x.op("Shape")) + beta


@pytest.mark.parametrize("formula, expected", [
    (variance_of_a_sample, "layer_norm"),
    (expanded_factors, "layer_norm"),
    (nan_that_is_never_chosen, "layer_norm"),
    (two_differences, "layer_norm"),
    (lambda x: fast_norm(x, -1), "layer_norm"),
    (lambda x: factors(x.net, 5)[0] * fast_norm(x, -1), "layer_norm"),
    (lambda x: 0.75 * fast_norm(x, -1) + 1.75, "layer_norm"),
    (lambda x: fast_norm(x, 2, 3) * factors(x.net, 4, 5)[0], "layer_norm"),
    (lambda x: fast_norm(x, 1, 2, 3) * factors(x.net, 1, 6, 1, 1)[0], "group_norm"),
    (torch_group_norm, "group_norm"),
])  # fmt: skip
def test_other_norms(formula: Callable[[Value], Value], expected: str) -> None:
    assert operators(written(formula)) == [expected]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("places", [[20], [4, 5]])
def test_group_norm_of_channels_that_stand_last(groups: int, places: list[int]) -> None:
    """Six groups are an instance norm: its last axis has one element."""

    def formula(x: Value) -> Value:
        gamma, beta = factors(x.net, 6)
        grouped = x.op("Reshape", np.int64([2, *places, groups, 6 // groups]))
        y = fast_norm(grouped, *range(1, 1 + len(places)), 2 + len(places))
        return y.op("Reshape", np.int64([2, 4, 5, 6])) * gamma + beta

    assert operators(written(formula, (2, 4, 5, 6))) == ["permute_dims", "group_norm", "permute_dims"]


@pytest.mark.parametrize("condition", [False, [[True], [False]]])
def test_nan_that_is_chosen_is_refused(condition: bool | list[list[bool]]) -> None:
    net = Net((2, 3))
    y = net.op("Where", net.constant(np.array(condition)), "x", net.constant(np.full((2, 3), np.nan, np.float32)))
    with pytest.raises(ModelError, match="holds 6 NaN or infinite"):
        prepare(*tvmq.from_onnx(net.model(y)))


L2: dict[str, Callable[[Value], Value]] = {
    "ReduceL2": lambda x: x / x.reducel2(axes=[1]),
    "ReduceSumSquare": lambda x: x / x.reducesumsquare(axes=[1]).sqrt(),
    "epsilon inside": lambda x: x / ((x**2).sum(1) + 1e-6).sqrt(),
    "ReduceSum": lambda x: x / (x**2).sum(1).sqrt(),
    "LpNormalization": lambda x: x.lpnormalization(axis=1),
    "Max": lambda x: x / x.reducel2(axes=[1]).op("Max", 1e-12),
    "Clip, expanded": lambda x: x / x.reducel2(axes=[1]).op("Clip", 1e-12).op("Expand", np.int64(SHAPE)),
    "Max inside": lambda x: x * x.reducesumsquare(axes=[1]).op("Max", 1e-12).sqrt().reciprocal(),
    "UnitNormalization": lambda x: x * x.reducesumsquare(axes=[1]).sqrt().reciprocal().op("Min", 1e6),
    "plus a little": lambda x: x / (x.reducel2(axes=[1]) + 1e-8),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", L2)
def test_l2_norm(form: str) -> None:
    assert operators(written(L2[form])) == ["permute_dims", "rms_norm", "permute_dims"]


@pytest.mark.parametrize("form", ["Max", "Max inside", "LpNormalization", "plus a little", "UnitNormalization"])
def test_l2_norm_of_zeros_is_zero(form: str) -> None:
    prepared = prepare(*tvmq.from_onnx(written(L2[form])))
    assert not np.any(Reference(prepared).run({"x": np.zeros(SHAPE, np.float32)})[0])


# ---- what is none of them, or not alone


@pytest.mark.slow
def test_shared_statistics_stay_beside_the_norm() -> None:
    """Statistics that are used later as well stay beside the norm, which has its own."""
    x = Value(Net(SHAPE))
    d = x - (mean := x.mean(3))
    v = (d * d).mean(3) + EPSILON
    y = (d / (root := v.sqrt())).tanh()
    found = operators(x.net.model((y * root + mean).name, v.name))
    assert found.count("layer_norm") == 1 and {"mean", "sqrt"}.issubset(found) and "divide" not in found


@pytest.mark.slow
def test_a_shared_difference_keeps_the_group() -> None:
    """Tensors as large as x are not computed twice."""
    x = Value(Net(SHAPE))
    d = x - x.mean(3)
    assert "layer_norm" not in operators(x.net.model((d / ((d * d).mean(3) + EPSILON).sqrt()).name, d.name))


@pytest.mark.parametrize("formula", [
    lambda x: x * ((x * x).mean(3) * 1e-30 + 1e-30) ** -40,  # a power that overflows
    lambda x: x * (x * x).mean(3) / np.float32([1, 0, 1, 1, 1]),
    lambda x: x * (x * x).mean(3) + np.float32([0, -np.inf, 0, 0, 0]),
])  # fmt: skip
def test_constants_without_a_meaning_stay(formula: Callable[[Value], Value]) -> None:
    """Nothing is made of them, and nothing fails."""
    assert not any("norm" in name for name in names_of(prepare(*tvmq.from_onnx(written(formula)))))


def test_values_far_from_zero_are_normalized_well() -> None:
    """E[x^2] - E[x]^2 of values around 100 keeps few digits; the operator takes the mean off first."""
    model = Spelling(least="Max").model((3,), (5,))
    x = (100 + np.random.default_rng(0).standard_normal(SHAPE)).astype(np.float32)
    wide = x.astype(np.float64) - x.mean(-1, dtype=np.float64, keepdims=True)
    unit = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + EPSILON)
    constants = [onnx.numpy_helper.to_array(c) for c in model.graph.initializer]
    gamma, beta = (array for array in constants if array.shape == (5,))
    found = Reference(prepare(*tvmq.from_onnx(model))).run({"x": x})[0]
    error, other = (np.abs(y - unit * gamma - beta).max() for y in (found, run_onnx(model, {"x": x})[0]))
    assert error < 2e-4 < other / 10
