"""Dynamic dimensions that a model itself determines: reshapes that fix them, slices that bound them."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from onnx import TensorProto, helper

import tvmq
from tests.support.models.dynamic_models import Nodes
from tests.support.models.networks import block, parse
from tvmq.errors import DataError, ModelError
from tvmq.graph.analysis.limits import ENDLESS, Limit, size_limits
from tvmq.graph.ledger import get_ledger
from tvmq.graph.sizes import least_positive
from tvmq.graph.symbolic import dynamic_dimensions, resolve_shapes


def module(parameter: str, result: str, *lines: str) -> tvm.IRModule:
    """main(x) of one dataflow block; n and m are dynamic."""
    body = "\n".join(f"            {line}" for line in lines)
    return parse(f"""
# from tvm.script import ir as I
# from tvm.script import relax as R
# from tvm.script import tirx as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor({parameter}, "float32"), z: R.Tensor(("n", "m"), "float32")) -> R.Tensor({result}):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
{body}
            R.output(y)
        return y
""")


def test_a_reshape_to_numbers_fixes_the_size() -> None:
    mod = module('("n", 12)', "(3, 3, 4)", "y = R.reshape(x, R.shape([3, 3, 4]))")
    settled = resolve_shapes(mod)
    assert set(dynamic_dimensions(settled)) == {"m"}
    assert get_ledger(settled).notes == ["dynamic dimension 'n' is 3: layer 'y' takes no other size"]
    exe = tvmq.build(settled)
    assert exe.input_info[0].shape == (3, 12)


def test_reshapes_that_hold_for_all_sizes_fix_nothing() -> None:
    mod = module('("n", "m")', '("n * m", 1)', "y = R.reshape(x, R.shape([n * m, 1]))")
    assert set(dynamic_dimensions(resolve_shapes(mod))) == {"n", "m"} and not get_ledger(resolve_shapes(mod)).notes


@pytest.mark.parametrize("weight, call, size", [
    ("(6, 3)", "R.matmul(x, w)", 6), ("(5,)", "R.nn.prelu(x, w, axis=1)", 5),
    ("(7,)", "R.nn.layer_norm(x, w, w, axes=[-1])", 7),
])  # fmt: skip
def test_weights_fix_the_size(weight: str, call: str, size: int) -> None:
    """TVM takes any: kernels would read outside of the weight, or not all of it."""
    result = '("n", 3), "float32"' if "matmul" in call else '("n", "m"), "float32"'
    mod = module('("n", "m")', result, f'w = R.zeros(R.shape({weight}), dtype="float32")', f"y = {call}")
    settled = resolve_shapes(mod)
    assert set(dynamic_dimensions(settled)) == {"n"}
    assert get_ledger(settled).notes == [f"dynamic dimension 'm' is {size}: layer 'y' takes no other size"]


def test_products_that_no_one_size_makes_fit() -> None:
    mod = module('("n", "m")', '("n", "m"), "float32"', "y = R.matmul(x, x)")
    with pytest.raises(ModelError, match="layer 'y': a matmul of m values to n is not proved to hold for all sizes"):
        resolve_shapes(mod)


def test_reshapes_that_no_one_size_makes_hold() -> None:
    mod = module('("n", "m")', "(3, 4)", "y = R.reshape(x, R.shape([3, 4]))")
    with pytest.raises(ModelError, match="layer 'y': a reshape of .* values to .* is not proved to hold for all sizes"):
        resolve_shapes(mod)


@pytest.mark.parametrize("parameter, end, limits", [
    ("(6, 2)", "n", {"n": (0, 6), "m": (0, ENDLESS)}),
    ('("n", 2)', "4", {"n": (0, ENDLESS), "m": (0, ENDLESS)}),
    ('("n", 2)', "n", {"n": (0, ENDLESS), "m": (0, ENDLESS)}),
    ("(6, 2)", "4", {"n": (0, ENDLESS), "m": (0, ENDLESS)}),
])  # fmt: skip
def test_slices_bound_sizes(parameter: str, end: str, limits: dict[str, tuple[int, int]]) -> None:
    call = f"y = R.strided_slice(x, (0,), (0,), ({end},), assume_inbound={end == 'n'})"
    mod = module(parameter, f"({'n' if end == 'n' else 4}, 2)", call)
    found = {name: (limit.least, limit.most) for name, limit in size_limits(mod).items()}
    assert found == limits


def test_windows_ask_for_sizes_that_they_fit() -> None:
    g = Nodes(0)
    y = g.add("ConvTranspose", "x", g.weight(4, 8, 3, 3), strides=[3, 3], pads=[2] * 4)
    model = g.model([helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, "rows", "columns"])], y)
    mod, params = tvmq.from_onnx(model)
    exe = tvmq.build(mod, params=params)
    assert exe.run({"x": np.ones((1, 4, 2, 3), np.float32)})[0].shape == (1, 8, 2, 5)
    with pytest.raises(DataError, match="has 1 for 'rows' .axis 2., the model takes at least [0-9]*: .* would have no values"):
        exe.run({"x": np.ones((1, 4, 1, 5), np.float32)})
    assert exe.run({"x": np.ones((1, 4, 5, 2), np.float32)})[0].shape == (1, 8, 11, 2)


def test_slices_that_nothing_keeps_inside() -> None:
    mod = module("(6, 2)", '("n * 2", 2)', "y = R.strided_slice(x, (0,), (0,), (n * 2,), assume_inbound=True)")
    with pytest.raises(ModelError, match="layer 'y': a slice up to .* of .*6.* is not proved to stay inside for all"):
        size_limits(mod)


@pytest.mark.parametrize("rows, least", [("n // 2", 2), ("n - 4", 5), ("(n + 1) // 2 * m", 1), ("n // 3 * m", 3)])
def test_reductions_of_nothing_bound_sizes(rows: str, least: int) -> None:
    mod = module(f'("{rows}", 2)', '(2,), "float32"', "y = R.max(x, axis=[0])")
    assert size_limits(mod)["n"].least == (least if least > 1 else 0)
    assert least_positive(mod["main"].params[0].ty.shape[0])["n"] == least


def test_sizes_that_may_be_negative() -> None:
    mod = module('("n - m", 2)', '(2,), "float32"', "y = R.max(x, axis=[0])")
    with pytest.raises(ModelError, match="layer 'y': a size of n - m is not proved to be positive for all sizes"):
        size_limits(mod)


def test_limits_are_narrowed() -> None:
    limit = Limit().tighten(2, 9, "a").tighten(1, 20, "b")
    assert limit == Limit(2, 9, "a")


def test_too_few_are_refused_at_the_run() -> None:
    mod = module('("n", 2)', "(4, 2)", "y = R.strided_slice(x, (0,), (0,), (4,), assume_inbound=True)")
    exe = tvmq.build(mod)
    feed = {"x": np.zeros((3, 2), np.float32), "z": np.zeros((3, 5), np.float32)}
    with pytest.raises(
        tvmq.errors.DataError, match="has 3 for 'n' .*, the model takes at least 4: layer 'y' takes 4"
    ):
        exe.run(feed)


@pytest.mark.slow_cases("bounds2", "bounds3", "bounds4", "bounds5")
@pytest.mark.parametrize("bounds", [(1, 2**63 - 1), (-1, 2**63 - 1), (0, -1), (0, 3), (2, 5), (-3, -1)])
def test_slices_by_numbers_are_clipped_to_the_size(bounds: tuple[int, int]) -> None:
    """Such slices require no size; quantized they give equal rows."""
    call = f"y = R.strided_slice(x, (1,), ({bounds[0]},), ({bounds[1]},), assume_inbound=False)"
    mod = module('(2, "n", 4)', '(2, "m", 4)', call)
    assert {limit.most for limit in size_limits(mod).values()} == {ENDLESS}
    exe = tvmq.build(mod)
    for size in (1, 2, 4, 7):
        x = np.random.default_rng(size).random((2, size, 4), np.float32)
        (found,) = exe.run({"x": x, "z": np.zeros((size, 3), np.float32)})
        np.testing.assert_array_equal(found, x[:, slice(*bounds)])


def test_the_length_of_a_cache_may_be_zero() -> None:
    """A cache that is appended to may have no rows; what another operator reads, or a size that would be 0, has one."""
    both = 'x: R.Tensor((2, "n"), "float32"), z: R.Tensor((2, "m"), "float32")'
    sizes = "n, m = T.int64(), T.int64()\n"
    for body, least in (
        ("y = R.concat((x, z), axis=1)", (0, 1)),
        ("a = R.concat((x, z), axis=1)\ny = R.max(R.add(z, z), axis=[1], keepdims=True)", (0, 1)),
    ):
        text = '(2, "n + m"), "float32"' if "max" not in body else '(2, 1), "float32"'
        limits = size_limits(block(both, sizes + body, text))
        assert (limits["n"].least, limits["m"].least) == least
