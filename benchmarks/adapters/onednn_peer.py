"""oneDNN: the int8 convolutions and products of a model alone, one after the other: a ceiling, not a network.

    python onednn_peer.py MODEL.onnx        microseconds of each layer, the least of many runs, on one thread

u8 by s8 with a float scale a channel, a float bias, u8 out, in the layouts that oneDNN likes best, so without reorders;
no pooling, sum, activation (codes saturate at zero for nothing), norm or softmax. Two buffers take turns, so that each
layer reads what the layer before has just written. Weights are random: the time does not depend on them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onednn_library import Engine, Primitive
from onnx_layers import Layer, read_layers
from serve import Job, Make

ROUNDS = 30


def version() -> str:
    """oneDNN, its version, and what the row is."""
    return f"oneDNN {Engine.version()}: sum of its layers, no network"


def prepare(job: Job) -> dict[str, Make]:
    """All layers; the output of their run is empty, as no network has run. OMP_NUM_THREADS is the driver's."""
    return {"onednn layers": lambda: _load(job)}


def _load(job: Job) -> Callable[[], np.ndarray]:
    engine = Engine()
    primitives = make_primitives(engine, read_layers(job.model, {name: a.shape for name, a in job.feed.items()}))

    def run() -> np.ndarray:
        for primitive in primitives:
            primitive.execute()
        engine.wait()
        return np.zeros(0)

    return run


def make_primitives(engine: Engine, layers: list[Layer]) -> list[Primitive]:
    """Their primitives, with buffers that take turns."""
    made = [_primitive(engine, layer) for layer in layers]
    size = max(max(primitive.source_bytes, primitive.output_bytes) for primitive in made)
    buffers = [engine.buffer(size) for _ in range(2)]
    for number, primitive in enumerate(made):
        primitive.bind(buffers[number % 2], buffers[1 - number % 2])
    return made


def _primitive(engine: Engine, layer: Layer) -> Primitive:
    shapes = layer.source, layer.weights, layer.output
    if layer.strides:
        return engine.convolution(*shapes, layer.strides, layer.dilations, layer.pads)
    return engine.product(*shapes)


def main(path: str) -> None:
    """Print the layers of a model."""
    engine, layers = Engine(), read_layers(Path(path))
    primitives = make_primitives(engine, layers)
    least = np.full(len(layers), np.inf)
    for _ in range(ROUNDS):
        for number, primitive in enumerate(primitives):
            start = time.perf_counter()
            primitive.execute()
            engine.wait()
            least[number] = min(least[number], time.perf_counter() - start)
    for layer, primitive, seconds in zip(layers, primitives, least, strict=True):
        print(f"{1e6 * seconds:9.1f} us  {layer.name}  {layer.source} x {layer.weights}  {primitive.implementation}")
    print(f"{1e6 * least.sum():9.1f} us  together, {version()}")


if __name__ == "__main__":
    main(sys.argv[1])
