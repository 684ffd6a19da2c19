"""fold_constants: calls of constants become constants, whatever their type; everything else stays."""

from __future__ import annotations

import numpy as np
import pytest
from tvm import relax

from tests.support.models.networks import block
from tvmq.graph.evaluate import EXACT, FLOAT, evaluate
from tvmq.graph.view import View, const_value, is_const
from tvmq.passes.fold_constants import fold, fold_constants

A = 'a: R.Tensor((2, 3), "{}")'
VALUES = np.float32([[0.5, 1.5, 2.5], [1, 2, 3]])


def folded(body: str, array: np.ndarray = VALUES, result: str | None = None) -> np.ndarray:
    """The constant that the last variable of a body amounts to; `a` is the array."""
    mod = block(A.format(array.dtype).replace("(2, 3)", str(array.shape)), body, result, a=array)
    value = View(mod).bindings[-1][1]
    found = fold(value)
    assert found is not None and is_const(found)
    assert str(const_value(found).dtype) == str(value.ty.dtype)
    assert list(const_value(found).shape) == [int(d) for d in value.ty.shape]
    return const_value(found)


UNARY = {
    "R.nn.relu(a)": lambda a: np.maximum(a, 0),
    "R.clip(a, 1, 2)": lambda a: np.clip(a, 1, 2),
    "R.round(a)": np.rint,
    "R.rsqrt(a)": lambda a: 1 / np.sqrt(a),
    "R.sigmoid(a)": lambda a: 1 / (1 + np.exp(-a)),
    "R.nn.silu(a)": lambda a: a / (1 + np.exp(-a)),
    "R.nn.leakyrelu(a, alpha=0.5)": lambda a: np.where(a > 0, a, a / 2),
    "R.add(a, a)": lambda a: a + a,
    "R.subtract(a, R.const(1.0, 'float32'))": lambda a: a - 1,
    "R.multiply(a, a)": lambda a: a * a,
    "R.divide(a, R.const(2.0, 'float32'))": lambda a: a / 2,
    "R.power(a, R.const(2.0, 'float32'))": lambda a: a**2,
    "R.maximum(a, R.const(1.0, 'float32'))": lambda a: np.maximum(a, 1),
    "R.minimum(a, R.const(1.0, 'float32'))": lambda a: np.minimum(a, 1),
    'R.astype(a, "int32")': lambda a: a.astype(np.int32),
    "R.reshape(a, R.shape([3, 2]))": lambda a: a.reshape(3, 2),
    "R.flatten(a)": lambda a: a.reshape(-1),
    "R.expand_dims(a, axis=[0])": lambda a: a[None],
    "R.squeeze(R.expand_dims(a, axis=[0]), axis=[0])": lambda a: a,
    "R.permute_dims(a)": lambda a: a.T,
    "R.broadcast_to(a, R.shape([4, 2, 3]))": lambda a: np.broadcast_to(a, (4, 2, 3)),
    "R.concat((a, a), axis=1)": lambda a: np.concatenate([a, a], 1),
    "R.strided_slice(a, axes=[1], begin=[2], end=[-5], strides=[-1])": lambda a: a[:, ::-1],
    "R.strided_slice(a, axes=[1], begin=[0], end=[2])": lambda a: a[:, :2],
    "R.nn.pad(a, (0, 1, 1, 0), pad_value=7)": lambda a: np.pad(a, [(0, 1), (1, 0)], constant_values=7),
    'R.nn.pad(a, (0, 1, 1, 0), pad_mode="reflect")': lambda a: np.pad(a, [(0, 1), (1, 0)], mode="reflect"),
    'R.nn.pad(a, (0, 1, 1, 0), pad_mode="replicate")': lambda a: np.pad(a, [(0, 1), (1, 0)], mode="edge"),
    'R.nn.pad(a, (0, 1, 1, 0), pad_mode="circular")': lambda a: np.pad(a, [(0, 1), (1, 0)], mode="wrap"),
    "R.matmul(a, R.permute_dims(a))": lambda a: a @ a.T,
    "R.sum(a, axis=[1])": lambda a: a.sum(1),
    "R.mean(a, axis=[0], keepdims=True)": lambda a: a.mean(0, keepdims=True),
    **{f"R.{name}(a)": getattr(np, name) for name in (
        "negative", "abs", "sqrt", "floor", "ceil", "exp", "log", "square", "sign", "trunc", "isnan", "isinf", "isfinite",
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "zeros_like", "ones_like",
    )},
    **{f"R.a{name}(R.divide(a, R.const(99.0, 'float32')))": lambda a, f=f"arc{name}": getattr(np, f)(a / 99)
       for name in ("sin", "cos", "tanh")},
    **{f"R.a{name}(a)": getattr(np, f"arc{name}") for name in ("tan", "sinh")},
    "R.acosh(R.add(a, R.const(1.0, 'float32')))": lambda a: np.arccosh(a + 1),
    **{f"R.{name}(a, R.const(2.5, 'float32'))": lambda a, f=name: getattr(np, f)(a, 2.5)
       for name in ("equal", "not_equal", "greater", "less", "greater_equal", "less_equal")},
    **{f"R.{name}(R.less(a, R.const(3.0, 'float32')), R.isinf(a))": lambda a, f=name: getattr(np, f)(a < 3, np.isinf(a))
       for name in ("logical_and", "logical_or", "logical_xor")},
    "R.logical_not(R.less(a, R.const(3.0, 'float32')))": lambda a: a >= 3,
    "R.full_like(a, R.const(3.0, 'float32'))": lambda a: np.full_like(a, 3),
    "R.log_add_exp(a, R.const(3.0, 'float32'))": lambda a: np.logaddexp(a, np.float32(3)),
    "R.take(a, R.const([2, 0], 'int64'), axis=1)": lambda a: a[:, [2, 0]],
    "R.take(a, R.const([-1, 0], 'int64'), axis=1, mode='wrap')": lambda a: a[:, [-1, 0]],
    "R.tile(a, repeats=[2, 1, 3])": lambda a: np.tile(a, (2, 1, 3)),
    "R.flip(a, axis=1)": lambda a: a[:, ::-1],
    "R.gather_elements(a, R.const([[1, 0]], 'int64'), axis=1)": lambda a: a[:1, [1, 0]],
    "R.stack((a, a), axis=1)": lambda a: np.stack([a, a], 1),
    "R.max(a)": np.max,
    "R.min(a, axis=[0])": lambda a: a.min(0),
}  # fmt: skip


@pytest.mark.parametrize("call", UNARY)
def test_values(call: str) -> None:
    """Each operator as NumPy computes it, with the type that Relax infers."""
    expected = np.asarray(UNARY[call](VALUES))
    result = f'{tuple(expected.shape)}, "{expected.dtype}"'
    mod = block(A.format("float32"), f"y = {call}", result, a=VALUES)
    after = fold_constants(mod)
    found = const_value(after["main"].body.body)
    assert not View(after).bindings
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_every_function_has_a_value_here() -> None:
    """All NumPy forms are tried above, or below."""
    tried = {part.split("(")[0].strip() for call in UNARY for part in call.split("R.")[1:]}
    apart = {"where", "split", "image.resize2d", "erf", "nn.gelu", "nn.gelu_tanh", "nn.softplus", "nn.selu", "nn.prelu"}
    assert set(EXACT) | set(FLOAT) <= tried | apart


@pytest.mark.parametrize("call, expected", [
    ("R.erf(a)", [0.5204999, 0.9661051, 0.9995930]),
    ("R.nn.gelu(a)", [0.3457312, 1.3997892, 2.4844758]),
    ("R.nn.gelu_tanh(a)", [0.3457140, 1.3995715, 2.4849124]),
    ("R.nn.softplus(a)", [0.9740770, 1.7014133, 2.5788800]),
    ("R.nn.softplus(a, beta=2.0)", [0.6566308, 1.5242937, 2.5033578]),
    ("R.nn.selu(a)", [0.5253505, 1.5760515, 2.6267525]),
])  # fmt: skip
def test_values_that_numpy_lacks(call: str, expected: list[float]) -> None:
    """From tables of the functions (gelu by tanh: from its formula in double precision)."""
    np.testing.assert_allclose(folded(f"y = {call}")[0], expected, rtol=2e-4 if "tanh" in call else 1e-5)


def test_prelu_has_a_slope_for_each_channel() -> None:
    slopes = np.float32([0.5, 0.0, 2.0])
    x, a = (relax.Var(name, relax.TensorType(shape, "float32")) for name, shape in (("x", (2, 3)), ("a", (3,))))
    found = evaluate(relax.op.nn.prelu(x, a, axis=1), [-VALUES, slopes])
    np.testing.assert_array_equal(found, -VALUES * slopes)


def test_operators_without_a_form_are_refused() -> None:
    value = View(block(A.format("float32"), "y = R.tril(a)", a=VALUES)).bindings[0][1]
    with pytest.raises(KeyError, match="tril"):
        evaluate(value, [VALUES])


def test_sigmoid_does_not_overflow() -> None:
    with np.errstate(over="raise"):
        found = folded("y = R.sigmoid(a)", np.float32([[-1e4, 0, 1e4], [-90, 1, 90]]))
    assert found[0].tolist() == [0, 0.5, 1]


def test_large_constants_that_are_equal_become_one() -> None:
    large = np.arange(2048, dtype=np.float32).reshape(2, 1024)
    mod = block(
        'x: R.Tensor((2, 1024), "float32"), a: R.Tensor((2, 1024), "float32"), b: R.Tensor((2, 1024), "float32"), '
        'c: R.Tensor((1024, 2), "float32"), s: R.Tensor((2,), "float32"), t: R.Tensor((2,), "float32")',
        "p = R.add(x, a)\nq = R.add(p, b)\nd = R.permute_dims(c)\nr = R.add(q, d)\n"
        "m = R.matmul(R.permute_dims(x), x)\ny = R.add(r, a)",
        a=large, b=large.copy(), c=large.T.copy(), s=np.zeros(2, np.float32), t=np.zeros(2, np.float32),
    )  # fmt: skip
    after = fold_constants(mod)
    found = [arg for _, value in View(after).bindings for arg in value.args if is_const(arg)]
    assert len(found) == 4 and len(set(found)) == 1
    np.testing.assert_array_equal(const_value(found[0]), large)


@pytest.mark.parametrize("change", [
    lambda a: a + 1, lambda a: a.reshape(1024, 2).T, lambda a: a.view(np.int32), lambda a: a[:1],
])  # fmt: skip
def test_constants_of_other_values_shapes_or_types_stay(change) -> None:
    large = np.arange(2048, dtype=np.float32).reshape(2, 1024)
    other = np.ascontiguousarray(change(large))
    shape, kind = str(other.shape), str(other.dtype)
    mod = block(
        f'x: R.Tensor((2, 1024), "float32"), z: R.Tensor({shape}, "{kind}"), a: R.Tensor((2, 1024), "float32"), '
        f'b: R.Tensor({shape}, "{kind}")',
        "p = R.add(x, a)\nq = R.add(z, b)\ny = R.add(p, R.astype(q, \"float32\"))",
        a=large, b=other,
    )  # fmt: skip
    found = [arg for _, value in View(fold_constants(mod)).bindings for arg in value.args if is_const(arg)]
    assert len(set(found)) == 2
    np.testing.assert_array_equal(const_value(found[1]), other)
