"""annotate: where simulated_quantize goes, with which spec, and who reads behind it."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.passes.stages import annotated, partitioned
from tests.support.models.networks import assert_same, at_stage, block, parse
from tvmq.errors import StageError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, op_name
from tvmq.numerics.spec import QuantSpec
from tvmq.options.rules import Rule
from tvmq.passes.annotate import annotate

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
S = 's: R.Tensor((2,), "float32"), z: R.Tensor((2,), "int32")'
WEIGHT = np.ones((2, 2, 3, 3), np.float32)
CONSTANTS = {"w": WEIGHT, "s": np.zeros(2, np.float32), "z": np.zeros(2, np.int32)}
CONV = "c = R.nn.conv2d({x}, w, padding=1)"


def watch(x: str, kind: str = "activation", spec: str = "", tensor: str | None = None) -> str:
    """Text of a simulated_quantize of one uncalibrated scale."""
    return f'{x}_sq = R.tvmq.simulated_quantize({x}, R.const(0.0, "float32"), R.const(0, "int32"), kind="{kind}", tensor="{tensor or x}"{spec})'


def weight(root: str, name: str = "v", bits: int = 8) -> str:
    """Text of the simulated_quantize of a weight, one uncalibrated scale a filter."""
    return (
        f'{name} = R.tvmq.simulated_quantize(w, s, z, kind="weight", tensor="{root}_weight", '
        f'dtype="int8", bits={bits}, symmetric=True, axis=0)'
    )


def test_activations_and_weights_are_watched() -> None:
    before = block(
        f"{X}, {W}",
        "c = R.nn.conv2d(x, w, padding=1)\nr = R.nn.relu(c)\nd = R.nn.conv2d(r, w, padding=1)",
        w=WEIGHT,
    )
    body = [
        watch("x", "input"),
        weight("c"),
        "c = R.nn.conv2d(x_sq, v, padding=1)",
        "r = R.nn.relu(c)",
        watch("r"),
    ]
    body += [weight("d", "u"), "d = R.nn.conv2d(r_sq, u, padding=1)"]
    assert_same(annotated(before), block(f"{X}, {W}, {S}", "\n".join(body), **CONSTANTS))
    assert get_ledger(annotated(before)).stage == "annotated"


def test_per_tensor_weights_and_signed_activations() -> None:
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w, padding=1)", w=WEIGHT)
    body = [
        watch("x", "input", ', dtype="int8", symmetric=True'),
        'v = R.tvmq.simulated_quantize(w, R.const(0.0, "float32"), R.const(0, "int32"), kind="weight", tensor="c_weight", '
        'dtype="int8", symmetric=True)',
        "c = R.nn.conv2d(x_sq, v, padding=1)",
    ]
    options = {"dtype_input": "int8", "scheme": "symmetric", "per_channel": False}
    assert_same(annotated(before, **options), block(f"{X}, {W}", "\n".join(body), w=WEIGHT))


def test_what_moves_codes_is_not_watched() -> None:
    before = block(
        f"{X}, {W}",
        "m = R.nn.max_pool2d(x)\nc = R.nn.conv2d(m, w, padding=1)\nt = R.nn.max_pool2d(c)\nd = R.nn.conv2d(t, w, padding=1)",
        w=WEIGHT,
    )
    body = [watch("x", "input"), "m = R.nn.max_pool2d(x_sq)", weight("c"), "c = R.nn.conv2d(m, v, padding=1)"]
    body += [watch("c"), "t = R.nn.max_pool2d(c_sq)", weight("d", "u"), "d = R.nn.conv2d(t, u, padding=1)"]
    assert_same(annotated(before), block(f"{X}, {W}, {S}", "\n".join(body), **CONSTANTS))


def test_float_readers_of_floats_see_no_rounding() -> None:
    """x is float in the integer module too: the convolution reads its codes, cos reads x itself; so does the result."""
    text = f"""
@I.ir_module
class Module:
    @R.function
    def main({X}, {W}{{more}}) -> R.Tuple(R.Tensor((1, 2, 4, 4), "float32"), R.Tensor((1, 2, 4, 4), "float32")):
        with R.dataflow():
            {{body}}
            R.output(y)
        return (y, x)
"""
    before = parse(
        text.format(
            more="",
            body="c = R.nn.conv2d(x, w, padding=1)\n            e = R.tril(x)\n            s = R.add(c, e)\n"
            "            y = R.nn.max_pool2d(s)",
        ),
        w=WEIGHT,
    )
    body = [
        watch("x", "input"),
        weight("c"),
        "c = R.nn.conv2d(x_sq, v, padding=1)",
        watch("c"),
        "e = R.tril(x)",
        watch("e"),
    ]
    expected = [*body, "s = R.add(c_sq, e_sq)", watch("s"), "o = R.nn.max_pool2d(s_sq)", "R.output(o)"]
    module = (
        text.format(more=f", {S}", body="\n            ".join(expected))
        .replace("            R.output(y)\n", "")
        .replace("(y, x)", "(o, x)")
    )
    assert_same(annotated(before), parse(module, **CONSTANTS))


def test_results_of_sums_are_watched_even_if_only_floats_read_them() -> None:
    """An integer add needs the scale of its result."""
    body = "c = R.nn.conv2d(x, w, padding=1)\nd = R.nn.conv2d(x, w, padding=1)\ny = R.add(c, d)"
    after = annotated(block(f"{X}, {W}", body, w=WEIGHT))
    names = [var.name for var, value in View(after).bindings if op_name(value) == "tvmq.simulated_quantize"]
    assert names == ["x_sq", "c_weight_sq", "c_sq", "d_weight_sq", "d_sq", "y_sq"]


def specs_of(mod: tvm.IRModule) -> dict[str, tuple[str, int]]:
    """{tensor: (dtype, bits)} of all watched activations."""
    calls = [value for _, value in View(mod).bindings if op_name(value) == "tvmq.simulated_quantize"]
    return {str(c.attrs.tensor): (str(c.attrs.dtype), c.attrs.bits) for c in calls if c.attrs.kind != "weight"}


def test_a_rule_about_activations_is_about_what_the_layer_reads() -> None:
    spec = QuantSpec("uint8", 5)
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w, padding=1)\nd = R.nn.conv2d(c, w, padding=1)", w=WEIGHT)
    assert specs_of(annotated(before, rules=[Rule("d", activations=spec)])) == {
        "x": ("uint8", 8),
        "c": ("uint8", 5),
    }


def test_a_rule_reaches_through_what_moves_codes() -> None:
    """The convolution reads a pool of c: c itself has the scale, so c gets the spec."""
    spec = QuantSpec("int8", 5)
    body = "c = R.nn.conv2d(x, w, padding=1)\np = R.nn.max_pool2d(c)\nq = R.concat((p, c), axis=0)\nd = R.nn.conv2d(q, w, padding=1)"
    before = block(f"{X}, {W}", body, '(2, 2, 4, 4), "float32"', w=WEIGHT)
    assert specs_of(annotated(before, rules=[Rule("d", activations=spec)])) == {
        "x": ("uint8", 8),
        "c": ("int8", 5),
    }


def test_weights_of_a_rule() -> None:
    spec = QuantSpec("int8", 4, symmetric=True, per_channel=True)
    before = block(f"{X}, {W}", "c = R.nn.conv2d(x, w, padding=1)", w=WEIGHT)
    body = [watch("x", "input"), weight("c", bits=4), "c = R.nn.conv2d(x_sq, v, padding=1)"]
    found = annotated(before, rules=[Rule("c", weights=spec)])
    assert_same(found, block(f"{X}, {W}, {S}", "\n".join(body), **CONSTANTS))


def test_other_stages_are_refused() -> None:
    mod = block(f"{X}, {W}", "c = R.nn.conv2d(x, w, padding=1)", w=WEIGHT)
    with pytest.raises(StageError, match="annotate: the module is 'prepared', this pass needs 'partitioned'"):
        annotate(at_stage(mod, "prepared"))
    with pytest.raises(StageError, match="annotate: the module is 'annotated'"):
        annotate(annotate(partitioned(mod)))
