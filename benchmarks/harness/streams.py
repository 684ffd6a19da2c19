"""Audio made by formula, and models that hear it as a stream: Silero VAD from pip, the zoo's DS-CNN with caches."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATE = 16000
FRAME, CONTEXT = 512, 64  # samples of a step of Silero VAD, and those before it that it also hears


def audio(seconds: float, seed: int = 0) -> np.ndarray:
    """Speech-like sound: syllables of harmonics with formants, breath noise, pauses, over a floor of noise; -1..1."""
    random, count = np.random.default_rng(seed), int(seconds * RATE)
    sound = 0.002 * random.standard_normal(count)
    begin = 0
    while begin < count:
        if random.random() < 0.3:  # a pause
            begin += int(random.uniform(0.2, 1.5) * RATE)
            continue
        length = int(random.uniform(0.08, 0.35) * RATE)
        part = sound[begin : begin + length]
        part += random.uniform(0.05, 0.6) * syllable(len(part), random)
        begin += length
    return np.clip(sound, -1, 1).astype(np.float32)


def syllable(count: int, random: np.random.Generator) -> np.ndarray:
    """A voiced syllable with a noisy onset."""
    time = np.arange(count) / RATE
    pitch = random.uniform(90, 250) * (1 + 0.1 * np.sin(2 * np.pi * random.uniform(2, 6) * time))
    phase, formants = 2 * np.pi * np.cumsum(pitch) / RATE, random.uniform([250, 800, 2200], [900, 2200, 3200])
    voice = np.zeros(count)
    for harmonic in range(1, 30):
        gains = np.exp(-(((harmonic * pitch[:1] - formants[:, None]) / 180) ** 2)).sum()
        voice += (gains + 0.02) / harmonic**0.3 * np.sin(harmonic * phase)
    envelope = np.sin(np.pi * np.minimum(1, time / max(time[-1], 1e-9))) ** 0.5
    onset = 0.3 * random.standard_normal(count) * np.exp(-time / 0.02)
    voice = envelope * voice / max(np.abs(voice).max(), 1e-9)
    return np.asarray(voice + onset)


def frames(sound: np.ndarray) -> np.ndarray:
    """[steps, CONTEXT + FRAME]: each step with the samples before it."""
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), sound])
    steps = len(sound) // FRAME
    return np.stack([padded[step * FRAME : step * FRAME + CONTEXT + FRAME] for step in range(steps)])


def silero_folder() -> Path | None:
    """The folder of Silero's models; None where the package is not installed (pip install --no-deps silero-vad)."""
    found = importlib.util.find_spec("silero_vad")
    return Path(found.origin).parent / "data" if found and found.origin else None


def streaming_dscnn(model: onnx.ModelProto) -> onnx.ModelProto:
    """The zoo's DS-CNN as a stream: x [batch, steps, 160], four frames of 40 bands a step -> logits [batch, steps, 10].

    Convolutions along time read their last rows from a cache in place of padding, and the mean is that of the last 15
    steps.
    """
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes, caches = [], dict[str, list[int]]()
    bounds = {"to": [2**31 - 1], "axis": [2], "frames": [0, 1, -1, 40]}

    def cached(x: str, rows: int, shape: list[int]) -> str:
        name = f"cache{len(caches)}"
        caches[name], bounds[f"{name}_from"] = shape, [-rows]
        nodes.append(helper.make_node("Concat", [f"{name}_in", x], [f"{name}_all"], f"/{name}", axis=2))
        cut = [f"{name}_all", f"{name}_from", "to", "axis"]
        nodes.append(helper.make_node("Slice", cut, [f"{name}_out"], f"/{name}_cut"))
        return f"{name}_all"

    def convolve(name: str, x: str, **attributes: Any) -> str:
        inputs = [x, f"{name}.weight", f"{name}.weight_bias"]
        nodes.append(helper.make_node("Conv", inputs, [f"{name}_sums"], f"/{name}", **attributes))
        nodes.append(helper.make_node("Relu", [f"{name}_sums"], [f"{name}_y"], f"/{name}_relu"))
        return f"{name}_y"

    nodes.append(helper.make_node("Reshape", ["x", "frames"], ["rows"], "/frames"))
    x = convolve("conv.0", cached("rows", 6, [1, 6, 40]), strides=[4, 2], pads=[0, 1, 0, 1])
    for block in range(4):
        x = cached(x, 2, [64, 2, 20])
        x = convolve(f"blocks.{block}.0", x, group=64, pads=[0, 1, 0, 1])
        x = convolve(f"blocks.{block}.3", x)
    nodes.append(helper.make_node("ReduceMean", [x], ["bands"], "/bands", axes=[3], keepdims=1))
    window = cached("bands", 14, [64, 14, 1])
    nodes.append(helper.make_node("AveragePool", [window], ["means"], "/window", kernel_shape=[15, 1]))
    nodes.append(helper.make_node("Squeeze", ["means", "last"], ["vectors"], "/squeeze"))
    nodes.append(helper.make_node("Transpose", ["vectors"], ["steps"], "/transpose", perm=[0, 2, 1]))
    nodes.append(helper.make_node("MatMul", ["steps", "fc"], ["products"], "/fc"))
    nodes.append(helper.make_node("Add", ["products", "fc.bias"], ["logits"], "/fc_bias"))
    kept = {name for node in nodes for name in node.input}
    constants = [tensor for name, tensor in weights.items() if name in kept]
    constants += [numpy_helper.from_array(np.asarray(value, np.int64), name) for name, value in bounds.items()]
    constants.append(numpy_helper.from_array(np.int64([3]), "last"))
    constants.append(numpy_helper.from_array(np.ascontiguousarray(numpy_helper.to_array(weights["fc.weight"]).T), "fc"))
    shapes = {name: ["batch", *shape] for name, shape in caches.items()}
    ins = {"x": ["batch", "time", 160], **{f"{name}_in": shape for name, shape in shapes.items()}}
    outs = {"logits": ["batch", "time", 10], **{f"{name}_out": shape for name, shape in shapes.items()}}
    infos = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side.items()]
        for side in (ins, outs)
    ]
    graph = helper.make_graph(nodes, "stream", *infos, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
