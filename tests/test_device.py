"""An integer-only device end to end: quantized for its description, checked, and executed by its emulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.conftest import Digits
from tests.passes.nets import NETS
from tests.support.devices.emulated_arithmetic import Overflow, dot, plus, shifted
from tests.support.devices.emulated_device import DEVICE, run
from tests.support.models.networks import Feed
from tvmq import numerics

# Networks of tests/passes/nets.py whose results are sums or codes: nothing of them has to be float
CORNERS = (
    "conv_relu", "residual", "squeeze_excite", "split_branches", "concat_with_input", "concat_of_concat", "maxima",
    "product_with_itself", "average_pools_that_count_pixels", "upsampled",
)  # fmt: skip
FAST = ("resnet8_cifar10", "dscnn_digits")


def assert_executes(mod: tvm.IRModule, feed: Feed) -> None:
    """The device computes every value of the core as the definition says, and so does the compiled module."""
    defined: dict[str, np.ndarray] = {}
    wanted = tvmq.reference.run(mod, feed, watch=lambda name, value: defined.update({name: value}))

    def look(name: str, value: np.ndarray) -> None:
        assert value.dtype == defined[name].dtype, name
        np.testing.assert_array_equal(value, defined[name], err_msg=name)

    exe = tvmq.build(mod)
    host, core, back = (exe[name] for name in ("quantize_inputs", "quantized_main", "dequantize_outputs"))
    codes = host.run(feed)
    found = run(mod, codes, look)
    compiled = core.run(dict(zip((info.name for info in core.input_info), codes, strict=True)))
    for one, other in zip(found, compiled, strict=True):
        np.testing.assert_array_equal(one, other)
    results = back.run(dict(zip((info.name for info in back.input_info), found, strict=True)))
    for one, other in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("rounding", ["UPWARD", "TONEAREST"])  # the unit has one rounding
def test_shifts_of_the_unit_round_as_defined(rounding: str):
    edges = [2**31 - 1, -(2**31) + 1, 2**30, -(2**30), *range(-70, 71)]
    random = np.random.default_rng(0).integers(-(2**31) + 1, 2**31, 2000)
    acc = np.concatenate([edges, random, random >> 8, random >> 16]).astype(np.int32)
    for shift in range(-34, 12):
        got = np.clip(shifted(acc, shift, away=rounding == "TONEAREST"), -127, 127)
        wanted = numerics.requantize(
            acc, 0, shift, zero_point=0, mode="power_of_two", rounding=rounding, dtype="int8", qmin=-127
        )
        np.testing.assert_array_equal(got, wanted, err_msg=str(shift))


def test_the_unit_sees_overflow_and_other_types():
    largest = np.int32([2**31 - 1])
    with pytest.raises(Overflow):
        plus(largest, np.int32(1))
    with pytest.raises(Overflow):
        dot(np.full((1, 3), 2**15, np.int32), np.full((3, 1), 2**15, np.int32))
    with pytest.raises(AssertionError, match="has no float32"):
        plus(np.float32([1]), np.int32(1))


@pytest.mark.slow
def test_the_embedded_network_runs_on_the_device(digits: Digits):
    mod = tvmq.quantize(digits.mod, digits.params, {"image": digits.example.calibration[:32]}, target=DEVICE)
    found = tvmq.check_backend(mod, DEVICE)
    assert found.conforms, str(found)
    for index in range(2):
        assert_executes(mod, {"image": digits.example.test[index : index + 1]})


def corner(name: str, target: Any = DEVICE) -> tuple[tvm.IRModule, Feed]:
    """A small network, quantized with random data, and some of them."""
    net, outputs = NETS[name]()
    mod, params = tvmq.from_onnx(net.model(*outputs))
    shapes = dict(zip(net.inputs, net.shapes, strict=True))
    data = [
        {name: net.random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(3)
    ]
    return tvmq.quantize(mod, params, data, target=target), data[0]


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CORNERS)
def test_corners_run_on_the_device(name: str):
    mod, feed = corner(name)
    found = tvmq.check_backend(mod, DEVICE)
    assert found.conforms, str(found)
    assert_executes(mod, feed)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_networks_of_the_zoo_run_on_the_device(zoo_task: Callable[[str], Any], name: str):
    task = zoo_task(name)
    data = list(task.calibration(batch=1, limit=16))
    mod, params = tvmq.from_onnx(task.model_path, shape={key: value.shape for key, value in data[0].items()})
    mod = tvmq.quantize(mod, params, data, target=DEVICE)
    assert tvmq.check_backend(mod, DEVICE).conforms
    assert_executes(mod, next(task.test_inputs(batch=1)))


@pytest.mark.slow
def test_the_description_is_taken_by_name_too():
    one, other = (corner("conv_relu", target)[0] for target in (DEVICE, "tests.support.devices.emulated_device:DEVICE"))
    tvm.ir.assert_structural_equal(one, other)
    assert '"backend": "emulated"' in str(one["main"].attrs["tvmq.ledger"])


def test_options_outside_are_refused_before_any_data_is_read(digits: Digits):
    def unread():
        raise AssertionError("the data were read")
        yield

    with pytest.raises(tvmq.errors.ConfigError, match="per_channel=True: .*use per_channel=False"):
        tvmq.quantize(digits.mod, digits.params, unread(), target=DEVICE, config=tvmq.qconfig(per_channel=True))


@pytest.mark.slow
def test_sums_beyond_narrow_accumulators_are_refused_by_name():
    with pytest.raises(tvmq.errors.AccumulatorError, match=r"emulated have 16 bits and end at 32767: layer '/conv_0"):
        corner("conv_relu", replace(DEVICE, accumulator_bits=16))
    corner("conv_relu", replace(DEVICE, accumulator_bits=24))


@pytest.mark.slow
def test_averages_that_are_no_shifts_are_refused_by_name():
    shifts = replace(DEVICE, multipliers=False)
    with pytest.raises(tvmq.errors.IntegralError, match="as the average of .* quantize for a backend that has it"):
        corner("average_pools_that_count_pixels", shifts)
