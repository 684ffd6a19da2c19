"""Recurrent layers of torch: what has no import; the others are in test_ops."""

from __future__ import annotations

import pytest

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.graph.view import View

torch = pytest.importorskip("torch")


def test_a_projection_of_the_state_is_refused() -> None:
    model = torch.nn.LSTM(4, 6, proj_size=3).eval()
    with pytest.raises(UnsupportedOpError, match="lstm.input: proj_size is not supported; write the projection"):
        tvmq.from_torch(model, (torch.zeros(2, 1, 4),))


@pytest.mark.slow
def test_the_module_does_not_grow_with_the_steps() -> None:
    model = torch.nn.GRU(4, 6).eval()
    sizes = [len(View(tvmq.from_torch(model, (torch.zeros(steps, 1, 4),))[0]).bindings) for steps in (2, 200)]
    assert sizes[0] == sizes[1] < 15
