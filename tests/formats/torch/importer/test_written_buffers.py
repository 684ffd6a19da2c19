"""Buffers that a torch module writes are states: their values go from call to call as in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.graph.state_pairs import state_pairs

torch = pytest.importorskip("torch")
nn = torch.nn


class CausalConvolution(nn.Module):
    """A convolution that keeps its last inputs."""

    def __init__(self, begin: float = 0.0) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3)
        self.register_buffer("cache", torch.full((1, 4, 2), begin))

    def forward(self, x: Any) -> Any:
        whole = torch.cat([self.cache, x], dim=2)
        self.cache.copy_(whole[:, :, -2:])
        return torch.relu(self.conv(whole))


class Counts(nn.Module):
    """x + the number of the call."""

    def __init__(self, *begin: float) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor(begin))

    def forward(self, x: Any) -> Any:
        self.count.add_(1)
        return x + self.count


def play(model: Any, mod: Any, params: Any, calls: list[np.ndarray], name: str = "x") -> list[tuple[Any, Any]]:
    exe = tvmq.build(mod, params=params)
    state = exe.new_state()
    pairs = []
    for call in calls:
        with torch.no_grad():
            wanted = model(torch.from_numpy(call)).numpy()
        pairs.append((exe.run({name: call}, state)[0], wanted))
    return pairs


def test_a_cache_goes_from_call_to_call() -> None:
    torch.manual_seed(0)
    model = CausalConvolution(0.5).eval()
    mod, params = tvmq.from_torch(model, torch.zeros(1, 4, 5))
    model.cache.fill_(0.5)  # torch.export may have run it
    (pair,) = state_pairs(mod)
    assert (pair.input, pair.output, pair.kind, pair.initial) == ("cache", "cache.next", "replaced", 0.5)
    calls = [np.random.default_rng(n).standard_normal((1, 4, 5)).astype(np.float32) for n in range(3)]
    for ours, wanted in play(model, mod, params, calls):
        assert np.allclose(ours, wanted, atol=1e-5)
    qmod = tvmq.quantize(mod, params, [[{"x": call} for call in calls]], guard=None)
    exe = tvmq.build(qmod)
    assert exe.states.tensors[0].dtype == "uint8"
    assert exe.new_state().arrays["cache"].min() == exe.states.tensors[0].encode(np.full(1, 0.5))


def test_a_counter() -> None:
    mod, params = tvmq.from_torch(Counts(3.0), torch.zeros(2))
    exe = tvmq.build(mod, params=params)
    state = exe.new_state()
    x = {"x": np.zeros(2, np.float32)}
    assert [exe.run(x, state)[0].tolist() for _ in range(2)] == [[4.0, 4.0], [5.0, 5.0]]


def test_what_cannot_be_a_state() -> None:
    with pytest.raises(UnsupportedOpError, match="the buffer 'count', which the model writes at each call, begins with"):
        tvmq.from_torch(Counts(1.0, 2.0), torch.zeros(2))
    with pytest.raises(UnsupportedOpError, match="writes its buffer 'count' at each call, but a module imported with"):
        tvmq.from_torch(Counts(1.0), torch.zeros(2), state=None)


def test_inputs_and_outputs_by_name() -> None:
    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru = nn.GRUCell(4, 8)

        def forward(self, x: Any, hidden: Any) -> Any:
            new = self.gru(x, hidden)
            return {"y": new * 2, "new_hidden": new}

    mod, _ = tvmq.from_torch(Cell().eval(), (torch.zeros(1, 4), torch.zeros(1, 8)))
    assert [(pair.input, pair.output) for pair in state_pairs(mod)] == [("hidden", "new_hidden")]
    mod, _ = tvmq.from_torch(Cell().eval(), (torch.zeros(1, 4), torch.zeros(1, 8)), state={})
    assert state_pairs(mod) == ()
