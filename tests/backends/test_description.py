"""Descriptions of backends: their options, refusals and names."""

from __future__ import annotations

import pytest

from tests.support.devices.emulated_device import DEVICE
from tvmq.backends import backend_named
from tvmq.backends.cpu import CPU
from tvmq.backends.cpu_with_dot_product import CPU_WITH_DOT_PRODUCT
from tvmq.backends.description import Backend
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig, qconfig

FITTING = {
    "dtype_input": "int8", "scheme": "symmetric", "per_channel": False, "requantize": "power_of_two",
    "partition_conversions": "fully_integral", "equalization": True,
}  # fmt: skip
INT8, UINT8 = QuantSpec("int8", symmetric=True), QuantSpec("uint8")


def test_options_follow_the_description():
    assert CPU.options() == {"weight_scale": "lanes"} and CPU_WITH_DOT_PRODUCT.options() == {}
    assert DEVICE.options() == FITTING
    assert Backend("toy", activations=("int8",)).options() == {"dtype_input": "int8"}
    assert Backend("toy", weights=("int16",)).options() == {"dtype_weight": "int16"}
    assert Backend("toy", weights=("uint8", "int16")).options() == {"dtype_weight": "int16"}
    assert Backend("toy", roundings=("TONEAREST",)).options() == {"rounding": "TONEAREST"}


def test_options_that_nobody_gave_follow():
    fitted = QConfig().for_backend(DEVICE)
    assert {name: getattr(fitted, name) for name in FITTING} == FITTING
    assert fitted.for_backend(DEVICE) == fitted
    with qconfig(calibrate_mode="minmax"):
        assert qconfig().for_backend(DEVICE).calibrate_mode == "minmax"
    assert QConfig().for_backend(CPU_WITH_DOT_PRODUCT) == QConfig()
    assert QConfig().for_backend(CPU).weight_scale == "lanes" and QConfig().for_backend(DEVICE).weight_scale == "max"
    assert qconfig(weight_scale="mse").for_backend(CPU).weight_scale == "mse"
    for other in ({"activations": None}, {"dtype_input": "int16"}, {"nbit_input": 6}):  # no products of 8-bit codes
        assert qconfig(**other).for_backend(CPU).weight_scale == "max"


@pytest.mark.parametrize(("given", "words"), [
    ({"dtype_input": "uint8"}, "dtype_input='uint8': computes no uint8 activations; use dtype_input='int8'"),
    ({"scheme": "asymmetric"}, "scheme='asymmetric': has no zero points; use scheme='symmetric'"),
    ({"per_channel": True}, "per_channel=True: takes one scale .*; use per_channel=False"),
    ({"requantize": "float"}, "requantize='float': does not requantize float; use requantize='power_of_two'"),
    ({"dtype_weight": "int16"}, "dtype_weight='int16': computes no int16 weights; use dtype_weight='int8'"),
    ({"activations": "dynamic"}, "activations='dynamic': scales at run time .*; use activations='static'"),
])  # fmt: skip
def test_options_given_are_refused_by_name(given: dict[str, object], words: str):
    with pytest.raises(ConfigError, match=f"backend emulated cannot express {words}"):
        qconfig(**given).for_backend(DEVICE)


def test_all_refused_options_are_in_one_error():
    with pytest.raises(ConfigError) as error:
        qconfig(dtype_input="uint8", per_channel=True, requantize="fixed_point").for_backend(DEVICE)
    assert all(f"use {name}=" in str(error.value) for name in ("dtype_input", "per_channel", "requantize"))


def test_a_backend_with_floats_refuses_no_option():
    """Layers that it excludes stay float instead, each with the reason."""
    config = qconfig(dtype_input="uint8").for_backend(Backend("toy", activations=("int8",)))
    assert config.dtype_input == "uint8"


@pytest.mark.parametrize("activations", [None, "dynamic"])
def test_options_of_calibrated_scales_follow_no_other_activations(activations):
    config = qconfig(activations=activations).for_backend(Backend("toy", per_channel=False))
    assert not config.per_channel
    assert not config.equalization


def test_rounding_is_refused():
    toy = Backend("toy", requantize=("power_of_two",), roundings=("UPWARD",), floats=False)
    with pytest.raises(ConfigError, match="rounding='TONEAREST': does not round by TONEAREST; use rounding='UPWARD'"):
        qconfig(rounding="TONEAREST").for_backend(toy)


@pytest.mark.parametrize(("backend", "family", "words"), [
    (Backend("toy", families=frozenset({"conv2d"})), "add", "has no integer add"),
    (Backend("toy", tables=False), "table", "has no tables"),
    (Backend("toy", multipliers=False), "scale_shift", "does not multiply int32 by constants"),
    (Backend("toy", wide=False), "integer_softmax", "has no 64-bit integers, which integer_softmax counts in"),
    (Backend("toy", largest_kernel=3), "conv2d", "has kernels up to 3, not 5"),
    (Backend("toy", zero_points=False), "conv2d", "has no zero points"),
    (Backend("toy", activations=("int8",)), "conv2d", "computes no uint8 activations"),
    (Backend("toy", weights=("int16",)), "conv2d", "computes no int8 weights"),
    (Backend("toy", per_channel=False), "conv2d", "takes one scale for a weight"),
    (Backend("toy", requantize=("fixed_point",)), "conv2d", "does not requantize by float"),
])  # fmt: skip
def test_layers_are_refused_with_a_reason(backend: Backend, family: str, words: str):
    weights = QuantSpec("int8", symmetric=True, per_channel=True)
    reason = backend.refusal(family, UINT8, weights, "float", kernel=(3, 5))
    assert reason is not None and reason.startswith("limit: backend toy ") and words in reason
    assert CPU.refusal(family, UINT8, weights, "float", kernel=(3, 5)) is None


def test_the_device_takes_what_its_options_ask():
    assert DEVICE.refusal("conv2d", INT8, INT8, "power_of_two", kernel=(7, 7)) is None


@pytest.mark.parametrize(("fields", "words"), [
    ({"activations": ("int4",)}, "'activations' must be a tuple of"),
    ({"weights": ("uint8",)}, "codes are signed; add 'int8' or 'int16' to weights=... Got \\('uint8',\\)"),
    ({"activations": ()}, "'activations' must be a tuple of"),
    ({"requantize": ("shift",)}, "'requantize' must be a tuple of float, fixed_point, power_of_two"),
    ({"accumulator_bits": 48}, "'accumulator_bits' must be a whole number in 8..32. Got 48"),
    ({"largest_kernel": 0}, "'largest_kernel' must be None or a positive"),
    ({"families": {"conv2d"}}, "'families' must be None or a frozenset"),
    ({"tables": "yes"}, "'tables' must be a bool"),
    ({"floats": False}, "requantize 'float' needs floats"),
    ({"zero_points": False, "activations": ("uint8",)}, "without zero points activations must be signed"),
])  # fmt: skip
def test_descriptions_are_checked(fields: dict[str, object], words: str):
    with pytest.raises(ConfigError, match=words):
        Backend("toy", **fields)


def test_backends_are_named_or_handed_over():
    assert backend_named(None) is CPU and backend_named("cpu") is CPU
    assert backend_named(DEVICE) is DEVICE
    assert backend_named("tests.support.devices.emulated_device:DEVICE") is DEVICE


@pytest.mark.parametrize(("name", "words"), [
    ("cpus", "did you mean 'cpu'"),
    (3, "Got 3 instead"),
    ("tests.nowhere:DEVICE", "no backend description at 'tests.nowhere:DEVICE'"),
    ("tests.support.devices.emulated_device:NONE", "no backend description"),
    ("tests.support.devices.emulated_device:run", "is a function, not a tvmq.Backend"),
])  # fmt: skip
def test_unknown_backends_are_refused(name: object, words: str):
    with pytest.raises(ConfigError, match=words):
        backend_named(name)
