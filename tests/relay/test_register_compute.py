"""register_compute: simulated_quantize by code of one's own, as Relay's file of it was written, and by NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tvm import te

import tvmq
from tvmq import relay
from tvmq.errors import ConfigError, UnsupportedOpError
from tvmq.extension import simulate_by
from tvmq.relay.op import op as _reg
from tvmq.relay.op.annotation import SIMULATED
from tvmq.relay.quantize import QAnnotateKind
from tvmq.relay.tvm import topi

_RNG = np.random.default_rng(5)
# sixty-fourths: float sums of their products are exact, and steps of 1/32 round them
X = {"data": np.rint(_RNG.normal(scale=200, size=(1, 3, 6, 6))).astype("float32") / 64}
WEIGHT = np.rint(_RNG.normal(scale=64, size=(4, 3, 3, 3))).astype("float32") / 64


@pytest.fixture(autouse=True)
def usual_rounding() -> Iterator[None]:
    yield
    simulate_by(None)


def network() -> relay.IRModule:
    data = relay.var("data", shape=(1, 3, 6, 6))
    return relay.IRModule.from_expr(relay.nn.relu(relay.nn.conv2d(data, relay.const(WEIGHT))))


def simulate() -> Any:
    with relay.quantize.qconfig(do_simulation=True, skip_conv_layers=[], global_scale=4.0):
        return relay.quantize.quantize(network())


def results(mod: Any) -> tuple[np.ndarray, np.ndarray]:
    """Results of compiled code and of the definition."""
    return tvmq.build(mod, "llvm -opt-level=0").run(X)[0], tvmq.reference.run(mod.relax, X)[0]


def round_to_nearest(attrs: Any, inputs: Any, out_type: Any) -> list[te.Tensor]:
    data, scale, clip_min, clip_max = inputs
    if attrs.kind == QAnnotateKind.IDENTITY:
        return [topi.identity(data)]
    scaled_data = topi.divide(data, scale)
    clipped_data = topi.maximum(topi.minimum(scaled_data, clip_max), clip_min)
    return [topi.multiply(topi.round(clipped_data), scale)]


def test_relays_own_code_gives_what_is_built_in():
    usual = results(simulate())[0]
    calls = []

    @_reg.register_compute(SIMULATED)
    def simulated_quantize_compute(attrs, inputs, out_type, target):  # with a target, as until TVM 0.5
        assert len(inputs) == 4 and attrs.sign and attrs.rounding == "round"
        calls.append((attrs.kind, [int(size) for size in out_type.shape], out_type.dtype))
        return round_to_nearest(attrs, inputs, out_type)

    _reg.register_schedule(SIMULATED, _reg.schedule_injective)
    _reg.register_injective_schedule(SIMULATED)
    _reg.register_pattern(SIMULATED, _reg.OpPattern.OPAQUE)
    for outcome in results(simulate()):
        assert np.array_equal(outcome, usual)
    assert (QAnnotateKind.INPUT, [1, 3, 6, 6], "float32") in calls
    assert {kind for kind, *_ in calls} == {QAnnotateKind.INPUT, QAnnotateKind.WEIGHT}


def round_down(attrs: Any, inputs: Any, out_type: Any = None) -> list[te.Tensor]:
    data, scale, clip_min, clip_max = inputs
    steps = topi.floor(topi.divide(data, scale))
    return [topi.multiply(topi.maximum(topi.minimum(steps, clip_max), clip_min), scale)]


def round_down_in_numpy(attrs: Any, inputs: Any) -> np.ndarray:
    data, scale, clip_min, clip_max = inputs
    return np.clip(np.floor(data / scale), clip_min, clip_max) * scale


@pytest.mark.parametrize("definition", [None, round_down_in_numpy], ids=["loops", "definition"])
def test_another_rounding_is_simulated(definition):
    relay.register_compute(SIMULATED, round_down, definition=definition)
    mod = simulate()
    compiled, defined = results(mod)
    step, largest = np.float32(4.0) / np.float32(128), 2.0 ** np.ceil(np.log2(abs(WEIGHT).max()))
    data = np.clip(np.floor(X["data"] / step), -127, 127) * step
    scale = np.float32(largest / 128)
    weight = np.clip(np.floor(WEIGHT / scale), -127, 127) * scale
    windows = np.lib.stride_tricks.sliding_window_view(data.astype(float), (3, 3), axis=(2, 3))
    exact = np.einsum("nchwij,ocij->nohw", windows, weight.astype(float))  # products of powers of two and 7 bits
    assert np.array_equal(compiled, np.maximum(exact, 0)) and np.array_equal(compiled, defined)
    relay.op.get(SIMULATED).reset_attr("FTVMCompute")
    assert not np.array_equal(results(simulate())[0], compiled)


def test_scales_of_channels_and_zero_points_come_as_arrays_that_broadcast():
    shapes = []

    def keep(x, scale, low, high, attributes):
        shapes.append(([int(size) for size in scale.shape], attributes["kind"], attributes["axis"]))
        return te.compute(x.shape, lambda *i: x(*i))

    simulate_by(keep)
    config = tvmq.qconfig(do_simulation=True, nbit_weight=4, weight_rounding="nearest", bias_correction=False)
    mod = tvmq.quantize(*tvmq.from_relax(network().relax, {}), [X], config=config)
    assert np.array_equal(tvmq.reference.run(mod, X)[0], tvmq.reference.run(network().relax, X)[0])
    assert ([4, 1, 1, 1], "weight", 0) in shapes and ([], "input", -1) in shapes


def test_a_definition_that_says_something_else_is_seen():
    relay.register_compute(SIMULATED, round_to_nearest, definition=round_down_in_numpy)
    compiled, defined = results(simulate())
    assert not np.array_equal(compiled, defined)


@pytest.mark.parametrize("result, words", [
    (lambda x: 3, "it gave a int; return a TE tensor like x, float32 of rank"),
    (lambda x: topi.cast(x, "int32"), "it gave a int32 of rank"),
    (lambda x: topi.sum(x), "it gave a float32 of rank 0"),
])  # fmt: skip
def test_results_of_another_type_are_one_sentence(result, words):
    simulate_by(lambda x, *_: result(x))
    with pytest.raises(Exception, match=words):
        tvmq.reference.run(simulate().relax, X)


def test_other_operators_say_the_way_round():
    for registration in (_reg.register_compute, _reg.register_schedule, _reg.register_injective_schedule):
        with pytest.raises(UnsupportedOpError, match=r"'nn.relu': only relay.op.*; tvmq.Lowering"):
            registration("nn.relu")
    with pytest.raises(UnsupportedOpError, match=r"'nn.relu': only relay.op"):
        _reg.register_pattern("nn.relu", _reg.OpPattern.ELEMWISE)


def test_what_is_no_function_is_refused():
    with pytest.raises(ConfigError, match="simulate_by: loops must be a function. Got a str instead"):
        simulate_by("floor")
    with pytest.raises(ConfigError, match="simulate_by: definition must be a function. Got a int instead"):
        simulate_by(lambda x, *_: x, 3)
