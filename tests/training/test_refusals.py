"""Refusals of inputs and states by a network in training, each in one sentence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from tests.training.small_network import QUICKLY  # noqa: E402
from tvmq import QConfig  # noqa: E402
from tvmq.errors import DataError  # noqa: E402
from tvmq.training import prepare  # noqa: E402

SAMPLES = [np.random.default_rng(0).standard_normal((16, 6)).astype(np.float32)]


def network(model: nn.Module | None = None, **options: Any) -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4)) if model is None else model
    return prepare(model.eval(), (torch.ones(1, 6),), SAMPLES, config=QConfig(**QUICKLY), **options)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ((torch.ones(4, 6),), "input 'input' must have shape (1, 6), as the model was imported. Got (4, 6) instead"),
        ((torch.ones(6),), "input 'input' must have shape (1, 6), as the model was imported. Got (6,) instead"),
        ((np.ones((1, 6), np.float32),), "input 'input' must be a torch tensor. Got ndarray instead"),
        ((), "the model takes 1 inputs ('input'). Got 0 instead"),
    ],
    ids=["batch", "rank", "array", "none"],
)
def test_inputs_of_another_shape_than_the_model_was_imported_with_are_refused(inputs: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^training: {re.escape(sentence)}"):
        network(dynamic_batch=False)(*inputs)


def test_states_that_are_no_scales_are_refused_and_change_nothing() -> None:
    net = network()
    before = net.kept_state()
    scale = next(name for name in before if name.endswith(".start"))
    ratio = scale.replace(".start", ".log2_ratio")
    for name, value in [
        (scale, np.nan), (scale, np.inf), (scale, 0.0), (scale, -1.0), (ratio, np.nan), (ratio, 500.0),
        (ratio, -500.0), ("0.weight", np.inf),
    ]:  # fmt: skip
        state = {key: tensor.clone() for key, tensor in before.items()}
        state["0.bias"] = state["0.bias"] + 1
        state[name] = torch.full_like(state[name], value)
        with pytest.raises(DataError, match=f"^training: parameter '{re.escape(name)}' of the state is (no|not) "):
            net.load_state_dict(state)
        assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())
    net.load_state_dict(before)


class Results(nn.Module):
    """A dictionary of a product and a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Named results."""
        return {"scores": self.layer(x), "anchors": torch.arange(3.0)}


def test_results_of_a_dictionary_are_tensors_in_the_order_of_their_names() -> None:
    net = network(Results())
    found = dict(zip(net.output_names, net(torch.ones(2, 6)), strict=True))
    assert list(found) == ["scores", "anchors"] and found["scores"].requires_grad
    assert torch.equal(found["anchors"], torch.arange(3.0))
