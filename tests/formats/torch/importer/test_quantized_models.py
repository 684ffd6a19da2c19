"""Whole models of torch's and torchao's flows: prepared, converted, packed; what has no import is refused by its path."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from torch import nn  # noqa: E402
from torch.ao import quantization  # noqa: E402
from torch.ao.quantization import quantize_fx  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch_networks import SmallNet, tensor  # noqa: E402

import tvmq  # noqa: E402
from tvmq.errors import ModelError, UnsupportedOpError  # noqa: E402
from tvmq.graph.ledger import get_ledger  # noqa: E402
from tvmq.graph.names import get_names  # noqa: E402

X = tensor(2, 3, 16, 16)


def integers(model: Any, *inputs: Any) -> tuple[np.ndarray, Any]:
    """Our compiled result, which equals the definition, and the integer module."""
    module = tvmq.quantize(*tvmq.from_torch(model, inputs))
    feed = {var.name: x.numpy() for var, x in zip(module["main"].params, inputs, strict=False)}
    (ours,), (defined,) = tvmq.build(module).run(feed), tvmq.reference.run(module, feed)
    np.testing.assert_array_equal(ours, defined)
    return ours, module


def fx(qat: bool) -> Any:
    """A prepared SmallNet, after three steps of training or of calibration."""
    torch.backends.quantized.engine = "fbgemm"
    torch.manual_seed(0)
    mapping = getattr(quantization, f"get_default_{'qat_' if qat else ''}qconfig_mapping")("fbgemm")
    prepare = quantize_fx.prepare_qat_fx if qat else quantize_fx.prepare_fx
    model = prepare(SmallNet().train(qat), mapping, (X,))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for seed in range(3):
        model(tensor(2, 3, 16, 16, seed=seed)).square().mean().backward()
        optimizer.step() if qat else None
        optimizer.zero_grad()
    return model.eval()


@pytest.mark.slow
@pytest.mark.parametrize("qat", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_prepared_reference_and_converted_models_are_one_integer_module(qat: bool) -> None:
    prepared = fx(qat)
    before = copy.deepcopy(prepared.state_dict())
    converted = quantize_fx.convert_fx(copy.deepcopy(prepared))
    reference = quantize_fx.convert_to_reference_fx(copy.deepcopy(prepared))
    with torch.no_grad():
        theirs = converted(X).numpy()
    results = [integers(model, X) for model in (prepared, reference, converted)]
    for ours, module in results:
        np.testing.assert_array_equal(ours, results[0][0])
        assert {layer["precision"] for layer in get_ledger(module).layers.values()} == {"int8"}
        assert "blocks.0.conv1" in {name for names in get_names(module["main"]).values() for name in names}
    assert np.abs(np.rint((results[0][0] - theirs) / converted.head.scale)).max() <= 1
    assert all(torch.equal(value, before[name]) for name, value in prepared.state_dict().items())


@pytest.mark.slow
def test_a_dynamic_batch_of_a_quantized_model() -> None:
    mod, params = tvmq.from_torch(quantize_fx.convert_fx(fx(False)), X, dynamic_batch=True)
    exe = tvmq.build(tvmq.quantize(mod, params))
    assert exe.run({"x": tensor(3, 3, 16, 16).numpy()})[0].shape == (3, 5)


class Functional(nn.Module):
    """A product by a function: its packed weight stands in the model itself."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(tensor(6, 7)), nn.Parameter(tensor(6))

    def forward(self, x: Any) -> Any:
        return F.relu(F.linear(x, self.weight, self.bias))


@pytest.mark.slow
def test_packed_weights_of_functions() -> None:
    torch.backends.quantized.engine = "qnnpack"
    mapping = quantization.get_default_qconfig_mapping("qnnpack")
    x = tensor(5, 7)
    prepared = quantize_fx.prepare_fx(Functional().eval(), mapping, (x,))
    prepared(x)
    converted = quantize_fx.convert_fx(prepared)
    with torch.no_grad():
        theirs = converted(x).numpy()
    ours, _ = integers(converted, x)
    assert np.abs(ours - theirs).max() < 1.01 * np.diff(np.unique(theirs)).min()
    assert any(isinstance(value, torch.ScriptObject) for value in vars(converted).values())


class Embedded(nn.Module):
    """A table and a product."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 4)

    def forward(self, ids: Any) -> Any:
        return self.head(self.table(ids).mean(1))


def test_dynamic_products_and_a_quantized_table() -> None:
    torch.backends.quantized.engine = "fbgemm"
    torch.manual_seed(0)
    chosen = {
        "head": quantization.default_dynamic_qconfig, "table": quantization.float_qparams_weight_only_qconfig,
    }  # fmt: skip
    dynamic = quantization.quantize_dynamic(Embedded().eval(), chosen)
    ids = torch.tensor([[1, 5, 19], [0, 3, 3]])
    with torch.no_grad():
        theirs = dynamic(ids).numpy()
    ours, module = integers(dynamic, ids)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert "int8" in {layer["precision"] for layer in get_ledger(module).layers.values()}


class Faked(nn.Module):
    """Fake quantizers by hand, of 7 bits between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(7, 5)
        self.register_buffer("scales", torch.full((5,), 0.004))
        self.register_buffer("zeros", torch.zeros(5, dtype=torch.int32))

    def forward(self, x: Any) -> Any:
        x = torch.fake_quantize_per_tensor_affine(x, 0.02, 40, 0, 127)
        weight = torch.fake_quantize_per_channel_affine(self.layer.weight, self.scales, self.zeros, 0, -127, 127)
        return torch.fake_quantize_per_tensor_affine(F.linear(x, weight, self.layer.bias), 0.01, 0, -64, 63)


def test_fake_quantizers_of_a_models_own_code_and_fewer_bits() -> None:
    torch.manual_seed(0)
    model, x = Faked().eval(), 2 * tensor(50, 7)
    with torch.no_grad():
        theirs = np.rint(model(x).numpy() / np.float32(0.01))
    ours, module = integers(model, x)
    codes = np.rint(ours / np.float32(0.01))
    assert theirs.min() == codes.min() == -64 and theirs.max() == codes.max() == 63
    assert np.abs(codes - theirs).max() <= 1 and (codes != theirs).mean() < 0.02
    assert {layer["precision"] for layer in get_ledger(module).layers.values()} == {"int8"}


class OwnCodes(nn.Module):
    """Quantized tensors made by the model's own code, looked at as integers."""

    def forward(self, x: Any) -> Any:
        codes = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
        return torch.ops.quantized.add(codes, codes, 0.2, 5).int_repr().to(torch.int32) + codes.dequantize().int()


@pytest.mark.slow
def test_codes_made_by_the_models_own_code() -> None:
    x = tensor(4, 5)
    with torch.no_grad():
        theirs = OwnCodes()(x).numpy()
    ours, _ = integers(OwnCodes(), x)
    np.testing.assert_array_equal(ours, theirs)


# ---- what has no import


class Holds(nn.Module):
    """A function of a quantized tensor in a module of its own."""

    def __init__(self, function: Callable[[Any], Any], dtype: Any = torch.quint8) -> None:
        super().__init__()
        self.inner = nn.ModuleDict({"deep": Uses(function)})
        self.dtype = dtype

    def forward(self, x: Any) -> Any:
        return self.inner["deep"](torch.quantize_per_tensor(x, 0.1, 0, self.dtype)).dequantize()


class Uses(nn.Module):
    """Calls it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "function": (lambda: Holds(torch.cos), r"layer 'inner\.deep': cos of a quantized tensor is not supported; deq"),
    "operator": (lambda: Holds(lambda x: torch.ops.quantized.add_scalar(x, 1.0)), r"'inner\.deep': quantized\.add_scalar of"),
    "negative": (lambda: Holds(lambda x: torch.ops.quantized.mul_scalar(x, -1.0)), "mul_scalar by -1 is not supported; use a pos"),
    "type": (lambda: Holds(F.relu, torch.qint32), "tensor of type qint32 is not supported; quantize it to quint8 or qint8"),
    "cast": (lambda: Holds(lambda x: x.to(torch.float64)), r"'inner\.deep': changing the type of a quantized tensor is not supported"),
    "property": (lambda: Holds(lambda x: x.data), "'data' of a quantized tensor is not supported; dequantize it first"),
    "recurrent": (
        lambda: quantization.quantize_dynamic(nn.Sequential(nn.LSTM(5, 4)), {nn.LSTM}),
        r"layer '0': a dynamically quantized LSTM is not supported; import the float model",
    ),
    "half": (
        lambda: quantization.quantize_dynamic(nn.Sequential(nn.Linear(5, 4)), {nn.Linear}, torch.float16),
        r"layer '0.*': its weight is stored as float32, not as codes; quantize it to 8 bits",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_import_is_refused_by_its_path(name: str) -> None:
    make, words = REFUSED[name]
    torch.backends.quantized.engine = "fbgemm"
    with pytest.raises(UnsupportedOpError, match=f"^from_torch, .*{words}"):
        tvmq.from_torch(make(), (tensor(4, 5),))


def test_observers_without_data_are_refused_by_their_path() -> None:
    mapping = quantization.get_default_qconfig_mapping("fbgemm")
    prepared = quantize_fx.prepare_fx(SmallNet().eval(), mapping, (X,))
    with pytest.raises(ModelError, match=r"observer 'activation_post_process_0': it has seen no data; run the prepared"):
        tvmq.from_torch(prepared, (X,))


def test_quantized_inputs_and_results() -> None:
    codes = torch.quantize_per_tensor(X, 0.1, 0, torch.quint8)
    with pytest.raises(ModelError, match=r"an example input is a quantized tensor; pass floats, and quantize them in"):
        tvmq.from_torch(nn.ReLU(), (codes,))

    class Codes(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)

    with pytest.raises(UnsupportedOpError, match=r"a result of the model is a quantized tensor; return x\.dequantize"):
        tvmq.from_torch(Codes(), (X,))


def of_backend(name: str) -> tuple[Any, Any]:
    """SmallNet that torch prepared for a backend and that has seen data, and the backend's config."""
    config = getattr(quantization.backend_config, f"get_{name}_backend_config")()
    symmetric = quantization.MinMaxObserver.with_args(qscheme=torch.per_tensor_symmetric, dtype=torch.qint8)
    int8 = quantization.QConfig(activation=symmetric, weight=quantization.default_weight_observer)
    mapping = quantization.get_default_qconfig_mapping("qnnpack" if name == "qnnpack" else "fbgemm")
    mapping = quantization.QConfigMapping().set_global(int8) if name == "tensorrt" else mapping
    torch.manual_seed(0)
    prepared = quantize_fx.prepare_fx(SmallNet().eval(), mapping, (X,), backend_config=config)
    prepared(X)
    return prepared, config


@pytest.mark.slow_cases("tensorrt", "native", "onednn", "qnnpack")
@pytest.mark.parametrize("name", ["native", "fbgemm", "qnnpack", "onednn", "tensorrt"])
def test_a_model_of_a_backend_config_is_converted_with_it(name: str, recwarn: Any) -> None:
    """As if torch had converted it by hand, all convolutions and products in integers."""
    prepared, config = of_backend(name)
    by_hand = quantize_fx.convert_to_reference_fx(copy.deepcopy(prepared), backend_config=config)
    expected, _ = integers(by_hand, X)
    recwarn.clear()
    mod, params = tvmq.from_torch(prepared, (X,), backend_config=config)
    assert not [str(w.message) for w in recwarn if "from_torch" in str(w.message)]
    module = tvmq.quantize(mod, params)
    np.testing.assert_array_equal(tvmq.build(module)(X.numpy()), expected)
    assert tvmq.explain(module).int8_share() == 1.0


def test_a_conversion_that_leaves_most_layers_in_float_says_so() -> None:
    prepared, config = of_backend("tensorrt")
    layers = sum(isinstance(module, nn.Conv2d | nn.Linear) for module in prepared.modules())
    words = f"^from_torch: {layers} convolutions and linear layers have observers, such as 'stem.0', and the conversion leaves"
    with pytest.warns(UserWarning, match=f"{words} {layers} of them in float; .*backend_config=") as caught:
        tvmq.from_torch(prepared, (X,))
    assert caught[0].filename == __file__
    with pytest.raises(ModelError, match=r"backend_config needs a model made by prepare_fx .*, got SmallNet; pass the"):
        tvmq.from_torch(SmallNet(), (X,), backend_config=config)
    with pytest.raises(ModelError, match="backend_config needs a model made by prepare_fx .* got str; pass the prepared"):
        tvmq.from_torch("model.pt2", backend_config=config)
