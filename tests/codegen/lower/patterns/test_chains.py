"""Fusion: which bindings become one kernel."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.passes.stages import realized
from tests.support.models.networks import block
from tvmq.codegen.lower.patterns.chains import Chain, find_chains
from tvmq.graph.view import View

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
WEIGHT = np.random.default_rng(0).standard_normal((2, 2, 3, 3)).astype(np.float32)
START = "c = R.nn.conv2d(x, w, padding=1)\nd = R.nn.conv2d(x, w, padding=1)\n"


def chains(mod: tvm.IRModule) -> list[list[str]]:
    """Members of all chains, in the order of their results."""
    view = View(mod)
    found = find_chains(view)
    return [found[var.name].members for var, _ in view.bindings if var.name in found]


def integer(body: str, result: str | None = None, **options: object) -> list[list[str]]:
    """Chains of the integer module of two convolutions and the body."""
    return chains(realized(block(f"{X}, {W}", START + body, result, w=WEIGHT), **options))


def test_pad_convolution_bias_requantize() -> None:
    found = integer(
        "a = R.nn.max_pool2d(c)\nb = R.nn.max_pool2d(d)\ny = R.concat((a, b), axis=0)\nz = R.nn.conv2d(y, w)",
        '(2, 2, 2, 2), "float32"',
    )
    assert found[0] == ["c_pad", "c", "c_bias", "c_1"] and found[1] == ["d_pad", "d", "d_bias", "d_1"]
    assert found[2][:2] == ["z", "z_bias"] and len(found[2]) == 3, "sums do not reach memory, but become floats"


def test_a_residual_sum_goes_to_the_later_convolution() -> None:
    found = integer("y = R.add(c, d)\nz = R.nn.conv2d(y, w)", '(1, 2, 2, 2), "float32"')
    assert found[:2] == [["c_pad", "c", "c_bias", "c_1"], ["d_pad", "d", "d_bias", "d_1", "y"]]


def test_a_table_behind_the_sum() -> None:
    body = "y = R.add(c, d)\ns = R.sigmoid(y)\nz = R.nn.conv2d(s, w)"
    assert integer(body, '(1, 2, 2, 2), "float32"')[1] == ["d_pad", "d", "d_bias", "d_1", "y", "s"]


def test_a_table_of_floats_stays_outside() -> None:
    assert ["d_pad", "d", "d_bias", "d_1"] in integer("s = R.sigmoid(d)\ny = R.tril(s)\nz = R.add(y, c)")


def test_a_tensor_that_others_read_ends_the_chain() -> None:
    body = "s = R.sigmoid(d)\ny = R.add(c, d)\nq = R.add(s, y)\nz = R.nn.conv2d(q, w)"
    assert ["d_pad", "d", "d_bias", "d_1"] in integer(body, '(1, 2, 2, 2), "float32"')


def test_shared_padding_stays_outside() -> None:
    mod = block(
        f'{X}, q: R.Tensor((2, 2, 3, 3), "float32")',
        "p = R.nn.pad(x, (0, 0, 0, 0, 1, 1, 1, 1))\nc = R.nn.conv2d(p, q)\nd = R.nn.conv2d(p, q)\ny = R.add(c, d)",
        q=WEIGHT,
    )
    assert chains(mod) == []


@pytest.mark.parametrize("mode", ["fixed_point", "power_of_two"])
def test_requantize_in_integers_is_inside(mode: str) -> None:
    found = integer("y = R.add(c, d)", requantize=mode)
    assert found[0] == ["c_pad", "c", "c_bias", "c_1"]


def test_products_and_sums_take_their_requantize() -> None:
    body = "m = R.multiply(c, d)\np = R.nn.avg_pool2d(m, pool_size=(2, 2))\nz = R.nn.conv2d(p, w)"
    found = integer(body, '(1, 2, 1, 1), "float32"')
    assert found[2:4] == [["m_product", "m"], ["p_sum", "p"]]


def test_a_product_with_itself_is_no_residual() -> None:
    """The second operand of a fused sum must exist without the kernel."""
    mod = realized(block(f"{X}, {W}", START + "y = R.multiply(d, d)\nz = R.add(c, y)", w=WEIGHT))
    assert all(chain[-1] != "z" or "d" not in chain for chain in chains(mod))


FLOATS = {
    "bias": ((1, 2, 1, 1), ["c", "a", "r"]),
    "number": ((), ["c", "a", "r"]),
    "channels written short": ((2, 1, 1), ["c", "a", "r"]),
    "row": ((4,), []),
    "picture": ((1, 1, 4, 4), []),
    "everything": ((1, 2, 4, 4), []),
}


@pytest.mark.parametrize("case", FLOATS)
def test_what_is_a_bias(case: str) -> None:
    """A constant that varies over pixels is not, even where its size is that of the channels."""
    shape, members = FLOATS[case]
    signature = f'{X}, {W}, b: R.Tensor({shape}, "float32")'
    body = "c = R.nn.conv2d(x, w, padding=1)\na = R.add(c, b)\nr = R.nn.relu(a)"
    mod = block(signature, body, w=WEIGHT, b=np.ones(shape, np.float32))
    assert chains(mod) == ([members] if members else [])


@pytest.mark.parametrize(
    "shape, fused", [((3,), True), ((1, 3), True), ((4, 1), False), ((4, 3), False), ((1, 1, 3), False)]
)
def test_what_is_a_bias_of_a_product(shape: tuple[int, ...], fused: bool) -> None:
    signature = f'x: R.Tensor((4, 5), "float32"), w: R.Tensor((5, 3), "float32"), b: R.Tensor({shape}, "float32")'
    result = "(1, 4, 3)" if len(shape) == 3 else "(4, 3)"
    mod = block(
        signature,
        "m = R.matmul(x, w)\na = R.add(m, b)",
        f'{result}, "float32"',
        w=np.ones((5, 3), np.float32),
        b=np.ones(shape, np.float32),
    )
    assert chains(mod) == ([["m", "a"]] if fused else [])


def test_padding_that_a_float_kernel_does_not_know() -> None:
    """Only a border of zeros, only of the picture, and no second padding by the convolution itself."""
    for pad, conv, fused in (
        ("(0, 0, 0, 0, 1, 1, 1, 1)", "", True),
        ("(0, 0, 0, 0, 1, 1, 1, 1), pad_value=0.5", "", False),
        ('(0, 0, 0, 0, 1, 1, 1, 1), pad_mode="reflect"', "", False),
        ("(0, 0, 0, 0, 1, 1, 1, 1)", ", padding=1", False),
        ("(0, 0, 0, 0, 1, 1, 1, 1)", ", strides=2", True),
        ("(1, 0, 0, 0, 1, 1, 1, 1)", "", False),
    ):
        batch, side = (2 if pad.startswith("(1") else 1), (6 if "padding" in conv else 2 if "strides" in conv else 4)
        body = f"p = R.nn.pad(x, {pad})\nc = R.nn.conv2d(p, w{conv})"
        mod = block(f"{X}, {W}", body, f'({batch}, 2, {side}, {side}), "float32"', w=WEIGHT)
        assert chains(mod) == ([["p", "c"]] if fused else []), (pad, conv)


def test_a_chain_knows_its_parts() -> None:
    chain = Chain("c", ["p", "c", "a", "r"])
    assert (chain.result, chain.after_head()) == ("r", ["a", "r"])
