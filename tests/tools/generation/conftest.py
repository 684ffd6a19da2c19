"""A tiny decoder with caches, quantized with scales made at run time; and one of NumPy alone, for the loop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import tvmq
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama
from tvmq.runtime.inputs import TensorInfo

TINY = LlamaShape(layers=1, width=16, heads=4, key_heads=2, hidden=16, words=23)


@pytest.fixture(scope="session")
def decoder() -> tvmq.Executable:
    """The tiny decoder, built."""
    mod, params = tvmq.from_onnx(write_llama(TINY, formula_weights(TINY)))
    with tvmq.qconfig(activations="dynamic"):
        return tvmq.build(tvmq.quantize(mod, params))


class FakeDecoder:
    """Logits and cache rows are a formula of the tokens so far; takes positions and a mask, and checks both."""

    def __init__(self, batch: int | str = "batch", length: int | str = "sequence", words: int = 11) -> None:
        self.words, self.calls = words, []
        past, total = [batch, 2, "past", 1], [batch, 2, "past + sequence", 1]
        self.input_info = (
            TensorInfo("input_ids", (batch, length), "int64"),
            TensorInfo("attention_mask", (batch, "past + sequence"), "int64"),
            TensorInfo("position_ids", (batch, length), "int64"),
            TensorInfo("past_key_values.0.key", tuple(past), "float32"),
        )
        self.output_info = (
            TensorInfo("logits", (batch, length, words), "float32"),
            TensorInfo("present.0.key", tuple(total), "float32"),
        )

    def run(self, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """As an executable."""
        ids, past = feed["input_ids"], feed["past_key_values.0.key"]
        self.calls.append(ids.copy())
        batch, count = ids.shape
        begin = past.shape[2]
        assert feed["attention_mask"].shape == (batch, begin + count) and feed["attention_mask"].all()
        np.testing.assert_array_equal(feed["position_ids"], np.broadcast_to(np.arange(begin, begin + count), ids.shape))
        rows = np.repeat(ids[:, None, :, None], 2, axis=1).astype(np.float32)
        present = np.concatenate([past, rows], axis=2)
        sums = np.cumsum(present[:, 0, :, 0], axis=1)[:, begin:]
        logits = np.sin(sums[:, :, None] * 1.7 + np.arange(self.words)).astype(np.float32)
        return [logits, present]


@pytest.fixture
def fake() -> FakeDecoder:
    """A decoder that needs no compiler."""
    return FakeDecoder()
