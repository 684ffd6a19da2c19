"""Samples for the pictures of the passes: for each pass a tiny module, taken to it by the passes before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import tvm
from tvm import relax

from tvmq.backends import backend_named
from tvmq.calibration.observers.rounding import Rounding
from tvmq.formats.relax import from_relax
from tvmq.graph.operators.conversions import dequantize, quantize
from tvmq.graph.state_pairs import with_state
from tvmq.graph.view import View, const_value, op_name
from tvmq.options.config import QConfig, qconfig
from tvmq.passes.annotate import annotate
from tvmq.passes.calibrate import calibrate
from tvmq.passes.calibrate.collect import watched_tensors
from tvmq.passes.correct_bias import correct_bias
from tvmq.passes.equalize import equalize
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.import_qdq import import_qdq
from tvmq.passes.narrow_floats import narrow_floats
from tvmq.passes.pack_weights import pack_weights
from tvmq.passes.partition import partition
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare
from tvmq.passes.quantize_dynamic import quantize_dynamic
from tvmq.passes.realize import realize
from tvmq.passes.round_biases import round_biases
from tvmq.passes.round_weights import round_weights
from tvmq.passes.scale_outliers import scale_outliers
from tvmq.passes.state_codes import state_codes
from tvmq.passes.unify_scales import unify_scales

Module = tvm.IRModule
R = relax.op


class Sample(NamedTuple):
    """Sample of a pass on a module: before, after, and options."""

    before: Module
    after: Module
    about: str


class Net:
    """A function under construction; weights are the same on every run."""

    def __init__(self, *shape: int) -> None:
        self.random = np.random.default_rng(7)
        self.builder = relax.BlockBuilder()
        self.x = relax.Var("x", relax.TensorType(list(shape), "float32"))

    def weight(self, *shape: int) -> relax.Constant:
        """Numbers of about the size that trained weights have."""
        return relax.const(self.random.standard_normal(shape).astype(np.float32) / 4)

    def numbers(self, array: Any, dtype: str = "float32") -> relax.Constant:
        """A constant."""
        return relax.const(np.asarray(array, dtype))

    def emit(self, call: relax.Expr, name: str) -> relax.Var:
        """Emit a binding of that name."""
        return self.builder.emit(call, name)

    def conv(self, x: relax.Expr, channels: int, filters: int, name: str) -> relax.Var:
        """A convolution 3x3 that keeps the size of the picture."""
        return self.emit(R.nn.conv2d(x, self.weight(filters, channels, 3, 3), padding=1), name)

    def biased(self, x: relax.Expr, filters: int, name: str) -> relax.Var:
        """A bias for each channel."""
        return self.emit(R.add(x, self.weight(1, filters, 1, 1)), name)


def made(net: Net, body: Callable[[Net], relax.Expr]) -> Module:
    """The module of a network, with names as the front end gives them."""
    with net.builder.function("main", [net.x]):
        with net.builder.dataflow():
            result = net.builder.emit_output(body(net), name_hint="y")
        net.builder.emit_func_output(result)
    return from_relax(net.builder.get(), None)[0]


def _norm(net: Net) -> relax.Expr:
    conv = net.biased(net.conv(net.x, 3, 4, "conv"), 4, "bias")
    ones = [net.numbers(np.linspace(0.5, 1.5, 4)) for _ in range(4)]
    normed = net.emit(R.nn.batch_norm(conv, *ones, axis=1, training=False), "norm")
    return R.nn.relu(net.emit(normed[0], "normed"))


def _two(net: Net) -> relax.Expr:
    first = net.emit(R.nn.relu(net.conv(net.x, 3, 4, "first")), "relu")
    return R.nn.conv2d(first, net.weight(2, 4, 3, 3), padding=1)


def _softmax_head(net: Net) -> relax.Expr:
    relu = net.emit(R.nn.relu(net.biased(net.conv(net.x, 3, 4, "first"), 4, "bias")), "relu")
    return R.nn.softmax(net.conv(relu, 4, 2, "second"), axis=1)


def _concat(net: Net) -> relax.Expr:
    left = net.emit(R.nn.relu(net.conv(net.x, 3, 4, "left")), "left_relu")
    right = net.emit(R.nn.relu(net.conv(net.x, 3, 4, "right")), "right_relu")
    return net.emit(R.nn.conv2d(net.emit(R.concat([left, right], axis=1), "both"), net.weight(2, 8, 1, 1)), "conv")


def _norm_and_products(net: Net) -> relax.Expr:
    normed = net.emit(R.nn.layer_norm(net.x, net.weight(8), net.weight(8), axes=[-1]), "normed")
    product = net.emit(R.matmul(normed, net.weight(8, 8)), "product")
    return R.add(normed, product)


def _product(net: Net) -> relax.Expr:
    product = net.emit(R.matmul(net.x, net.weight(8, 4)), "product")
    return R.nn.relu(net.emit(R.add(product, net.weight(4)), "bias"))


def _transposed(net: Net) -> relax.Expr:
    turned = net.emit(R.permute_dims(net.weight(4, 8)), "turned")
    return R.matmul(net.x, net.emit(R.multiply(turned, net.numbers(0.5)), "halved"))


def _pairs(net: Net) -> relax.Expr:
    """A convolution of a model that is quantized already."""

    def rounded(value: relax.Expr, scale: float, name: str) -> relax.Var:
        numbers = net.numbers(scale), net.numbers(3, "int32")
        codes = net.emit(quantize(value, *numbers, dtype="uint8"), f"{name}_codes")
        return net.emit(dequantize(codes, *numbers), name)

    codes = net.numbers(net.random.integers(-99, 99, (4, 3, 3, 3)), "int8")
    weight = net.emit(dequantize(codes, net.numbers(0.01), net.numbers(0, "int32")), "weight")
    conv = net.emit(R.nn.conv2d(rounded(net.x, 0.02, "x_rounded"), weight, padding=1), "conv")
    return rounded(conv, 0.05, "conv_rounded")


def cached() -> Module:
    """A convolution along time, in front of which the last two steps of the call before are put."""
    x, cache = (relax.Var(name, relax.TensorType((1, 3, steps), "float32")) for name, steps in (("x", 6), ("cache", 2)))
    builder, random = relax.BlockBuilder(), np.random.default_rng(0)
    with builder.function("main", [x, cache]):
        with builder.dataflow():
            both = builder.emit(R.concat([cache, x], axis=2), "both")
            conv = builder.emit(R.nn.conv1d(both, relax.const(random.normal(size=(4, 3, 3)).astype("float32"))), "conv")
            news = builder.emit_output(R.strided_slice(both, [2], [6], [8]), "new_cache")
            y = builder.emit_output(R.nn.relu(conv), "y")
        builder.emit_func_output([y, news])
    mod = from_relax(builder.get(), None)[0]
    mod["main"] = mod["main"].with_attr("tvmq.outputs", '["y", "new_cache"]')
    return with_state(mod, {"cache": "new_cache"}, "sample")


def annotated(mod: Module, config: QConfig) -> Module:
    """Up to unify_scales."""
    return unify_scales(annotate(partition(prepare(mod), config)))


def fixed_ranges(mod: Module) -> dict[str, tuple[float, float]]:
    """-2..2 for every tensor, instead of data."""
    return {str(watch.key): (-2.0, 2.0) for watch in watched_tensors(View(mod))}


def calibrated(mod: Module, config: QConfig) -> Module:
    """Calibrate with fixed ranges."""
    on_the_way = annotated(mod, config)
    return calibrate(on_the_way, fixed_ranges(on_the_way))


# Pass -> what its picture shows
ABOUT = {
    "prepare": "A convolution with a bias and a batch norm.",
    "equalize": "Two convolutions; their constants change.",
    "scale_outliers": "A layer norm whose channel 2 stands out; a product and a sum read it.",
    "partition": "The bindings stay. The ledger says which of them make one group, and its precision.",
    "annotate": "The same network. Its input, its weights and the result between them get a place for a scale.",
    "unify_scales": "Two branches that a concat joins: their tensors get one name, and so one scale.",
    "round_biases": "`qconfig(nbit_bias=8)`; the constant of the bias changes.",
    "calibrate": "Every tensor gets the range -2..2 here, in place of ranges from data.",
    "round_weights": "One weight in three goes to the next code up, as data might ask for it.",
    "correct_bias": "The mean of each input channel is 1 here, in place of what calibration saw.",
    "import_qdq": "A convolution of a model that brings scales of its own.",
    "realize": "The softmax stays float: the last sums are dequantized for it.",
    "quantize_dynamic": '`qconfig(activations="dynamic")`.',
    "fold_constants": "A weight that is turned and halved.",
    "state_codes": "A cache of a causal convolution: `cache` is read, `new_cache` is the cache of the next call.",
    "pack_weights": "`qconfig(nbit_weight=4)`.",
    "narrow_floats": "A backend whose floats have 16 bits; the softmax stays float.",
    "partition_conversions": '`qconfig(partition_conversions="enabled")`: one function becomes four.',
}


def _third_up(mod: Module) -> dict[str, Rounding]:
    """Codes of each product's weight, a third of them one higher."""
    view, roundings = View(mod), {}
    for var, value in view.bindings:
        if op_name(value) != "matmul":
            continue
        weight, scale = (const_value(arg) for arg in view.value[value.args[1].name].args[:2])
        codes = np.rint(weight / scale) + (np.arange(weight.size).reshape(weight.shape) % 3 == 0)
        roundings[var.name] = Rounding(np.clip(codes, -127, 127).astype(np.int8))
    return roundings


def samples() -> dict[str, Sample]:
    """Pass -> its picture's modules."""
    inputs = befores()
    return {name: Sample(inputs[name], RUN[name](inputs[name]), about) for name, about in ABOUT.items()}


def befores() -> dict[str, Module]:
    """Modules that the passes get, by the name of the pass."""
    picture, rows, default = (1, 3, 8, 8), (2, 8), qconfig()
    network, product = made(Net(*picture), _softmax_head), made(Net(*rows), _product)
    two = made(Net(*picture), _two)
    return {
        "prepare": made(Net(*picture), _norm),
        "equalize": prepare(two),
        "scale_outliers": prepare(made(Net(*rows), _norm_and_products)),
        "partition": prepare(network),
        "annotate": partition(prepare(network), default),
        "unify_scales": annotate(partition(prepare(made(Net(*picture), _concat)), default)),
        "round_biases": annotated(product, qconfig(nbit_bias=8)),
        "calibrate": annotated(network, default),
        "round_weights": calibrated(product, default),
        "correct_bias": calibrated(product, default),
        "import_qdq": prepare(made(Net(*picture), _pairs)),
        "realize": calibrated(network, default),
        "quantize_dynamic": prepare(product),
        "fold_constants": made(Net(*rows), _transposed),
        "state_codes": fold_constants(realize(calibrated(prepare(cached()), default))),
        "pack_weights": realize(calibrated(product, qconfig(nbit_weight=4))),
        "narrow_floats": realize(calibrated(network, default)),
        "partition_conversions": realize(calibrated(two, qconfig(partition_conversions="enabled"))),
    }


RUN: dict[str, Callable[[Module], Module]] = {
    "prepare": prepare,
    "equalize": equalize,
    "scale_outliers": lambda mod: scale_outliers(mod, {"normed": {"factors": {2: 16.0}}}),
    "partition": lambda mod: partition(mod, qconfig()),
    "annotate": annotate,
    "unify_scales": unify_scales,
    "round_biases": round_biases,
    "calibrate": lambda mod: calibrate(mod, fixed_ranges(mod)),
    "round_weights": lambda mod: round_weights(mod, _third_up(mod)),
    "correct_bias": lambda mod: correct_bias(mod, {name: np.ones(8) for name in View(mod).var}),
    "import_qdq": lambda mod: import_qdq(mod, qconfig()),
    "realize": realize,
    "quantize_dynamic": lambda mod: quantize_dynamic(mod, qconfig(activations="dynamic")),
    "fold_constants": fold_constants,
    "state_codes": state_codes,
    "pack_weights": pack_weights,
    "narrow_floats": lambda mod: narrow_floats(mod, replace(backend_named("cpu"), name="half", float_type="float16")),
    "partition_conversions": partition_conversions,
}
