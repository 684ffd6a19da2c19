"""Layer norm in integers: between sums of a stream and products, scaled channels, results, what stays float."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.families.roads import quantize_everywhere
from tests.support.models.networks import block, snr
from tvmq.errors import RangeError
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, dtype_of, op_name

RANDOM = np.random.default_rng(1)
CONSTANTS = {
    "gamma": (RANDOM.standard_normal(24) + 1).astype(np.float32),
    "beta": RANDOM.standard_normal(24).astype(np.float32),
    "w": (RANDOM.standard_normal((24, 24)) / 5).astype(np.float32),
    "u": (RANDOM.standard_normal((24, 24)) / 5).astype(np.float32),
    "c": np.exp2(RANDOM.integers(-3, 4, 24)).astype(np.float32),
}
SIGNATURE = 'x: R.Tensor((2, 7, 24), "float32"), ' + ", ".join(
    f'{name}: R.Tensor({array.shape}, "float32")' for name, array in CONSTANTS.items()
)
RESULT = '(2, 7, 24), "float32"'
NORM = "R.nn.layer_norm({}, gamma, beta, axes=[-1])"
RMS = "R.nn.rms_norm({}, gamma, axes=[-1])"
PRE = "a = R.add(x, R.matmul(x, w))\nn = {}\nd = R.matmul(n, u)\ne = R.add(a, d)\nm = {}\ny = R.matmul(m, w)"
POST = "a = R.add(x, R.matmul(x, w))\nn = {}\ne = R.add(n, R.matmul(n, u))\nm = {}\ny = R.matmul(m, w)"
BODIES = {
    "pre": PRE.format(NORM.format("a"), NORM.format("e")),
    "post": POST.format(NORM.format("a"), NORM.format("e")),
    "rms": PRE.format(RMS.format("a"), RMS.format("e")),
    "scaled": f"n = {NORM.format('R.matmul(x, w)')}\nm = R.multiply(n, c)\ny = R.add(n, R.matmul(m, u))",
    "result": f"y = {NORM.format('R.add(x, R.matmul(x, w))')}",
}


def model(body: str) -> tvmq.tvm.IRModule:
    """The float module."""
    return block(SIGNATURE, body, RESULT, **CONSTANTS)


def feeds() -> list[dict[str, np.ndarray]]:
    """Tokens with channels of different size; one sample is all zeros."""
    made = np.random.default_rng(0).standard_normal((6, 2, 7, 24)) * np.geomspace(0.1, 10, 24)
    made[3] = 0
    return [{"x": x} for x in made.astype(np.float32)]


def quantized(body: str, **options: object) -> tvmq.tvm.IRModule:
    """In integers; built for every instruction set, equal to the definition."""
    usual = {"integer_layer_norm": True, "residual_streams": "int16", "requantize": "fixed_point"}
    return quantize_everywhere(
        model(body), feeds(), *feeds()[2:4], **{**usual, "weight_rounding": "nearest", **options}
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_streams_and_norms_are_integers_between_their_borders(name: str) -> None:
    made = quantized(BODIES[name])
    floats = [op_name(v) for var, v in View(made).bindings if dtype_of(var) == "float32"]
    assert floats == ["tvmq.dequantize"]  # of the result
    assert "tvmq.integer_layer_norm" in [op_name(v) for _, v in View(made).bindings]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pre", "rms"])
def test_as_near_as_the_float_norm(name: str) -> None:
    usual = tvmq.build(quantized(BODIES[name], integer_layer_norm=False))
    executables = tvmq.build(model(BODIES[name])), tvmq.build(quantized(BODIES[name])), usual
    true, found, before = (np.concatenate([exe.run(feed)[0] for feed in feeds()]) for exe in executables)
    assert snr(true, found) > snr(true, before) - 0.3


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "expected"), [("pre", ["uint8", "uint8"]), ("post", ["int16", "uint8"])])
@pytest.mark.slow
def test_bits_of_the_result_are_those_of_the_readers(name: str, expected: list[str]) -> None:
    made = quantized(BODIES[name])
    assert [dtype_of(var) for var, v in View(made).bindings if op_name(v) == "tvmq.integer_layer_norm"] == expected


@pytest.mark.slow
def test_scaled_channels_are_read_from_sixteen_bits() -> None:
    shifts = [(v, var) for var, v in View(quantized(BODIES["scaled"])).bindings if op_name(v) == "tvmq.scale_shift"]
    assert [(dtype_of(v.args[0]), dtype_of(var)) for v, var in shifts] == [("int16", "uint8")]


@pytest.mark.slow
def test_float_streams_are_quantized_to_sixteen_bits() -> None:
    made = quantized(BODIES["pre"], residual_streams="float")
    wide = [v for var, v in View(made).bindings if op_name(v) == "tvmq.quantize" and dtype_of(var) == "int16"]
    assert len(wide) == 2


@pytest.mark.slow
def test_off_by_default() -> None:
    made = quantized(BODIES["pre"], integer_layer_norm=False)
    assert "tvmq.layer_norm" in [op_name(v) for _, v in View(made).bindings]
    assert get_ledger(made).layers["n"]["why"] == "default: its integer form is asked for by integer_layer_norm=True"


def test_epsilon_beyond_its_integer_is_refused_by_name() -> None:
    small = [{"x": feed["x"] * np.float32(1e-12)} for feed in feeds()]
    config = tvmq.qconfig(integer_layer_norm=True, residual_streams="int16")
    with pytest.raises(
        RangeError, match="realize, layer 'n': integer_layer_norm: epsilon 1e-05 is .* 2\\^61 is the most"
    ):
        tvmq.quantize(model(BODIES["pre"]), None, small, config=config, guard=None)


def test_rows_that_it_does_not_take() -> None:
    signature = 'x: R.Tensor((1, 20000), "float32"), g: R.Tensor((20000,), "float32")'
    mod = block(signature, "y = R.nn.rms_norm(x, g, axes=[-1])", '(1, 20000), "float32"', g=np.ones(20000, np.float32))
    made = tvmq.quantize(
        mod, None, [{"x": np.ones((1, 20000), np.float32)}], config=tvmq.qconfig(integer_layer_norm=True), guard=None
    )
    why = "limit: a norm of 20000 values, integer_layer_norm takes 16384"
    assert get_ledger(made).layers["y"]["why"] == why
