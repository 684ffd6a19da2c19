"""Whole models built for a GPU: every kernel, in several orders of threads, against the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm.script import ir as I  # noqa: E741,N812
from tvm.script import relax as R

import tvmq
from tests.cuda_emulator.emulate import FORWARD, REVERSE, SHUFFLED
from tests.cuda_emulator.library import missing_compiler
from tests.cuda_emulator.model import EmulatedModel, reference_results
from tests.formats.onnx.importer.test_recurrent import model as recurrent_model
from tests.passes.partition.test_residual_streams import encoder, picture_net
from tests.support.models import onnx_models
from tests.support.models.built_modules import build_module
from tests.support.models.networks import block, feeds_of
from tests.support.random.graphs import random_inputs, random_model
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.lower.lowerer import Lowerer

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
ORDERS = (FORWARD, REVERSE, SHUFFLED)


def assert_same_bits(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


def compare(mod: tvm.IRModule, feed: dict[str, Any], orders: tuple[int, ...] = ORDERS, **options: Any) -> None:
    """Assert that the emulated model gives the reference's bits."""
    model, expected = EmulatedModel(mod, **options), reference_results(mod, feed)
    for order in orders:
        assert_same_bits(model.run(feed, order=order), expected)


@pytest.mark.slow
def test_the_embedded_network(digits):
    compare(digits.quantized, digits.pictures(1))


@pytest.mark.slow
@pytest.mark.isa("fma")
def test_nothing_is_left_to_contraction(digits):
    compare(digits.quantized, digits.pictures(1), orders=(FORWARD,), contract=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 5, 13])
def test_random_graphs(seed):
    model = random_model(seed)
    mod, params = tvmq.from_onnx(model)
    module = tvmq.quantize(mod, params, random_inputs(model, 0, 8), guard=None)
    compare(module, random_inputs(model, 1, 1)[0], orders=(FORWARD, SHUFFLED))


def words(**options: Any) -> tvm.IRModule:
    """Rows of a table, then a product, both of 4-bit weights."""
    mod, params = tvmq.from_onnx(onnx_models.words())
    return tvmq.quantize(mod, params, config=tvmq.qconfig(activations="dynamic", nbit_weight=4, **options))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"group_size": 4}])
def test_weights_of_four_bits(options):
    """Rows that are taken from a packed table; integer products of packed weights, with scales of groups too."""
    compare(words(**options), {"ids": np.int64([[0, 19, 7], [3, 3, 15]])}, orders=(SHUFFLED,))


def codes_of_16_bits(*, stream: bool) -> tuple[tvm.IRModule, dict[str, Any]]:
    """An encoder's residual stream, or a network for pictures that reads 16 bits; and an input."""
    model = encoder(pre_norm=True) if stream else picture_net()
    options = {"residual_streams": "int16"} if stream else {"dtype_input": "int16", "nbit_input": 16}
    config = tvmq.QConfig(calibrate_mode="minmax", **options)
    return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), config=config, guard=None), feeds_of(model)[0]


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False])
def test_codes_of_16_bits(stream):
    """Products that write them, sums and moves of them; convolutions that read them."""
    compare(*codes_of_16_bits(stream=stream), orders=(SHUFFLED,))


@I.ir_module
class Small:
    @R.function
    def main(x: R.Tensor((1, 6, 5, 4), "int8")):
        with R.dataflow():
            a = R.nn.max_pool2d(x, (3, 3), padding=(1, 1))
            R.output(a)
        return a


@pytest.mark.slow
def test_results_that_are_no_full_block_of_threads_stay_in_their_memory():
    x = np.random.default_rng(0).integers(-128, 128, (1, 6, 5, 4), dtype=np.int8)
    compare(Small, {"x": x})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dscnn_digits", "resnet8_cifar10"])
def test_tasks_of_the_zoo(name, zoo_task):
    task = zoo_task(name)
    shape = {key: (1, *array.shape[1:]) for key, array in next(iter(task.calibration(1, 1))).items()}
    mod, params = tvmq.from_onnx(task.model_path, shape=shape)
    module = tvmq.quantize(mod, params, list(task.calibration(1, 8)), guard=None)
    compare(module, next(iter(task.calibration(1, 1))), orders=(SHUFFLED,))


@pytest.mark.slow
def test_constants_of_kernels_keep_64_bits():
    """`relax.const` alone makes int32 of int64: factors of fixed point that are shifted left would be cut."""
    mod = build_module({"x": ((1,), "int32")}, lambda _, x: x)
    lowerer = Lowerer(mod, isa_named("generic"))
    func = tvm.te.create_prim_func([tvm.te.placeholder((1,), "int32")])
    out = lowerer.call(Kernel("k", func, (np.int64([2**40]),), ("k",)), [mod["main"].params[0]], [1], "int32", "y")
    value = dict((var.name, value) for var, value in lowerer._bindings)[out.name]
    assert [str(arg.ty.dtype) for arg in value.args[1].fields] == ["int32", "int64"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["static", None])
@pytest.mark.parametrize("op", ["LSTM", "GRU"])
def test_recurrent_layers(op: str, mode: str | None) -> None:
    """Both directions, codes of the state or weights alone."""
    model = recurrent_model(op, direction="bidirectional")
    feeds = feeds_of(model)
    with tvmq.qconfig(activations=mode, nbit_weight=8 if mode else 4):
        module = tvmq.quantize(*tvmq.from_onnx(model), feeds if mode else None, guard=None)
    compare(module, feeds[0], orders=(SHUFFLED,))


@pytest.mark.slow
def test_a_nan_stays_where_the_definition_keeps_it():
    """Relu, clip, maximum and minimum, of NaN on either side, infinities and both zeros."""
    values = np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -7.0])
    a, b = np.meshgrid(values, values)
    calls = ["R.nn.relu(a)", "R.clip(a, -1.0, 1.0)", "R.maximum(a, b)", "R.minimum(a, b)"]
    for call in calls:
        mod = block('a: R.Tensor((7, 7), "float32"), b: R.Tensor((7, 7), "float32")', f"y = R.add({call}, b)")
        compare(mod, {"a": np.ascontiguousarray(a), "b": np.ascontiguousarray(b)}, orders=(FORWARD,))
