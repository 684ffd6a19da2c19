"""tvmq.formats.torch.importer.quantized.custom_modules: other modules are imported in place of those of a class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tvmq.errors import ModelError

torch = pytest.importorskip("torch")
nn = torch.nn


class Swirl(nn.Module):
    """A float module that torch.export cannot trace."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.layer(x) if float(x.sum()) > 0 else self.layer(x).relu()


class Plain(nn.Module):
    """Module that is deployed instead."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    @classmethod
    def from_float(cls, module: Swirl) -> Plain:
        return cls(module.layer)

    def forward(self, x: Any) -> Any:
        return self.layer(x).relu()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.swirl, self.block = Swirl(), nn.Sequential(nn.Linear(4, 4), Swirl())
        self.block.append(self.swirl)

    def forward(self, x: Any) -> Any:
        return self.block(self.swirl(x))


@pytest.mark.parametrize("convert", [Plain, lambda module: Plain(module.layer)])
def test_other_modules_are_imported_and_the_model_is_as_before(convert: Any) -> None:
    torch.manual_seed(0)
    model = Model().eval()
    children = [*model.modules()]
    x = torch.randn(3, 4)
    mod, params = tvmq.from_torch(model, x, custom_modules={Swirl: convert})
    assert [*model.modules()] == children and {"block.0.weight", "swirl.layer.weight"} <= _weights(mod)
    deployed = nn.Sequential(Plain(model.swirl.layer), model.block[0], Plain(model.block[1].layer), Plain(model.swirl.layer))
    (ours,) = tvmq.build(mod, params=params).run({"input" if "input" in _inputs(mod) else "x": x.numpy()})
    np.testing.assert_allclose(ours, deployed(x).detach().numpy(), atol=1e-5)
    root, _ = tvmq.from_torch(model.swirl, x, custom_modules={Swirl: convert})
    assert "relu" in root.script()


def _weights(mod: Any) -> set[str]:
    from tvmq.graph.names import weight_names

    return set(weight_names(mod["main"]).values())


def _inputs(mod: Any) -> list[str]:
    return [param.name for param in mod["main"].params]


@pytest.mark.parametrize(
    ("custom", "text"),
    [
        ({3: Plain}, "custom_modules has a key that is no class of modules: 3"),
        ({Swirl: 3}, "custom_modules for Swirl must be a function of the module, or a class with from_float"),
        ({Swirl: lambda module: 3}, "layer 'swirl': custom_modules for Swirl gave a int; return an nn.Module"),
        ({nn.Conv2d: Plain}, "custom_modules names Conv2d, and the model has no module of that class"),
    ],
)
def test_refusals(custom: Any, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        tvmq.from_torch(Model(), torch.zeros(2, 4), custom_modules=custom)


def test_a_program_has_no_modules() -> None:
    program = torch.export.export(nn.Linear(4, 4), (torch.zeros(1, 4),))
    with pytest.raises(ModelError, match="custom_modules needs an nn.Module, got ExportedProgram"):
        tvmq.from_torch(program, custom_modules={Swirl: Plain})
