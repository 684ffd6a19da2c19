"""Networks at the corners, from ONNX to the executable: equal to the definition, close to onnxruntime's float32."""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.passes.nets import NETS
from tests.support.models.networks import drive, feeds_of, run_onnx

# Functions that spread the dynamic range before 8 bits hold it.
LEAST_SNR = {"square": 12.0, "island_of_tanh": 20.0}


@pytest.mark.slow
@pytest.mark.thinned(15)
@pytest.mark.parametrize("name", NETS)
def test_exact_and_accurate(name: str) -> None:
    made, outputs = NETS[name]()
    drive(made.model(*outputs), least_snr=LEAST_SNR.get(name, 25.0))


@pytest.mark.slow_cases(
    "concat_of_concat", "maxima", "two_functions_that_share_a_link", "multiply_broadcast", "tables",
    "softmax_of_channels", "one_sum_read_twice", "product_with_itself", "conv_relu", "batch_norm_behind_relu",
    "same_output_twice",
)  # fmt: skip
@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", NETS)
def test_float_networks_compute_what_onnxruntime_does(name: str) -> None:
    made, outputs = NETS[name]()
    model = made.model(*outputs)
    mod, params = tvmq.from_onnx(model)
    feed = feeds_of(model, 1)[0]
    for true, found in zip(run_onnx(model, feed), tvmq.build(mod, params=params).run(feed), strict=True):
        np.testing.assert_allclose(found, true, rtol=1e-4, atol=1e-5 * float(np.abs(true).max()))


@pytest.mark.slow
def test_a_function_of_a_float_may_share_its_links() -> None:
    """By rule one of two tables is float: the sigmoid that both read is computed for it, too."""
    made, outputs = NETS["two_functions_that_share_a_link"]()
    road = drive(made.model(*outputs), rules=[tvmq.Rule("/mul_2", None)])
    assert [road.precision()[n] for n in ("/sigmoid_1", "/mul_2", "/add_4")] == ["float", "float", "int8"]


@pytest.mark.slow
def test_not_a_number_and_infinities_do_what_the_definition_says() -> None:
    """NaN becomes the lowest code and infinities clip, in the compiled network as in NumPy."""
    made, outputs = NETS["conv_relu"]()
    road = drive(made.model(*outputs))
    feed = feeds_of(made.model(*outputs), 1)[0]
    feed["x"].flat[:6] = [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45]
    (compiled,), (defined,) = road.executable.run(feed), tvmq.reference.run(road.quantized, feed)
    np.testing.assert_array_equal(compiled, defined)
    assert np.isfinite(compiled).all()
