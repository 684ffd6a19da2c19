"""Importers of the user's: ONNX nodes of other domains, custom operators of torch; collisions and absences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from tvm import relax

import tvmq
from tests.support.models.networks import Net
from tvmq.errors import ConfigError, UnsupportedOpError
from tvmq.extension import importer, torch_importer
from tvmq.formats.importing import importers


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Remove what a test has registered after it."""
    kept = dict(importers._onnx), dict(importers._torch)
    yield
    for table, before in zip((importers._onnx, importers._torch), kept, strict=True):
        table.clear()
        table.update(before)


def model(operator: str, domain: str = "my.domain", *, declared: bool = True, **attributes: Any) -> onnx.ModelProto:
    """A convolution, an operator of that domain, a dense layer."""
    net = Net((1, 2, 5, 5))
    own = net.op(operator, net.conv(net.inputs[0], 2, 3), domain=domain, **attributes)
    made = net.model(net.op("Flatten", net.op("Relu", own)), domain=domain)
    if not declared:
        del made.opset_import[1:]
    return made


X = np.random.default_rng(0).standard_normal((1, 2, 5, 5)).astype(np.float32)


def scaled(call: Any) -> Any:
    return relax.op.multiply(call.input(0), relax.const(np.float32(call.attributes.get("by", 2.0))))


def result(made: onnx.ModelProto) -> np.ndarray:
    mod, params = tvmq.from_onnx(made)
    return tvmq.build(mod, params=params).run({"x": X})[0]


@pytest.mark.slow
@pytest.mark.parametrize("declared", [True, False])
def test_an_onnx_operator_of_ones_own_domain(declared: bool):
    importer("my.domain", "Scale")(scaled)
    plain = result(model("Identity", "", declared=False))
    np.testing.assert_array_equal(result(model("Scale", declared=declared, by=2.0)), 2 * plain)


@pytest.mark.slow
def test_an_operator_of_the_name_of_onnx_s_own_is_another():
    """LayerNormalization of another domain is no LayerNormalization, nor Relu a Relu."""
    for name in ("Relu", "LayerNormalization", "Shape", "If"):
        importer("my.domain", name)(scaled)
        np.testing.assert_array_equal(result(model(name)), 2 * result(model("Identity", "", declared=False)))


@pytest.mark.slow
def test_several_results_and_quantization():
    def halves(call: Any) -> Any:
        half = relax.op.multiply(call.input(0), relax.const(np.float32(0.5)))
        return half, relax.op.negative(half)

    importer("my.domain", "Halves")(halves)
    net = Net((1, 2, 5, 5))
    first, second = net.ops("Halves", net.conv(net.inputs[0], 2, 3), outputs=2, domain="my.domain")
    made = net.model(net.op("Sub", first, second), domain="my.domain")
    mod, params = tvmq.from_onnx(made)
    exe = tvmq.build(mod, params=params)
    plain = result(model("Identity", "", declared=False))
    np.testing.assert_array_equal(np.maximum(exe.run({"x": X})[0], 0).reshape(1, -1), plain)
    quantized = tvmq.quantize(mod, params, [{"x": X}], guard=None)
    assert tvmq.verify(tvmq.build(quantized), {"x": X}).exact


def test_what_nobody_imports_names_the_remedy():
    with pytest.raises(UnsupportedOpError) as caught:
        tvmq.from_onnx(model("Gate", declared=False))
    message = str(caught.value)
    assert "operator my.domain.Gate is not supported; register @tvmq.extension.importer" in message
    assert '("my.domain", "Gate")' in message


def test_what_an_importer_gives_is_checked():
    importer("my.domain", "Nothing")(lambda call: None)
    with pytest.raises(UnsupportedOpError, match="my.domain::Nothing: its importer returned a NoneType; return a Relax"):
        tvmq.from_onnx(model("Nothing"))
    importer("my.domain", "Fails")(lambda call: call.input(3).shape)
    with pytest.raises(UnsupportedOpError, match="operator my.domain::Fails .* cannot be imported for inputs"):
        tvmq.from_onnx(model("Fails"))

    def refuses(call: Any) -> Any:
        raise call.unsupported_error("it has five dimensions", "give it four")

    importer("my.domain", "Refuses")(refuses)
    with pytest.raises(UnsupportedOpError, match="my.domain::Refuses: it has five dimensions; give it four"):
        tvmq.from_onnx(model("Refuses"))


@pytest.mark.parametrize(("arguments", "message"), [
    (("", "Relu"), "'ai.onnx' is a standard domain of ONNX"),
    (("com.microsoft", "Gelu"), "'com.microsoft' is a standard domain of ONNX"),
    (("my.domain", ""), "domain and operator must be strings"),
    ((3, "Relu"), "domain and operator must be strings"),
])  # fmt: skip
def test_names_that_cannot_be_registered(arguments: tuple[Any, ...], message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        importer(*arguments)


def test_two_importers_of_one_operator():
    importer("my.domain", "Scale")(scaled)
    importer("my.domain", "Scale")(scaled)  # a cell that is run again
    with pytest.raises(ConfigError, match=r"'my.domain::Scale' already has the importer tests.formats.importing.test_importers.scaled"):
        importer("my.domain", "Scale")(lambda call: call.input(0))
    with pytest.raises(ConfigError, match="needs a function as importer. Got a int"):
        importer("my.domain", "Number")(3)  # type: ignore[type-var]


# ---- torch


def torch_model(name: str) -> Any:
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = torch.nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return self.dense(getattr(torch.ops.tvmq_tests, name)(x, 0.5))

    torch.manual_seed(0)
    return torch, Model().eval()


def custom_operator(name: str) -> None:
    torch = pytest.importorskip("torch")
    if hasattr(torch.ops.tvmq_tests, name):
        return

    def gate(x: torch.Tensor, slope: float) -> torch.Tensor:
        return x * torch.clamp(x * slope + 0.5, 0, 1)

    gate.__annotations__ = {"x": torch.Tensor, "slope": float, "return": torch.Tensor}
    made = torch.library.custom_op(f"tvmq_tests::{name}", mutates_args=())(gate)
    made.register_fake(lambda x, slope: torch.empty_like(x))


def gate(call: Any) -> Any:
    inner = relax.op.add(relax.op.multiply(call["x"], relax.const(np.float32(call["slope"]))), relax.const(np.float32(0.5)))
    return relax.op.multiply(call["x"], relax.op.clip(inner, 0.0, 1.0))


def test_a_custom_operator_of_torch():
    custom_operator("add")  # the name of one of torch's own
    torch, network = torch_model("add")
    x = torch.randn(2, 4)
    with pytest.raises(UnsupportedOpError, match='register @tvmq.extension.torch_importer."tvmq_tests::add"'):
        tvmq.from_torch(network, (x,))
    torch_importer("tvmq_tests::add")(gate)
    mod, params = tvmq.from_torch(network, (x,))
    found = tvmq.build(mod, params=params)(x.numpy())
    np.testing.assert_allclose(found, network(x).detach().numpy(), atol=1e-6)
    importers._torch.clear()
    torch_importer("tvmq_tests::add.default")(lambda call: "no Relax")
    with pytest.raises(UnsupportedOpError, match="tvmq_tests::add.default: its importer returned a str; return a Relax"):
        tvmq.from_torch(network, (x,))


@pytest.mark.parametrize(
    ("operator", "message"),
    [("aten::relu", "belongs to torch itself"), ("relu", "write the operator as 'namespace::name'")],
)
def test_names_of_torch_that_cannot_be_registered(operator: str, message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        torch_importer(operator)
    torch_importer("my_chip::gate")(gate)
    with pytest.raises(ConfigError, match="'my_chip::gate' already has the importer tests.formats.importing.test_importers.gate"):
        torch_importer("my_chip::gate")(scaled)
