"""Encoders of BERT's form in CTranslate2 and PyTorch, from the weights of the ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from harness.zoo import Feed

from vectors.bert import EPSILON, Bert
from vectors.surroundings import Run

PRODUCTS = ("q", "k", "v", "o", "fc1", "fc2")


def run_ctranslate2(bert: Bert, kind: str, folder: Path) -> Run:
    """Runs of converted weights, of texts without their padding, which CTranslate2 makes itself; means by NumPy.

    kind  of its products: "float32" or "int8_float32"
    """
    import ctranslate2

    path = folder / f"ctranslate2.{bert.layers}.{kind}"
    if not path.exists():
        convert(bert, path)
    encoders = [ctranslate2.Encoder(str(path), compute_type=kind, intra_threads=threads) for threads in (1, 2)]

    def run(feed: Feed, threads: int, _level: int) -> np.ndarray:
        ids, mask = feed.values()
        texts = [row[kept != 0].tolist() for row, kept in zip(ids, mask, strict=True)]
        states = np.array(encoders[threads - 1].forward_batch(texts).last_hidden_state)
        return np.stack([state[: len(text)].mean(axis=0) for state, text in zip(states, texts, strict=True)])

    return run


def convert(bert: Bert, path: Path) -> None:
    """Write the weights as CTranslate2 stores them, as its converter of BertModel would."""
    from ctranslate2.specs import common_spec, transformer_spec

    weights = bert.weights
    encoder = transformer_spec.TransformerEncoderSpec(
        bert.layers, bert.heads, pre_norm=False, activation=common_spec.Activation.GELU, layernorm_embedding=True
    )
    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = weights["word.weight"]
    encoder.position_encodings.encodings = weights["pos.weight"]

    def normalize(to: Any, name: str) -> None:
        to.gamma, to.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    def multiply(to: Any, *names: str) -> None:
        to.weight = np.ascontiguousarray(np.concatenate([weights[f"{name}.weight"] for name in names], axis=1).T)
        to.bias = np.concatenate([weights[f"{name}.bias"] for name in names])

    normalize(encoder.layernorm_embedding, "norm")
    for number, layer in enumerate(encoder.layer):
        name = f"layers.{number}"
        multiply(layer.self_attention.linear[0], *(f"{name}.{one}" for one in "qkv"))
        multiply(layer.self_attention.linear[1], f"{name}.o")
        multiply(layer.ffn.linear_0, f"{name}.fc1")
        multiply(layer.ffn.linear_1, f"{name}.fc2")
        normalize(layer.self_attention.layer_norm, f"{name}.n1")
        normalize(layer.ffn.layer_norm, f"{name}.n2")
    spec.register_vocabulary([str(number) for number in range(len(weights["word.weight"]))])
    spec.config.unk_token, spec.config.layer_norm_epsilon = "0", EPSILON
    spec.validate()
    spec.optimize(quantization="float32")
    path.mkdir()
    spec.save(str(path))


def run_torch(bert: Bert, *, int8: bool) -> Run:
    """Runs of modules of PyTorch, whose own attention takes the mask; int8: its dynamic quantization of products."""
    import torch
    from torch import nn
    from torch.nn import functional as f

    named = {name: torch.from_numpy(np.array(array)) for name, array in bert.weights.items()}
    dense = nn.ModuleDict()
    for name in (f"layers.{number}.{one}" for number in range(bert.layers) for one in PRODUCTS):
        matrix = named[f"{name}.weight"]
        module = nn.Linear(*matrix.shape)
        module.weight.data, module.bias.data = matrix.T.contiguous(), named[f"{name}.bias"]
        dense[name.replace(".", "_")] = module
    if int8:
        dense = torch.ao.quantization.quantize_dynamic(dense.eval(), {nn.Linear}, dtype=torch.qint8)

    def normalize(x: Any, name: str) -> Any:
        return f.layer_norm(x, x.shape[-1:], named[f"{name}.weight"], named[f"{name}.bias"], EPSILON)

    def run(feed: Feed, threads: int, _level: int) -> np.ndarray:
        torch.set_num_threads(threads)
        ids, mask = map(torch.from_numpy, feed.values())
        places = torch.clamp(mask.cumsum(1) - 1, min=0)
        x = normalize(named["word.weight"][ids] + named["pos.weight"][places], "norm")
        for layer in (f"layers_{number}_" for number in range(bert.layers)):
            name = layer.replace("_", ".")
            q, k, v = (dense[layer + one](x).unflatten(2, (bert.heads, -1)).transpose(1, 2) for one in "qkv")
            mixed = f.scaled_dot_product_attention(q, k, v, mask[:, None, None, :] != 0)
            x = normalize(x + dense[f"{layer}o"](mixed.transpose(1, 2).flatten(2)), f"{name}n1")
            x = normalize(x + dense[f"{layer}fc2"](f.gelu(dense[f"{layer}fc1"](x))), f"{name}n2")
        kept = mask[:, :, None].to(x.dtype)
        return ((x * kept).sum(1) / kept.sum(1)).numpy()

    def without_gradients(*arguments: Any) -> np.ndarray:
        with torch.inference_mode():
            return run(*arguments)

    return without_gradients
