"""tvmq.formats.torch.importer.quantized.borders: what stands outside of QuantStub and DeQuantStub stays float."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.graph.names import float_layers

torch = pytest.importorskip("torch")
quantization = pytest.importorskip("torch.ao.quantization")
nn = torch.nn


class Bordered(nn.Module):
    """Two products between stubs, one before, one behind, and a sum of both sides."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.behind = nn.Linear(6, 8), nn.Linear(8, 3)
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.before(x))
        inner = self.dequant(torch.relu(self.second(torch.relu(self.first(self.quant(x))))))
        return self.behind(x + inner)


class Twice(nn.Module):
    """A layer, called in codes and in float."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.other = nn.Linear(4, 4), nn.Linear(4, 4)
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()

    def forward(self, x: Any) -> Any:
        return self.other(self.layer(self.dequant(self.layer(self.quant(x)))))


def imported(model: Any, width: int) -> tuple[Any, dict[str, np.ndarray], list[dict[str, np.ndarray]]]:
    torch.manual_seed(0)
    data = [{"x": np.random.default_rng(seed).normal(size=(4, width)).astype(np.float32)} for seed in range(4)]
    return *tvmq.from_torch(model.eval(), torch.zeros(4, width)), data


def precisions(qmod: Any) -> dict[str, str]:
    layers = tvmq.explain(qmod).ledger.layers.values()
    return {", ".join(layer["layers"]): layer["precision"] for layer in layers if layer.get("macs")}


def test_layers_outside_stay_float_whatever_makes_the_scales() -> None:
    model = Bordered()
    mod, params, data = imported(model, 6)
    inside = {"first", "second"}
    assert {"before", "behind"} <= float_layers(mod["main"]) and inside.isdisjoint(float_layers(mod["main"]))
    qmod = tvmq.quantize(mod, params, data)
    explained = str(tvmq.explain(qmod))
    assert "the model: outside of its QuantStub and DeQuantStub" in explained
    exe = tvmq.build(qmod)
    (ours,), (defined,) = exe.run(data[0]), tvmq.reference.run(qmod, data[0])
    np.testing.assert_array_equal(ours, defined)
    np.testing.assert_allclose(ours, model(torch.from_numpy(data[0]["x"])).detach().numpy(), atol=0.05)
    for module in (qmod, quantized_at_run_time(mod, params)):
        by_layer = {name: one for name, one in precisions(module).items() if one == "int8"}
        assert len(by_layer) == 2 and all(any(part in name for part in inside) for name in by_layer), by_layer
        assert sum(one == "float" for one in precisions(module).values()) == 2


def quantized_at_run_time(mod: Any, params: Any) -> Any:
    with tvmq.qconfig(activations="dynamic"):
        return tvmq.quantize(mod, params)


def test_a_rule_of_the_user_takes_precedence() -> None:
    mod, params, data = imported(Bordered(), 6)
    rule = tvmq.Rule("behind", tvmq.QuantSpec("int8", 8, symmetric=True))
    with tvmq.qconfig(rules=[rule]):
        by_layer = precisions(tvmq.quantize(mod, params, data, guard=None))
    assert sum(one == "int8" for one in by_layer.values()) == 3


def test_a_layer_that_is_called_on_both_sides_counts_as_inside() -> None:
    mod, _, _ = imported(Twice(), 4)
    assert float_layers(mod["main"]) == {"other"}


def test_without_stubs_nothing_is_outside_and_hooks_are_gone() -> None:
    model = Bordered()
    mod, _, _ = imported(model, 6)
    assert not model.quant._forward_hooks
    model.quant = model.dequant = nn.Identity()
    assert imported(model, 6)[0]["main"].attrs.get("tvmq.float_layers") is None
    assert mod["main"].attrs.get("tvmq.float_layers") is not None


def test_what_cannot_be_imported_is_named_beside_stubs() -> None:
    class Odd(Bordered):
        def forward(self, x: Any) -> Any:
            return torch.linalg.svd(self.dequant(self.first(self.quant(x))))[1]

    with pytest.raises(UnsupportedOpError, match="is not supported"):
        tvmq.from_torch(Odd().eval(), torch.zeros(4, 8))
