"""realize: every family as integer operators, borders, the proof that sums fit, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.passes.stages import calibrated, realized
from tests.support.models.networks import assert_same, block
from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics import requantize_constants
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams
from tvmq.options.rules import Rule
from tvmq.passes.realize import realize

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
B = 'b: R.Tensor((1, 2, 1, 1), "float32")'
RANDOM = np.random.default_rng(0)
WEIGHT = RANDOM.standard_normal((2, 2, 3, 3)).astype(np.float32)
BIAS = np.float32([0.5, -0.25]).reshape(1, 2, 1, 1)


def params(low: float = -1.0, high: float = 2.0) -> QParams:
    return choose_qparams(low, high, QuantSpec())


def constants(weight: np.ndarray, x: QParams, bias: np.ndarray, axis: int) -> dict[str, np.ndarray]:
    """By their formulas: codes of a weight, its bias in steps of the sums, and what a step of the sums is worth."""
    rest = tuple(a for a in range(weight.ndim) if a != axis)
    scale = (np.abs(weight).max(rest).astype(np.float64) / 127).astype(np.float32)
    zero = np.zeros(len(scale), np.int32)
    codes = numerics.quantize(weight, scale, zero, axis=axis, dtype="int8", qmin=-127, qmax=127)
    real = np.float64(x.scale) * scale
    total = np.rint(bias.reshape(-1) / real) - int(x.zero_point) * codes.astype(np.int64).sum(rest)
    return {"q": codes, "i": total.astype(np.int32).reshape(bias.shape), "m": real.astype(np.float32), "n": zero}


def calls(mod: tvm.IRModule, operator: str) -> list[tvm.relax.Call]:
    return [value for _, value in View(mod).bindings if op_name(value) == operator]


def the(mod: tvm.IRModule, operator: str) -> tvm.relax.Call:
    """The only call of an operator."""
    (found,) = calls(mod, operator)
    return found


def operators(mod: tvm.IRModule) -> list[str]:
    return [op_name(value) for _, value in View(mod).bindings]


def test_convolution_between_codes() -> None:
    """quantize, pad with the zero point, int32 sums, bias with the zero point folded in, requantize with the clip's bounds."""
    body = """c = R.nn.conv2d(x, w, padding=[1, 0, 2, 1], dilation=[1, 1])
a = R.add(c, b)
r = R.clip(a, 0, 1)
d = R.nn.max_pool2d(r)
e = R.add(d, d)
f = R.nn.conv2d(e, w)"""
    found = realized(block(f"{X}, {W}, {B}", body, w=WEIGHT, b=BIAS), {"x": (-1.0, 3.0), "r": (-0.25, 2.0)})
    x, r = params(-1.0, 3.0), params(-0.25, 2.0)
    known = constants(WEIGHT, x, BIAS, 0)
    real = np.float64(x.scale) * (np.abs(WEIGHT).max((1, 2, 3)).astype(np.float64) / 127).astype(np.float32)
    values = [value for _, value in View(found).bindings]
    expected = ["tvmq.quantize", "nn.pad", "nn.conv2d", "add", "tvmq.requantize", "nn.max_pool2d"]
    assert operators(found)[:6] == expected
    assert [int(w) for w in values[1].attrs.pad_width] == [0, 0, 0, 0, 1, 2, 0, 1]
    assert float(values[1].attrs.pad_value) == int(x.zero_point)
    multiplier = (real / np.float64(r.scale)).astype(np.float32)
    for value, array in zip(values[2:5], (known["q"], known["i"], multiplier), strict=True):
        np.testing.assert_array_equal(const_value(value.args[1]), array)
    attrs, zero = values[4].attrs, int(r.zero_point)
    assert (attrs.qmin, attrs.qmax, attrs.axis) == (zero, zero + round(1 / float(r.scale)), 1)


MATRIX = RANDOM.standard_normal((4, 3)).astype(np.float32)
LAYERS = {
    "convolution": (f"{X}, {W}, {B}", "c = R.nn.conv2d(x, w)\na = R.add(c, b)\nr = R.nn.relu(a)", '(1, 2, 2, 2), "float32"',
                    'c = R.nn.conv2d(s, q, padding=0, out_dtype="int32")', WEIGHT, BIAS, 0),
    "dense": ('x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")',
              "m = R.matmul(x, w)\na = R.add(m, b)", '(2, 3), "float32"',
              'c = R.matmul(s, q, out_dtype="int32")', MATRIX, np.float32([1, -1, 0.5]), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_that_only_floats_read_is_dequantized_from_its_sums(name: str) -> None:
    signature, body, result, product, weight, bias, axis = LAYERS[name]
    x = params()
    known = constants(weight, x, bias, axis)
    scale = f'R.const({float(x.scale)!r}, "float32"), R.const({int(x.zero_point)}, "int32")'
    ours = [f"s = R.tvmq.quantize(x, {scale})", product, "d = R.add(c, i)", "f = R.tvmq.dequantize(d, m, n, axis=1)"]
    ours += ["r = R.nn.relu(f)"] if name == "convolution" else []
    integer = ", ".join(f'{key}: R.Tensor({array.shape}, "{array.dtype}")' for key, array in known.items())
    expected = block(f"{signature.partition(', w')[0]}, {integer}", "\n".join(ours), result, **known)
    assert_same(realized(block(signature, body, result, w=weight, b=bias)), expected)


def follow(
    body: str, ranges: dict[str, tuple[float, float]] | None = None, result: str | None = None, **options: object
) -> tvm.IRModule:
    """Two convolutions c and d of x, then the body, realized."""
    start = "c = R.nn.conv2d(x, w, padding=1)\nd = R.nn.conv2d(x, w, padding=1)\n"
    return realized(block(f"{X}, {W}", start + body, result, w=WEIGHT), ranges, **options)


def test_sum_of_two_activations() -> None:
    ranges = {"c": (-1.0, 3.0), "d": (-2.0, 2.0), "r": (0.0, 4.0)}
    attrs = the(follow("a = R.add(c, d)\nr = R.nn.relu(a)", ranges), "tvmq.add").attrs
    c, d, r = (params(*ranges[name]) for name in "cdr")
    given = numerics.add_params(c.scale, int(c.zero_point), d.scale, int(d.zero_point), r.scale)
    assert (attrs.a_multiplier, attrs.b_multiplier, attrs.offset, attrs.shift) == tuple(given)
    assert (attrs.zero_point, attrs.qmin, attrs.qmax) == (0, 0, 255)


def test_product_of_two_activations() -> None:
    ranges = {"c": (-1.0, 3.0), "d": (-2.0, 2.0), "p": (-5.0, 5.0)}
    body = "p = R.multiply(c, d)\ne = R.nn.max_pool2d(p)\nf = R.add(e, e)\ng = R.nn.conv2d(f, w, padding=1)"
    mod = follow(body, ranges)
    c, d, p = (params(*ranges[name]) for name in "cdp")
    product = the(mod, "tvmq.multiply")
    assert (product.attrs.a_zero, product.attrs.b_zero) == (int(c.zero_point), int(d.zero_point))
    (requantize,) = (v for v in calls(mod, "tvmq.requantize") if v.attrs.axis == -1)
    factor = np.float64(c.scale) * np.float64(d.scale) / np.float64(p.scale)
    assert const_value(requantize.args[1]) == np.float32(factor)


def test_average_with_padding_that_does_not_count() -> None:
    """Sums of 1, 2 or 4 pixels are brought to a quarter by integer factors."""
    body = "p = R.nn.avg_pool2d(d, pool_size=(2, 2), strides=(2, 2), padding=(1, 1, 1, 1), count_include_pad=False)"
    mod = follow(body, result='(1, 2, 3, 3), "float32"')
    np.testing.assert_array_equal(const_value(the(mod, "multiply").args[1]), [[4, 2, 4], [2, 1, 2], [4, 2, 4]])
    assert const_value(calls(mod, "tvmq.dequantize")[-1].args[1]) == np.float32(np.float64(params().scale) / 4)


@pytest.mark.parametrize("mode, factors", [("float", []), ("power_of_two", [round(2**22 / 9)])])
def test_averages_of_nine(mode: str, factors: list[int]) -> None:
    """1 / 9 is no shift: in mode power_of_two the sum is multiplied first."""
    body = "a = R.add(c, d)\np = R.nn.avg_pool2d(a, pool_size=(3, 3), padding=(1, 1, 1, 1), count_include_pad=True)"
    assert [const_value(v.args[1]).item() for v in calls(follow(body, requantize=mode), "multiply")] == factors


TABLES = {
    "sigmoid multiply": (
        "a = R.add(c, d)\ns = R.sigmoid(a)\nt = R.multiply(a, s)\ne = R.nn.conv2d(t, w, padding=1)",
        {"a": (-4, 4), "t": (-0.5, 4)},
        lambda: numerics.make_table(lambda x: x / (1 + np.exp(-x)), params(-4, 4), params(-0.5, 4)),
    ),
    # only floats read it: a table of floats
    "sigmoid": (
        "a = R.add(c, d)\ns = R.sigmoid(a)\ny = R.tril(s)",
        {"a": (-4, 4)},
        lambda: (1 / (1 + np.exp(-numerics.real_values(params(-4, 4))))).astype(np.float32),
    ),
    # relu(c) has codes of its own; relu(c) + c is one function of c all the same
    "relu add": (
        "a = R.nn.relu(c)\nb = R.add(a, c)\ne = R.nn.conv2d(b, w, padding=1)\nf = R.nn.conv2d(a, w, padding=1)\ng = R.add(e, f)",
        {"c": (-2, 2), "a": (0, 2), "b": (-2, 4)},
        lambda: numerics.make_table(lambda x: np.maximum(x, 0) + x, params(-2, 2), params(-2, 4)),
    ),
}


@pytest.mark.parametrize("function", TABLES)
def test_tables_of_functions(function: str) -> None:
    body, ranges, expected = TABLES[function]
    table = calls(follow(body, ranges), "tvmq.table")[-1]
    np.testing.assert_array_equal(const_value(table.args[1]), expected())
    assert table.attrs.function == function


def test_concat_rescales_a_part_of_another_scale() -> None:
    body = "y = R.concat((c, d), axis=0)\ne = R.nn.conv2d(c, w, padding=1)\nz = R.concat((y, e), axis=0)\nend = R.nn.max_pool2d(z)"
    mod = follow(body, {"c": (0.0, 1.0), "d": (0.0, 4.0), "e": (0.0, 4.0)}, '(3, 2, 4, 4), "float32"')
    table = the(mod, "tvmq.table")
    assert table.attrs.function == "rescale"
    np.testing.assert_array_equal(const_value(table.args[1]), numerics.rescale_table(params(0, 1), params(0, 4)))


def test_padding_moves_codes_with_the_zero_point() -> None:
    mod = realized(block(f"{X}, {W}", "p = R.nn.pad(x, (0, 0, 0, 0, 1, 1, 1, 1))\nc = R.nn.conv2d(p, w)", w=WEIGHT))
    assert float(the(mod, "nn.pad").attrs.pad_value) == int(params().zero_point)


def test_float_readers_share_one_dequantize() -> None:
    mod = follow("a = R.add(c, d)\ny = R.tril(a)\nz = R.triu(a)\no = R.concat((y, z), axis=0)\ne = R.add(y, z)")
    assert operators(mod).count("tvmq.dequantize") == 1


def test_modes_reach_the_operators() -> None:
    found = calls(follow("a = R.add(c, d)", requantize="fixed_point", rounding="TONEAREST"), "tvmq.requantize")
    assert [(v.attrs.mode, v.attrs.rounding) for v in found] == [("fixed_point", "TONEAREST")] * 2


@pytest.mark.parametrize(
    "mode, multiplier, shift",
    [("float", [0.25, 2.0**-7], [0, 0]), ("fixed_point", [2**30, 2**30], [-1, -6]), ("power_of_two", [0, 0], [-2, -7])],
)
def test_constants_of_the_modes(mode: str, multiplier: list[float], shift: list[int]) -> None:
    found = requantize_constants(np.float64([0.25, 2.0**-7]), mode)
    assert [array.tolist() for array in found] == [multiplier, shift]
    assert mode != "float" or found[0].dtype == np.float32


def test_facts_are_written_into_the_ledger() -> None:
    ledger = get_ledger(follow("a = R.add(c, d)", {"c": (-1.0, 3.0)}))
    expected = {"scale": float(params(-1, 3).scale), "zero_point": 64, "dtype": "uint8", "bits": 8}
    assert ledger.stage == "realized" and expected.items() <= ledger.layers["c"]["output"].items()


def test_a_float_layer_by_rule_has_borders() -> None:
    body = "a = R.add(c, d)\ne = R.nn.conv2d(a, w, padding=1)\nf = R.nn.conv2d(e, w, padding=1)"
    names = operators(follow(body, rules=[Rule("e", None)]))
    at = [i for i, n in enumerate(names) if n == "nn.conv2d"][2]
    assert names[at - 1] == "tvmq.dequantize" and names[at + 1] == "tvmq.quantize"


@pytest.mark.parametrize("low, high, end", [(-0.5, 1.5, "1.5"), (-0.5, np.inf, "R.prim_value(T.float32('inf'))")])
def test_bounds_of_a_result_in_floats(low: float, high: float, end: str) -> None:
    """Behind the dequantize: a clip with both ends, or one that is only wide."""
    mod = realized(block(f"{X}, {W}", f"c = R.nn.conv2d(x, w, padding=1)\nr = R.clip(c, {low}, {end})", w=WEIGHT))
    assert operators(mod)[-2:] == ["tvmq.dequantize", "clip"]
    bounds = [float(bound.value) for bound in the(mod, "clip").args[1:]]
    assert bounds == [low, min(high, float(np.finfo(np.float32).max))]


INPUT = (
    'x_sq = R.tvmq.simulated_quantize(x, R.const({!r}, "float32"), R.const({}, "int32"), kind="input", tensor="x")\n'
)


def test_codes_that_are_wanted_in_another_scale_go_through_a_table() -> None:
    """A pool has the scale of its input; where someone asks for another behind it, its codes are rescaled."""
    plain = block(f"{X}, {W}", "m = R.nn.max_pool2d(x)\nc = R.nn.conv2d(m, w, padding=1)", w=WEIGHT)
    body = INPUT.format(float(params().scale), 85) + (
        "m = R.nn.max_pool2d(x_sq)\n"
        'm_sq = R.tvmq.simulated_quantize(m, R.const(0.5, "float32"), R.const(7, "int32"), kind="activation", tensor="m")\n'
        'v = R.tvmq.simulated_quantize(w, R.const(0.5, "float32"), R.const(0, "int32"), kind="weight", '
        'tensor="c_weight", dtype="int8", symmetric=True)\nc = R.nn.conv2d(m_sq, v, padding=1)'
    )
    mod = with_ledger(block(f"{X}, {W}", body, w=WEIGHT), get_ledger(calibrated(plain)))
    wanted = QParams(np.float32(0.5), np.int32(7), QuantSpec())
    np.testing.assert_array_equal(
        const_value(the(realize(mod), "tvmq.table").args[1]), numerics.rescale_table(params(), wanted)
    )


def test_sums_that_leave_int32_stay_float() -> None:
    """70000 products of 255 * 127 end beyond 2^31."""
    signature = 'x: R.Tensor((1, 70000), "float32"), w: R.Tensor((70000, 1), "float32")'
    mod = block(signature, "head = R.matmul(x, w)", '(1, 1), "float32"', w=np.ones((70000, 1), np.float32))
    (entry,) = get_ledger(realized(mod)).layers.values()
    assert entry["precision"] == "float" and "70000 products" in entry["why"]
    assert get_ledger(realized(mod, nbit_weight=7)).stage == "realized"


SIGNATURE = f'{X}, {W}, p: R.Tensor((1, 2, 4, 4), "float32"), s: R.Tensor((2,), "float32")'
ARRAYS = {"w": WEIGHT, "p": np.ones((1, 2, 4, 4), np.float32), "s": np.ones(2, np.float32)}
C = "c = R.nn.conv2d({}, {}, padding=1)\n"
SIMULATED = INPUT.format(0.1, 3) + (
    "v = R.tvmq.simulated_quantize(w, R.const(0.1, 'float32'), R.const(0, 'int32'), kind='weight', tensor='c_weight', "
    "dtype='int8', symmetric=True)\n" + C.format("x_sq", "v") +
    "c_sq = R.tvmq.simulated_quantize(c, R.const(0.1, 'float32'), R.const(3, 'int32'), kind='activation', tensor='c')\n"
)  # fmt: skip


NEED_A_SCALE = ["y = R.add({0}, {1})\nz = R.nn.conv2d(y, w, padding=1)", "y = R.maximum({0}, p)", "y = R.multiply({0}, p)",
                "y = R.nn.prelu({0}, s, axis=1)"]  # fmt: skip


@pytest.mark.parametrize("body, bare, message", [
    ("", C.format("x", "w"), "realize: activation 'x' has no codes; was the module annotated"),
    ("", INPUT.format(0.5, 0) + C.format("x_sq", "w"), "realize, conv2d 'c': argument 1 carries no calibrated"),
    *(
        (b.format("c", "x"), SIMULATED + b.format("c_sq", "x_sq"), "'y': its result carries no scale")
        for b in NEED_A_SCALE
    ),
])  # fmt: skip
def test_a_module_that_is_not_as_annotated_as_its_ledger_says(body: str, bare: str, message: str) -> None:
    ledger = get_ledger(calibrated(block(SIGNATURE, C.format("x", "w") + body, **ARRAYS)))
    with pytest.raises(StageError, match=message):
        realize(with_ledger(block(SIGNATURE, bare, **ARRAYS), ledger))
