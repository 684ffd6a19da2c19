"""realize: every family as integer operators, borders, the proof that sums fit, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

from tests.passes.stages import calibrated, realized
from tests.support.models.networks import assert_same, at_stage, block
from tvmq import numerics
from tvmq.errors import StageError
from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.view import View, const_value, op_name
from tvmq.numerics.spec import QParams, QuantSpec, choose_qparams
from tvmq.options.rules import Rule
from tvmq.passes.realize import realize, requantize_constants

X = 'x: R.Tensor((1, 2, 4, 4), "float32")'
W = 'w: R.Tensor((2, 2, 3, 3), "float32")'
B = 'b: R.Tensor((1, 2, 1, 1), "float32")'
RANDOM = np.random.default_rng(0)
WEIGHT = RANDOM.standard_normal((2, 2, 3, 3)).astype(np.float32)
BIAS = np.float32([0.5, -0.25]).reshape(1, 2, 1, 1)
CONV = "c = R.nn.conv2d(x, w, padding=[1, 0, 2, 1], dilation=[1, 1])"
INTEGER = ', q: R.Tensor((2, 2, 3, 3), "int8"), i: R.Tensor((1, 2, 1, 1), "int32"), m: R.Tensor((2,), "float32"), n: R.Tensor((2,), "int32")'


def params(low: float = -1.0, high: float = 2.0, spec: QuantSpec | None = None) -> QParams:
    return choose_qparams(low, high, spec or QuantSpec())


def constants(x: QParams, bias: np.ndarray | None) -> dict[str, np.ndarray]:
    """Integer weight and bias of the convolution by their formulas, and the real scale of its sums."""
    scale = np.abs(WEIGHT).max((1, 2, 3)).astype(np.float64) / 127
    scale = scale.astype(np.float32)
    codes = numerics.quantize(WEIGHT, scale, np.zeros(2, np.int32), axis=0, dtype="int8", qmin=-127, qmax=127)
    real = np.float64(x.scale) * scale
    rounded = np.rint((bias.reshape(-1) if bias is not None else np.zeros(2)) / real)
    total = rounded - int(x.zero_point) * codes.astype(np.int64).sum((1, 2, 3))
    return {"q": codes, "i": total.astype(np.int32).reshape(1, 2, 1, 1), "real": real}


def quantize(name: str, source: str, p: QParams) -> str:
    return f'{name} = R.tvmq.quantize({source}, R.const({float(p.scale)!r}, "float32"), R.const({int(p.zero_point)}, "int32"))'


def dequantize(name: str, source: str, p: QParams) -> str:
    return quantize(name, source, p).replace("tvmq.quantize", "tvmq.dequantize")


def test_convolution_between_codes() -> None:
    """quantize, pad with the zero point, int32 sums, bias with the zero point folded in, requantize with the clip's bounds."""
    before = block(
        f"{X}, {W}, {B}",
        f"{CONV}\na = R.add(c, b)\nr = R.clip(a, 0, 1)\nd = R.nn.max_pool2d(r)\ne = R.add(d, d)\nf = R.nn.conv2d(e, w)",
        w=WEIGHT,
        b=BIAS,
    )
    found = realized(before, {"x": (-1.0, 3.0), "r": (-0.25, 2.0)})
    x, r = params(-1.0, 3.0), params(-0.25, 2.0)
    known = constants(x, BIAS)
    multiplier = (known["real"] / np.float64(r.scale)).astype(np.float32)
    values = [value for _, value in View(found).bindings]
    names = [op_name(v) for v in values[:6]]
    assert names == ["tvmq.quantize", "nn.pad", "nn.conv2d", "add", "tvmq.requantize", "nn.max_pool2d"]
    assert [int(w) for w in values[1].attrs.pad_width] == [0, 0, 0, 0, 1, 2, 0, 1]
    assert float(values[1].attrs.pad_value) == int(x.zero_point)
    np.testing.assert_array_equal(const_value(values[2].args[1]), known["q"])
    np.testing.assert_array_equal(const_value(values[3].args[1]), known["i"])
    np.testing.assert_array_equal(const_value(values[4].args[1]), multiplier)
    attrs = values[4].attrs
    assert (attrs.qmin, attrs.qmax, attrs.axis) == (
        int(r.zero_point),
        int(r.zero_point) + round(1 / float(r.scale)),
        1,
    )


def test_a_convolution_that_only_floats_read_is_dequantized_from_its_sums() -> None:
    before = block(
        f"{X}, {W}, {B}",
        "c = R.nn.conv2d(x, w)\na = R.add(c, b)\nr = R.nn.relu(a)",
        '(1, 2, 2, 2), "float32"',
        w=WEIGHT,
        b=BIAS,
    )
    x = params()
    known = constants(x, BIAS)
    body = [
        quantize("s", "x", x),
        'c = R.nn.conv2d(s, q, padding=0, out_dtype="int32")',
        "d = R.add(c, i)",
        "f = R.tvmq.dequantize(d, m, n, axis=1)",
        "r = R.nn.relu(f)",
    ]
    expected = block(
        X + INTEGER,
        "\n".join(body),
        '(1, 2, 2, 2), "float32"',
        q=known["q"],
        i=known["i"],
        m=known["real"].astype(np.float32),
        n=np.zeros(2, np.int32),
    )
    assert_same(realized(before), expected)


MATRIX = RANDOM.standard_normal((4, 3)).astype(np.float32)


def test_dense() -> None:
    signature = 'x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")'
    bias = np.float32([1, -1, 0.5])
    before = block(signature, "m = R.matmul(x, w)\na = R.add(m, b)", '(2, 3), "float32"', w=MATRIX, b=bias)
    x = params()
    scale = (np.abs(MATRIX).max(0).astype(np.float64) / 127).astype(np.float32)
    codes = numerics.quantize(MATRIX, scale, np.zeros(3, np.int32), axis=1, dtype="int8", qmin=-127, qmax=127)
    real = np.float64(x.scale) * scale
    total = np.rint(bias / real) - int(x.zero_point) * codes.astype(np.int64).sum(0)
    body = [
        quantize("s", "x", x),
        'd = R.matmul(s, q, out_dtype="int32")',
        "e = R.add(d, i)",
        "f = R.tvmq.dequantize(e, m, n, axis=1)",
    ]
    integer = 'x: R.Tensor((2, 4), "float32"), q: R.Tensor((4, 3), "int8"), i: R.Tensor((3,), "int32"), m: R.Tensor((3,), "float32"), n: R.Tensor((3,), "int32")'
    expected = block(
        integer,
        "\n".join(body),
        '(2, 3), "float32"',
        q=codes,
        i=total.astype(np.int32),
        m=real.astype(np.float32),
        n=np.zeros(3, np.int32),
    )
    assert_same(realized(before), expected)


def follow(body: str, ranges: dict[str, tuple[float, float]] | None = None, **options: object) -> tvm.IRModule:
    """Two convolutions c and d of x, then the body, realized."""
    start = "c = R.nn.conv2d(x, w, padding=1)\nd = R.nn.conv2d(x, w, padding=1)\n"
    return realized(block(f"{X}, {W}", start + body, w=WEIGHT), ranges, **options)


def the(mod: tvm.IRModule, operator: str) -> tvm.relax.Call:
    """The only call of an operator."""
    (found,) = [value for _, value in View(mod).bindings if op_name(value) == operator]
    return found


def test_sum_of_two_activations() -> None:
    ranges = {"c": (-1.0, 3.0), "d": (-2.0, 2.0), "r": (0.0, 4.0)}
    mod = follow("a = R.add(c, d)\nr = R.nn.relu(a)", ranges)
    c, d, r = (params(*ranges[name]) for name in "cdr")
    attrs = the(mod, "tvmq.add").attrs
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
    requantize = next(v for _, v in View(mod).bindings if op_name(v) == "tvmq.requantize" and v.attrs.axis == -1)
    factor = np.float64(c.scale) * np.float64(d.scale) / np.float64(p.scale)
    assert const_value(requantize.args[1]) == np.float32(factor)


def test_average_with_padding_that_does_not_count() -> None:
    """Sums of 1, 2 or 4 pixels are brought to a quarter by integer factors."""
    body = "p = R.nn.avg_pool2d(c, pool_size=(2, 2), strides=(2, 2), padding=(1, 1, 1, 1), count_include_pad=False)"
    before = block(f"{X}, {W}", f"c = R.nn.conv2d(x, w, padding=1)\n{body}", '(1, 2, 3, 3), "float32"', w=WEIGHT)
    mod = realized(before)
    factors = const_value(the(mod, "multiply").args[1])
    np.testing.assert_array_equal(factors, [[4, 2, 4], [2, 1, 2], [4, 2, 4]])
    assert const_value(the(mod, "tvmq.dequantize").args[1]) == np.float32(np.float64(params().scale) / 4)


@pytest.mark.parametrize("mode, factor", [("float", 1), ("power_of_two", round(2**22 / 9))])
def test_averages_of_nine(mode: str, factor: int) -> None:
    """1 / 9 is no shift: in mode power_of_two the sum is multiplied first."""
    mod = follow(
        "a = R.add(c, d)\np = R.nn.avg_pool2d(a, pool_size=(3, 3), padding=(1, 1, 1, 1), count_include_pad=True)",
        requantize=mode,
    )
    multiply = [const_value(v.args[1]).item() for _, v in View(mod).bindings if op_name(v) == "multiply"]
    assert multiply == ([] if factor == 1 else [factor])


def test_table_of_a_function() -> None:
    mod = follow(
        "a = R.add(c, d)\ns = R.sigmoid(a)\nt = R.multiply(a, s)\ne = R.nn.conv2d(t, w, padding=1)",
        {"a": (-4, 4), "t": (-0.5, 4)},
    )
    table = the(mod, "tvmq.table")
    a, t = params(-4, 4), params(-0.5, 4)
    expected = numerics.make_table(lambda x: x / (1 + np.exp(-x)), a, t)
    np.testing.assert_array_equal(const_value(table.args[1]), expected)
    assert table.attrs.function == "sigmoid multiply"


def test_table_that_only_floats_read_gives_floats() -> None:
    mod = follow("a = R.add(c, d)\ns = R.sigmoid(a)\ny = R.tril(s)", {"a": (-4, 4)})
    values, a = const_value(the(mod, "tvmq.table").args[1]), params(-4, 4)
    real = numerics.real_values(a)
    np.testing.assert_array_equal(values, (1 / (1 + np.exp(-real))).astype(np.float32))


def test_a_link_that_is_rounded_for_others_is_not_rounded_in_the_table() -> None:
    """relu(c) has codes of its own; relu(c) + c is one function of c all the same."""
    body = "a = R.nn.relu(c)\nb = R.add(a, c)\ne = R.nn.conv2d(b, w, padding=1)\nf = R.nn.conv2d(a, w, padding=1)\ng = R.add(e, f)"
    mod = follow(body, {"c": (-2, 2), "a": (0, 2), "b": (-2, 4)})
    tables = [v for _, v in View(mod).bindings if op_name(v) == "tvmq.table"]
    expected = numerics.make_table(lambda x: np.maximum(x, 0) + x, params(-2, 2), params(-2, 4))
    np.testing.assert_array_equal(const_value(tables[1].args[1]), expected)


def test_concat_rescales_a_part_of_another_scale() -> None:
    body = "y = R.concat((c, d), axis=0)\ne = R.nn.conv2d(c, w, padding=1)\nz = R.concat((y, e), axis=0)"
    body += "\nend = R.nn.max_pool2d(z)"
    start = "c = R.nn.conv2d(x, w, padding=1)\nd = R.nn.conv2d(x, w, padding=1)\n"
    before = block(f"{X}, {W}", start + body, '(3, 2, 4, 4), "float32"', w=WEIGHT)
    mod = realized(before, {"c": (0.0, 1.0), "d": (0.0, 4.0), "e": (0.0, 4.0)})
    table = the(mod, "tvmq.table")
    assert table.attrs.function == "rescale"
    np.testing.assert_array_equal(const_value(table.args[1]), numerics.rescale_table(params(0, 1), params(0, 4)))


def test_padding_moves_codes_with_the_zero_point() -> None:
    mod = realized(block(f"{X}, {W}", "p = R.nn.pad(x, (0, 0, 0, 0, 1, 1, 1, 1))\nc = R.nn.conv2d(p, w)", w=WEIGHT))
    assert float(the(mod, "nn.pad").attrs.pad_value) == int(params().zero_point)


def test_float_readers_share_one_dequantize() -> None:
    mod = follow("a = R.add(c, d)\ny = R.tril(a)\nz = R.triu(a)\no = R.concat((y, z), axis=0)\ne = R.add(y, z)")
    assert [op_name(v) for _, v in View(mod).bindings].count("tvmq.dequantize") == 1


def test_modes_reach_the_operators() -> None:
    mod = follow("a = R.add(c, d)", requantize="fixed_point", rounding="TONEAREST")
    found = [v.attrs for _, v in View(mod).bindings if op_name(v) == "tvmq.requantize"]
    assert len(found) == 2 and {(a.mode, a.rounding) for a in found} == {("fixed_point", "TONEAREST")}


def test_constants_of_the_modes() -> None:
    factor = np.float64([0.25, 2.0**-7])
    multiplier, shift = requantize_constants(factor, "float")
    assert multiplier.dtype == np.float32 and multiplier.tolist() == [0.25, 2.0**-7] and shift.tolist() == [0, 0]
    multiplier, shift = requantize_constants(factor, "fixed_point")
    assert (multiplier.tolist(), shift.tolist()) == ([2**30] * 2, [-1, -6])
    multiplier, shift = requantize_constants(factor, "power_of_two")
    assert (multiplier.tolist(), shift.tolist()) == ([0, 0], [-2, -7])


def test_facts_are_written_into_the_ledger() -> None:
    mod = follow("a = R.add(c, d)", {"c": (-1.0, 3.0)})
    ledger = get_ledger(mod)
    output = ledger.layers["c"]["output"]
    assert ledger.stage == "realized"
    assert (output["scale"], output["zero_point"], output["dtype"], output["bits"]) == (
        float(params(-1, 3).scale),
        64,
        "uint8",
        8,
    )


def test_a_float_layer_by_rule_has_borders() -> None:
    mod = follow(
        "a = R.add(c, d)\ne = R.nn.conv2d(a, w, padding=1)\nf = R.nn.conv2d(e, w, padding=1)",
        rules=[Rule("e", None)],
    )
    names = [op_name(v) for _, v in View(mod).bindings]
    at = [i for i, n in enumerate(names) if n == "nn.conv2d"][2]
    assert names[at - 1] == "tvmq.dequantize" and names[at + 1] == "tvmq.quantize"


def test_bounds_of_a_result_in_floats() -> None:
    """Behind the dequantize: a clip with both ends, or one that is only wide."""
    for low, high in ((-0.5, 1.5), (-0.5, np.inf)):
        end = "R.prim_value(T.float32('inf'))" if high == np.inf else str(high)
        mod = realized(block(f"{X}, {W}", f"c = R.nn.conv2d(x, w, padding=1)\nr = R.clip(c, {low}, {end})", w=WEIGHT))
        *_, dequantize, clip = [value for _, value in View(mod).bindings]
        assert op_name(dequantize) == "tvmq.dequantize" and op_name(clip) == "clip"
        assert float(clip.args[1].value) == low
        assert float(clip.args[2].value) == min(high, float(np.finfo(np.float32).max))


def test_codes_that_are_wanted_in_another_scale_go_through_a_table() -> None:
    """A pool has the scale of its input; where someone asks for another behind it, its codes are rescaled."""
    plain = block(f"{X}, {W}", "m = R.nn.max_pool2d(x)\nc = R.nn.conv2d(m, w, padding=1)", w=WEIGHT)
    body = [
        f'x_sq = R.tvmq.simulated_quantize(x, R.const({float(params().scale)!r}, "float32"), R.const(85, "int32"), '
        'kind="input", tensor="x")',
        "m = R.nn.max_pool2d(x_sq)",
        'm_sq = R.tvmq.simulated_quantize(m, R.const(0.5, "float32"), R.const(7, "int32"), kind="activation", tensor="m")',
        'v = R.tvmq.simulated_quantize(w, R.const(0.5, "float32"), R.const(0, "int32"), kind="weight", '
        'tensor="c_weight", dtype="int8", symmetric=True)',
        "c = R.nn.conv2d(m_sq, v, padding=1)",
    ]
    mod = block(f"{X}, {W}", "\n".join(body), w=WEIGHT)
    table = the(realize(with_ledger(mod, get_ledger(calibrated(plain)))), "tvmq.table")
    wanted = QParams(np.float32(0.5), np.int32(7), QuantSpec())
    np.testing.assert_array_equal(const_value(table.args[1]), numerics.rescale_table(params(), wanted))


def test_a_sum_without_a_scale_is_refused() -> None:
    plain = block(f"{X}, {W}", "c = R.nn.conv2d(x, w, padding=1)\na = R.add(c, c)\ny = R.add(c, x)", w=WEIGHT)
    stripped = calibrated(plain)
    lines = stripped.script(show_meta=True).replace("R.output(y_sq)", "R.output(y)").replace("return y_sq", "return y")
    lines = "\n".join(line for line in lines.splitlines() if not line.strip().startswith("y_sq:"))
    broken = tvm.script.from_source(lines)
    with pytest.raises(StageError, match="realize, add 'y': its result carries no scale"):
        realize(broken)


def test_sums_that_leave_int32_stay_float() -> None:
    """70000 products of 255 * 127 end beyond 2^31."""
    signature = 'x: R.Tensor((1, 70000), "float32"), w: R.Tensor((70000, 1), "float32")'
    mod = block(signature, "head = R.matmul(x, w)", '(1, 1), "float32"', w=np.ones((70000, 1), np.float32))
    (entry,) = get_ledger(realized(mod)).layers.values()
    assert entry["precision"] == "float" and "70000 products" in entry["why"]
    assert get_ledger(realized(mod, nbit_weight=7)).stage == "realized"


def test_other_stages_are_refused() -> None:
    mod = block(f"{X}, {W}", CONV, '(1, 2, 5, 3), "float32"', w=WEIGHT)
    with pytest.raises(StageError, match="realize: the module is 'prepared', this pass needs 'calibrated'"):
        realize(at_stage(mod, "prepared"))
    with pytest.raises(StageError, match="realize: the module is 'realized'"):
        realize(realized(mod))


def test_a_module_that_lost_its_weights_scale_is_refused() -> None:
    """The ledger of a calibrated module on bindings that were never annotated."""
    plain = block(f"{X}, {W}", CONV, '(1, 2, 5, 3), "float32"', w=WEIGHT)
    ledger = get_ledger(calibrated(plain))
    with pytest.raises(StageError, match="realize: activation 'x' has no codes; was the module annotated"):
        realize(with_ledger(plain, ledger))


def test_an_uncalibrated_weight_is_refused() -> None:
    text = block(
        f"{X}, {W}",
        'x_sq = R.tvmq.simulated_quantize(x, R.const(0.5, "float32"), R.const(0, "int32"), kind="input", tensor="x")\nc = R.nn.conv2d(x_sq, w)',
        '(1, 2, 2, 2), "float32"',
        w=WEIGHT,
    )
    ledger = get_ledger(calibrated(block(f"{X}, {W}", "c = R.nn.conv2d(x, w)", '(1, 2, 2, 2), "float32"', w=WEIGHT)))
    with pytest.raises(StageError, match="realize, conv2d 'c': argument 1 carries no calibrated scale"):
        realize(with_ledger(text, ledger))
