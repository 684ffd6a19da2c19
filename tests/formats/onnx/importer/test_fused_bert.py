"""A small BERT as onnxruntime's optimizer for transformers writes it: attention, embedding, norms and gelu as one node each."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from torch import nn  # noqa: E402

import tvmq  # noqa: E402
from tests.formats.importing.frontend_models import run_onnxruntime  # noqa: E402

HIDDEN, HEADS, WORDS, LENGTH = 32, 2, 50, 8
NAMES = ("input_ids", "attention_mask", "token_type_ids")
FUSED = {"EmbedLayerNormalization", "Attention", "SkipLayerNormalization", "BiasGelu"}


class Bert(nn.Module):
    """A layer written so that the optimizer finds its patterns."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.types = (nn.Embedding(count, HIDDEN) for count in (WORDS, LENGTH, 2))
        self.query, self.key, self.value, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.first, self.second, self.third = (nn.LayerNorm(HIDDEN) for _ in range(3))
        self.wide, self.narrow = nn.Linear(HIDDEN, 64), nn.Linear(64, HIDDEN)
        self.register_buffer("position_ids", torch.arange(LENGTH)[None])

    def heads(self, x: Any) -> Any:
        return x.view(x.shape[0], -1, HEADS, HIDDEN // HEADS).permute(0, 2, 1, 3)

    def forward(self, ids: Any, mask: Any, types: Any) -> Any:
        closed = (1.0 - mask[:, None, None, :].float()) * -10000.0
        x = self.words(ids) + self.types(types) + self.places(self.position_ids[:, : ids.shape[1]])
        x = self.first(x)
        query, key, value = (self.heads(layer(x)) for layer in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / (HIDDEN // HEADS) ** 0.5 + closed
        seen = torch.matmul(torch.softmax(scores, -1), value).permute(0, 2, 1, 3).contiguous()
        x = self.second(self.out(seen.view(seen.shape[0], -1, HIDDEN)) + x)
        return self.third(self.narrow(nn.functional.gelu(self.wide(x))) + x)


@pytest.mark.slow
def test_bert_of_the_optimizer(tmp_path: Path) -> None:
    optimizer = pytest.importorskip("onnxruntime.transformers.optimizer", reason="needs onnxruntime's optimizer")
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    rows = [
        {
            "input_ids": random.integers(0, WORDS, (2, LENGTH)),
            "attention_mask": (np.arange(LENGTH) < random.integers(4, LENGTH + 1, (2, 1))).astype(np.int64),
            "token_type_ids": random.integers(0, 2, (2, LENGTH)),
        }
        for _ in range(3)
    ]
    dynamic = {name: {0: "batch", 1: "length"} for name in NAMES}
    examples = tuple(torch.from_numpy(rows[0][name]) for name in NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, about its exporter
        torch.onnx.export(
            Bert().eval(),
            examples,
            str(tmp_path / "bert.onnx"),
            input_names=list(NAMES),
            output_names=["y"],
            dynamic_axes=dynamic,
            opset_version=14,
            dynamo=False,
        )
        fused = optimizer.optimize_model(
            str(tmp_path / "bert.onnx"), model_type="bert", num_heads=HEADS, hidden_size=HIDDEN, opt_level=0
        )
    fused.save_model_to_file(str(tmp_path / "fused.onnx"))
    model = onnx.load(tmp_path / "fused.onnx")
    assert {node.op_type for node in model.graph.node} >= FUSED
    mod, params = tvmq.from_onnx(model)
    expected = run_onnxruntime(model, rows[0])[0]
    np.testing.assert_allclose(tvmq.build(mod, params=params).run(rows[0])[0], expected, rtol=1e-4, atol=1e-5)
    quantized = tvmq.quantize(mod, params, rows, guard=None)
    result = tvmq.build(quantized).run(rows[0])[0]
    np.testing.assert_array_equal(result, tvmq.reference.run(quantized, rows[0])[0])
    assert np.abs(result - expected).mean() < 0.1 * np.abs(expected).mean()
