"""Spellings of normalizations: each becomes the one operator, equal to onnxruntime's floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import onnx
import pytest

import tvmq
from tests.passes.spellings import EPSILON, SHAPE, f32, operators, summed
from tests.support.models.networks import Net, run_onnx
from tvmq.errors import ModelError
from tvmq.graph.view import View, op_name
from tvmq.passes.prepare import prepare
from tvmq.reference import Reference

# ---- the parts of a normalization, each in its spellings


def counted(net: Net, axes: Sequence[int]) -> float:
    return float(np.prod([SHAPE[axis] for axis in axes]))


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


@pytest.mark.thinned(3)
@pytest.mark.parametrize("spelling", sorted(set(SPELLINGS), key=str), ids=str)
def test_layer_norm(spelling: Spelling) -> None:
    net = Net(SHAPE)
    assert operators(net.model(spelling.write(net, (3,), (5,)))) == ["layer_norm"]


@pytest.mark.thinned(3)
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


@pytest.mark.thinned(3)
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


def fast_norm(net: Net, x: str, axes: Sequence[int]) -> str:
    """Without factors, as jax writes it."""
    mean = net.op("ReduceMean", x, axes=list(axes))
    square = net.op("ReduceMean", net.op("Mul", x, x), axes=list(axes))
    v = net.op("Max", net.op("Sub", square, net.op("Mul", mean, mean)), f32(net, 0))
    root = net.op("Reciprocal", net.op("Sqrt", net.op("Add", v, f32(net, EPSILON))))
    return net.op("Mul", net.op("Sub", x, mean), root)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("flat", [False, True])
def test_group_norm_of_channels_that_stand_last(groups: int, flat: bool) -> None:
    """Six groups are an instance norm: its last axis has one element."""
    net = Net((2, 4, 5, 6))
    places = [20] if flat else [4, 5]
    grouped = net.op("Reshape", "x", net.constant(np.int64([2, *places, groups, 6 // groups])))
    axes = [*range(1, 1 + len(places)), 2 + len(places)]
    y = net.op("Reshape", fast_norm(net, grouped, axes), net.constant(np.int64([2, 4, 5, 6])))
    gamma, beta = (net.constant(net.random.uniform(0.5, 2, 6).astype(np.float32)) for _ in range(2))
    model = net.model(net.op("Add", net.op("Mul", y, gamma), beta))
    assert operators(model) == ["permute_dims", "group_norm", "permute_dims"]


def test_factors_that_are_expanded_or_multiplied_twice() -> None:
    """Constants as large as the tensor which change along the row alone, and a second product behind the first."""
    net = Net(SHAPE)
    rows = [np.broadcast_to(net.random.uniform(0.5, 2, 5).astype(np.float32), SHAPE).copy() for _ in range(3)]
    first, second, beta = (net.constant(array) for array in rows)
    y = net.op("Mul", net.op("Mul", fast_norm(net, "x", [3]), first), second)
    assert operators(net.model(net.op("Add", y, beta))) == ["layer_norm"]


def test_nan_that_is_never_chosen() -> None:
    """jax writes a variance as where(n > 0, sum / n, NaN)."""
    net = Net(SHAPE)
    d = net.op("Sub", "x", net.op("ReduceMean", "x", axes=[3]))
    v = net.op("Div", summed(net, net.op("Mul", d, d), [3]), f32(net, 5))
    known = net.op("Greater", f32(net, 5), f32(net, 0))
    v = net.op("Where", known, v, net.constant(np.full((2, 6, 4, 1), np.nan, np.float32)))
    assert operators(net.model(net.op("Div", d, net.op("Sqrt", net.op("Add", v, f32(net, EPSILON)))))) == ["layer_norm"]


@pytest.mark.parametrize("condition", [False, [[True], [False]]])
def test_nan_that_is_chosen_is_refused(condition: bool | list[list[bool]]) -> None:
    net = Net((2, 3))
    y = net.op("Where", net.constant(np.array(condition)), "x", net.constant(np.full((2, 3), np.nan, np.float32)))
    with pytest.raises(ModelError, match="holds 6 NaN or infinite"):
        prepare(*tvmq.from_onnx(net.model(y)))


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


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", L2)
def test_l2_norm(form: str) -> None:
    net = Net(SHAPE)
    assert operators(net.model(L2[form](net))) == ["permute_dims", "rms_norm", "permute_dims"]


@pytest.mark.parametrize("form", ["Max", "Max inside", "LpNormalization", "plus a little", "UnitNormalization"])
def test_l2_norm_of_zeros_is_zero(form: str) -> None:
    net = Net(SHAPE)
    prepared = prepare(*tvmq.from_onnx(net.model(L2[form](net))))
    assert not np.any(Reference(prepared).run({"x": np.zeros(SHAPE, np.float32)})[0])


# ---- what is none of them


@pytest.mark.slow
def test_shared_statistics_stay_beside_the_norm() -> None:
    """What is normalized and scaled back later needs its mean and deviation; the norm has its own."""
    net = Net(SHAPE)
    mean = net.op("ReduceMean", "x", axes=[3])
    d = net.op("Sub", "x", mean)
    v = net.op("Add", net.op("ReduceMean", net.op("Mul", d, d), axes=[3]), f32(net, EPSILON))
    root = net.op("Sqrt", v)
    y = net.op("Tanh", net.op("Div", d, root))
    found = operators(net.model(net.op("Add", net.op("Mul", y, root), mean), v))
    assert found.count("layer_norm") == 1 and {"mean", "sqrt"}.issubset(found) and "divide" not in found


@pytest.mark.parametrize("form", ["large power", "zero", "mask"])
def test_constants_without_a_meaning_stay(form: str) -> None:
    """A power that overflows, a quotient by 0, a sum with -inf: nothing is made of them, and nothing fails."""
    net = Net(SHAPE)
    mean = net.op("ReduceMean", net.op("Mul", "x", "x"), axes=[3])
    if form == "large power":
        raised = net.op("Add", net.op("Mul", mean, f32(net, 1e-30)), f32(net, 1e-30))
        y = net.op("Mul", "x", net.op("Pow", raised, f32(net, -40)))
    elif form == "zero":
        y = net.op("Div", net.op("Mul", "x", mean), net.constant(np.float32([1, 0, 1, 1, 1])))
    else:
        y = net.op("Add", net.op("Mul", "x", mean), net.constant(np.float32([0, -np.inf, 0, 0, 0])))
    prepared = prepare(*tvmq.from_onnx(net.model(y)))
    assert not any("norm" in op_name(value) for _, value in View(prepared).bindings)


@pytest.mark.slow
def test_a_shared_difference_keeps_the_group() -> None:
    """Tensors as large as x are not computed twice."""
    net = Net(SHAPE)
    d = net.op("Sub", "x", net.op("ReduceMean", "x", axes=[3]))
    v = net.op("Add", net.op("ReduceMean", net.op("Mul", d, d), axes=[3]), f32(net, EPSILON))
    found = operators(net.model(net.op("Div", d, net.op("Sqrt", v)), d))
    assert "layer_norm" not in found


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
