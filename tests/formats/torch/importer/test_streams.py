"""Encoders of torch with residual streams in 16 bits: words, places, attention, both orders of norm and sum."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import tvmq
from tests.support.models.networks import snr
from tvmq.graph.view import View, dtype_of, op_name

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')


class Encoder(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Two blocks of one head; a mean over the words."""

    def __init__(self, *, norm_first: bool) -> None:
        super().__init__()
        nn = torch.nn
        self.norm_first = norm_first
        self.word, self.place = nn.Embedding(20, 16), nn.Embedding(8, 16)
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(5))
        self.attention = nn.ModuleList(nn.ModuleList(nn.Linear(16, 16) for _ in range(4)) for _ in range(2))
        self.wide, self.narrow = (nn.ModuleList(nn.Linear(*s) for _ in range(2)) for s in ((16, 32), (32, 16)))
        self.head = nn.Linear(16, 3)

    def attend(self, x: Any, block: int) -> Any:
        q, k, v, out = self.attention[block]
        return out((q(x) @ k(x).transpose(1, 2) / 4).softmax(-1) @ v(x))

    def forward(self, ids: Any) -> Any:
        x = self.word(ids) + self.place.weight[: ids.shape[1]]
        for block in range(2):
            first, second = self.norms[2 * block : 2 * block + 2]
            if self.norm_first:
                x = x + self.attend(first(x), block)
                x = x + self.narrow[block](torch.relu(self.wide[block](second(x))))
            else:
                x = first(x + self.attend(x, block))
                x = second(x + self.narrow[block](torch.relu(self.wide[block](x))))
        return self.head(self.norms[4](x).mean(1))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["float", "fixed_point"])
@pytest.mark.parametrize("norm_first", [True, False])
def test_encoders_are_exact_with_streams_of_16_bits(norm_first: bool, mode: str) -> None:
    torch.manual_seed(0)
    encoder = Encoder(norm_first=norm_first).eval()
    words = [torch.randint(20, (1, 8)) for _ in range(8)]
    mod, params = tvmq.from_torch(encoder, (words[0],))
    quantized = tvmq.quantize(
        mod,
        params,
        words,
        config=tvmq.QConfig(residual_streams="int16", requantize=mode, calibrate_mode="minmax"),
        guard=None,
    )
    exe = tvmq.build(quantized)
    assert tvmq.verify(exe, words[:3]).exact
    bindings = View(quantized).bindings
    assert not [var.name for var, value in bindings if op_name(value) == "add" and dtype_of(var) == "float32"]
    sums = Counter(dtype_of(var) for var, value in bindings if op_name(value) in ("tvmq.add", "tvmq.scale_shift"))
    assert sums["int16"] == 5 and set(sums) == {"int16"}
    rows = next(var for var, value in bindings if op_name(value) == "take")
    assert dtype_of(rows) == ("int8" if norm_first else "uint8")  # products read the words where no norm is first
    expected = encoder(words[0]).detach().numpy()
    assert snr(expected, exe.run({"ids": words[0].numpy()})[0]) > 20
