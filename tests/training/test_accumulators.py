"""Training within accumulators: every trained module is proved not to overflow, equals the network, and is fast."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.support.models.networks import Net  # noqa: E402
from tests.training.small_network import QUICKLY, SHAPE, samples, small_network  # noqa: E402
from tvmq import numerics, training  # noqa: E402
from tvmq.backends.description import Backend  # noqa: E402
from tvmq.codegen.kernels.conv.conv2d_int16 import plan_lanes  # noqa: E402
from tvmq.codegen.kernels.conv.shape import ConvShape  # noqa: E402
from tvmq.codegen.kernels.isa import level  # noqa: E402
from tvmq.codegen.kernels.parts.kernel_types import Conv2d  # noqa: E402
from tvmq.errors import AccumulatorError, ConfigError, UnsupportedOpError  # noqa: E402
from tvmq.graph.view import View, const_value, is_const  # noqa: E402
from tvmq.training import LANES, Accumulators, Distill, prove_accumulators  # noqa: E402
from tvmq.training.accumulators import accumulators_of, order_of  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402
from tvmq.training.limited_weights import limit_weights  # noqa: E402

HASWELL = "llvm -mcpu=haswell"
EIGHT = {**QUICKLY, "nbit_weight": 8}
CHIP = Backend("chip", accumulator_bits=20)


@pytest.fixture(scope="module")
def model() -> Any:
    return tvmq.from_onnx(small_network())


@pytest.fixture(scope="module")
def pictures() -> np.ndarray:
    return samples(24)


def prepared(model: Any, pictures: Any, accumulators: Any = None, **options: Any) -> Any:
    with tvmq.qconfig(**{**EIGHT, **options.pop("config", {})}):
        return training.prepare(*model, [pictures], accumulators=accumulators, **options)


def train(net: Any, pictures: np.ndarray, rate: float = 0.02) -> None:
    """Two large steps away from where it began."""
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.from_numpy(pictures)).square().mean().backward()
        optimizer.step()


# ---- which weights meet


@pytest.mark.parametrize("conv", [
    Conv2d(1, 6, 6, 8, 16, (3, 3), (1, 1), (1, 1, 1, 1)),
    Conv2d(1, 6, 6, 12, 9, (1, 1)),
    Conv2d(1, 6, 6, 3, 16, (3, 4)),  # one run a kernel row: pairs lie across pixels
    Conv2d(1, 6, 6, 16, 16, (3, 3), groups=2),
    Conv2d(1, 8, 8, 4, 8, (3, 3), dilation=(2, 2)),
    Conv2d(1, 6, 6, 4, 16, (3, 3), x_dtype="int8"),
], ids=str)  # fmt: skip
def test_a_kernel_needs_no_products_of_16_bits(conv: Conv2d) -> None:
    """Weights limited by `order_of` satisfy the kernels' proof, whatever they were before."""
    shape = (conv.filters, conv.channels // conv.groups, *conv.kernel)
    values = np.random.default_rng(0).uniform(-127, 127, shape).astype(np.float32)
    order = order_of(shape, 0, LANES, groups=conv.groups, dilated=conv.dilation[1] > 1)
    most, together = numerics.most_of_weights(16, 0, 255)
    rows = numerics.nearest_weights(order.rows(values), most, together=together)
    weight = order.back(rows, shape).astype(np.int8)
    ins = level("avx2").lane_form
    before, after = (plan_lanes(ConvShape(conv, ins, 0), w, (), 255) for w in (np.rint(values).astype(np.int8), weight))
    assert before.int16_share > 0.5 and after.int16_share == 0


@pytest.mark.parametrize(("shape", "axis", "options"), [
    ((4, 3, 3, 3), 0, {}), ((4, 3, 5), 0, {}), ((4, 3, 2, 3, 3), 0, {}), ((7, 5), 1, {}), ((3, 6, 2, 2), 0, {"groups": 2}),
    ((6, 3, 2, 2), 1, {"groups": 2, "transposed": True}), ((2, 7, 5), 2, {}),
])  # fmt: skip
@pytest.mark.parametrize("accumulators", [LANES, Accumulators(16, 5), Accumulators(20)], ids=str)
def test_each_weight_is_in_one_accumulator_of_its_filter(
    shape: tuple[int, ...], axis: int, options: dict[str, Any], accumulators: Accumulators
) -> None:
    order = order_of(shape, axis, accumulators, **options)
    index = np.arange(np.prod(shape)).reshape(shape)
    assert sorted(order.places[order.places < index.size]) == sorted(index.reshape(-1))
    np.testing.assert_array_equal(order.back(order.rows(index), shape), index)
    filters = numerics.filters_first(index, 2) if "transposed" in options else np.moveaxis(index, axis, 0)
    for places, number in zip(order.places, order.filter, strict=True):
        assert np.isin(places[places < index.size], filters[number]).all()


# ---- networks


@pytest.mark.slow_cases("16-options0", "None-options2", "18-options3", "accumulators4-options4")
@pytest.mark.parametrize(("accumulators", "options"), [
    (16, {"target": HASWELL}),
    (16, {"target": HASWELL, "config": {"dtype_input": "int8"}}),
    (None, {"target": CHIP}),
    (18, {"config": {"dtype_input": "int8", "scheme": "symmetric", "weight_scale": "max"}}),
    (Accumulators(16, 4), {"config": {"per_channel": False}}),
])  # fmt: skip
def test_deployed_equals_trained_and_stays_inside(
    model: Any, pictures: np.ndarray, accumulators: Any, options: dict[str, Any]
) -> None:
    net, x = prepared(model, pictures, accumulators, **copy.deepcopy(options)), torch.from_numpy(samples(8, seed=1))
    for _ in range(2):
        module = training.convert(net)
        assert first_difference(net, module, [x]) is None
        proof = prove_accumulators(module, net.accumulators)
        assert len(proof) == 3 and all(layer.holds for layer in proof)
        train(net, pictures)
    assert max(layer.reach / layer.largest for layer in proof) > 0.9  # the limit is used


@pytest.mark.slow
def test_limits_of_other_layers() -> None:
    """Depthwise, grouped and transposed convolutions, and a product of matrices."""
    net = Net((2, 3, 8, 8))
    y = net.op("Relu", net.conv("x", 3, 8))
    y = net.op("Relu", net.conv(y, 8, 8, groups=8))
    y = net.op("Relu", net.conv(y, 8, 8, groups=2))
    transposed = net.constant(net.weight(8, 4, 2, 2)), net.constant(np.full(4, 0.2, np.float32))
    y = net.op("Relu", net.op("ConvTranspose", y, *transposed, strides=[2, 2], kernel_shape=[2, 2]))
    y = net.op("Flatten", net.op("GlobalAveragePool", y), axis=1)
    model = tvmq.from_onnx(net.model(net.dense(y, 4, 10)))
    pictures = np.random.default_rng(0).standard_normal((8, 3, 8, 8)).astype(np.float32)
    for accumulators, layers in ((LANES, 4), (Accumulators(18), 5)):
        trained = prepared(model, pictures, accumulators)
        train(trained, pictures[:2])
        module = training.convert(trained)
        assert len(prove_accumulators(module, accumulators)) == layers  # depthwise sums are not made in lanes
        assert first_difference(trained, module, [torch.from_numpy(pictures[2:4])]) is None


@pytest.mark.slow
def test_the_fast_path_without_7_bits(model: Any, pictures: np.ndarray) -> None:
    module = training.convert(prepared(model, pictures, 16, target=HASWELL))
    codes = [const_value(arg) for _, call in View(module).bindings for arg in getattr(call, "args", ()) if is_const(arg)]
    assert max(int(np.abs(array.astype(int)).max()) for array in codes if array.dtype == np.int8) > 100
    with tvmq.qconfig(**EIGHT, reduce_range=False, weight_scale="max"):
        plain = tvmq.quantize(*model, [pictures], target=HASWELL, guard=None)
    with pytest.raises(AccumulatorError, match=r"2 products in 16 bits: layer '/conv_0.*can reach \d+ of 32767; .*Rule"):
        prove_accumulators(plain, LANES)
    # the first layer has six weights a kernel row, of which a whole group and a pair are made, whatever they are
    built = [tvmq.build(mod, target=HASWELL).notes.values() for mod in (module, plain)]
    words = [[note for note in notes if "% fold" not in note or "16 bits" in note] for notes in built]
    assert [len(notes) for notes in words] == [1, 3]


@pytest.mark.slow
def test_weights_that_hold_stay_as_they_are(model: Any, pictures: np.ndarray) -> None:
    net, plain = prepared(model, pictures, 30), prepared(model, pictures)
    a, b = net.kept_state(), plain.kept_state()
    assert set(a) == set(b) and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.slow
def test_distillation_within_accumulators(model: Any, pictures: np.ndarray) -> None:
    distill = Distill(steps=12, batch=16, accumulators=Accumulators(15))
    with tvmq.qconfig(**EIGHT):
        module = tvmq.quantize(*model, [pictures], finetune=distill, guard=None)
    assert all(layer.holds for layer in prove_accumulators(module, Accumulators(15)))
    net = prepared(model, pictures, Accumulators(15))
    learned = training.finetune(net, [pictures], distill)
    assert learned.after < learned.before
    x = torch.from_numpy(samples(8, seed=1))
    assert first_difference(net, module, [x]) is None


def test_gradients_do_not_push_beyond_the_limit(model: Any, pictures: np.ndarray) -> None:
    """Where a limit holds weights back, descent does not enlarge them together; elsewhere nothing changes."""
    net = prepared(model, pictures, LANES, target=HASWELL)
    layer = next(net.weighted_layers())[1]
    weight, scale = layer.folding.source_weight(), layer.along(layer.scale()).detach()
    with torch.no_grad():
        weight.copy_(100 * scale.expand_as(weight))  # every pair reaches 200, 128 are allowed
    layer.codes().sum().neg().backward()
    assert layer.codes().max() == 64 and torch.allclose(weight.grad, torch.zeros(()), atol=1e-3)
    weight.grad = None
    layer.codes().sum().backward()
    assert torch.allclose(weight.grad * scale, torch.ones(()))
    with torch.no_grad():
        weight.copy_(50 * scale.expand_as(weight))
    weight.grad = None
    layer.codes().sum().neg().backward()
    assert torch.allclose(weight.grad * scale, -torch.ones(()))


def test_convert_proves_it(model: Any, pictures: np.ndarray) -> None:
    net = prepared(model, pictures, Accumulators(14))
    layer = next(net.weighted_layers())[1]
    layer.limit = None
    with torch.no_grad():
        layer.folding.source_weight().mul_(16)
    with pytest.raises(AccumulatorError, match=r"sums of all products in 14 bits: layer '/conv_0.* of 8191"):
        training.convert(net)


# ---- refused


def test_numbers_that_make_no_sense() -> None:
    for make, sentence in (
        (lambda: Accumulators(7), "bits must be a whole number in 8..32. Got 7"),
        (lambda: Accumulators(16, 0), "products must be a whole number of at least 1, or None. Got 0"),
        (lambda: accumulators_of("16", CHIP), "must be a number of bits or tvmq.training.Accumulators. Got '16'"),
        (lambda: accumulators_of(24, CHIP), "24 bits, and sums of backend chip have 20; use accumulators=20"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            make()
    assert accumulators_of(16, CHIP) == Accumulators(16) and accumulators_of(None, Backend("wide")) is None


def test_a_bias_that_is_too_large() -> None:
    net = Net((4, *SHAPE))
    bias = net.constant(np.full(4, 1e7, np.float32))
    y = net.op("Conv", "x", net.constant(1e-3 * net.weight(4, 2, 3, 3)), bias, kernel_shape=[3, 3])
    model = tvmq.from_onnx(net.model(net.op("Relu", y)))
    with pytest.raises(AccumulatorError, match="layer '/conv_0': its bias alone leaves 8 bits"):
        prepared(model, samples(8), Accumulators(8))


@pytest.mark.slow
def test_an_input_without_a_scale(model: Any, pictures: np.ndarray) -> None:
    net = prepared(model, pictures)
    net.tensor_of = {}
    with pytest.raises(UnsupportedOpError, match="layer '/conv_0': accumulators= needs the scale of its input"):
        limit_weights(net, LANES)


@pytest.mark.slow
def test_distill_is_told_where_the_network_was_not(model: Any, pictures: np.ndarray) -> None:
    with pytest.raises(ConfigError, match="no accumulators to stay in; give accumulators= to prepare"):
        training.finetune(prepared(model, pictures), [pictures], Distill(steps=1, accumulators=16))


def test_a_quantizer_of_ones_own_and_a_limit_exclude_each_other(model: Any, pictures: np.ndarray) -> None:
    class Nearest(torch.nn.Module):
        def forward(self, weight: Any, scale: Any, qmin: int, qmax: int) -> Any:
            return (weight / scale).round().clamp(qmin, qmax)

    with pytest.raises(ConfigError, match="accumulators= and quantizers= both make the codes of its weight"):
        prepared(model, pictures, Accumulators(20), quantizers={"*": Nearest()})
