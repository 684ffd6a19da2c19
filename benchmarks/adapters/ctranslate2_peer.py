"""CTranslate2: the text encoder, float32 and int8 (weights a scale a row, activations a scale a row at run time).

It has layers of transformers, no graph: weights go by the names of our encoder (zoo, make_latency_models.py) into its
BERT. It takes words without a mask of their own and gives the last state, whose mean over the words is our output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import onnx
from ctranslate2.specs import common_spec, transformer_spec
from onnx import numpy_helper
from serve import Job, Make

WIDTH_OF_HEAD = 32
Weights = dict[str, np.ndarray]


def version() -> str:
    """CTranslate2 and its version."""
    return f"CTranslate2 {ctranslate2.__version__}, int8 dynamic"


def prepare(job: Job) -> dict[str, Make]:
    """Write the model in each type, load it."""
    if list(job.feed) != ["input_ids", "attention_mask"]:
        raise NotImplementedError("CTranslate2 has transformers of words alone")
    return {"ctranslate2 f32": lambda: _made("float32", job), "ctranslate2 int8": lambda: _made("int8", job)}


def _made(kind: str, job: Job) -> Callable[[], np.ndarray]:
    folder = job.folder / kind
    _write(read_encoder(job.model), folder, kind)
    return _load(folder, kind, job)


def read_encoder(path: Path) -> transformer_spec.TransformerEncoderModelSpec:
    """The encoder of an ONNX file as CTranslate2 describes it."""
    graph = onnx.load(path).graph
    weights = {value.name: numpy_helper.to_array(value).copy() for value in graph.initializer}
    norms = (node for node in graph.node if node.op_type == "LayerNormalization")  # equal weights are stored once
    width, depth = weights["word.weight"].shape[1], len([name for name in weights if name.endswith(".fc1.weight")])
    encoder = transformer_spec.TransformerEncoderSpec(
        depth, width // WIDTH_OF_HEAD, pre_norm=False, activation=common_spec.Activation.GELU,
        layernorm_embedding=True,
    )  # fmt: skip
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = weights["word.weight"]
    encoder.position_encodings.encodings = weights["pos.weight"]
    _set_norm(encoder.layernorm_embedding, norms, weights)
    for number, layer in enumerate(encoder.layer):
        _set_layer(layer, f"layers.{number}", norms, weights)
    return transformer_spec.TransformerEncoderModelSpec(encoder)


def _set_layer(layer: Any, name: str, norms: Iterator[onnx.NodeProto], weights: Weights) -> None:
    attention = layer.self_attention
    _set_linear(attention.linear[0], [f"{name}.{part}" for part in "qkv"], weights)
    _set_linear(attention.linear[1], [f"{name}.o"], weights)
    _set_norm(attention.layer_norm, norms, weights)
    _set_linear(layer.ffn.linear_0, [f"{name}.fc1"], weights)
    _set_linear(layer.ffn.linear_1, [f"{name}.fc2"], weights)
    _set_norm(layer.ffn.layer_norm, norms, weights)


def _set_linear(linear: Any, names: list[str], weights: Weights) -> None:
    """Several layers of one input become one; ONNX has them as inputs by outputs."""
    linear.weight = np.ascontiguousarray(np.concatenate([weights[f"{name}.weight"].T for name in names]))
    linear.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _set_norm(norm: Any, norms: Iterator[onnx.NodeProto], weights: Weights) -> None:
    _, gamma, beta = next(norms).input
    norm.gamma, norm.beta = weights[gamma], weights[beta]


def _write(spec: transformer_spec.TransformerEncoderModelSpec, folder: Path, kind: str) -> None:
    """The model in its own format; words are their numbers, as it asks for a text each."""
    spec.register_vocabulary([str(word) for word in range(spec.get_vocabulary_size())])
    spec.config.layer_norm_epsilon = 1e-5
    spec.validate()
    spec.optimize(quantization=kind)
    folder.mkdir()
    spec.save(str(folder))


def _load(folder: Path, kind: str, job: Job) -> Callable[[], np.ndarray]:
    """A run on the first sample."""
    encoder = ctranslate2.Encoder(str(folder), compute_type=kind, intra_threads=job.threads, inter_threads=1)
    words = job.feed["input_ids"].tolist()

    def run() -> np.ndarray:
        states = np.array(encoder.forward_batch(words).last_hidden_state)
        mean: np.ndarray = states.mean(1)
        return mean

    return run
