"""A search over a small network that 8 bits break, shared by the tests, which also run it in other processes.

python -m tests.quantization.search.small_search FOLDER [WORKERS]       prints front.json
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import tvmq
from tests.support.models.networks import Net

BOUND = 25.0  # dB


def unsteady_network() -> onnx.ModelProto:
    """Dense layers and between them x * relu(E[x^2] - E[x]^2) of values far from zero; no norm."""
    net = Net((1, 16))
    x = net.op("Add", net.dense("x", 16, 32), net.constant(np.full(32, 30.0, np.float32)))
    mean = net.op("ReduceMean", x, axes=[-1], keepdims=1)
    square = net.op("ReduceMean", net.op("Mul", x, x), axes=[-1], keepdims=1)
    variance = net.op("Relu", net.op("Sub", square, net.op("Mul", mean, mean)))
    return net.model(net.dense(net.op("Mul", net.op("Sub", x, mean), variance), 32, 10))


def samples(count: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Batches of one."""
    random = np.random.default_rng(seed)
    return [{"x": random.standard_normal((1, 16)).astype(np.float32)} for _ in range(count)]


def search_unsteady(output: Path | None = None, **options: Any) -> Any:
    """The search that the tests repeat: two rounds for BOUND."""
    mod, params = tvmq.from_onnx(unsteady_network())
    space = tvmq.SearchSpace(options=("int8", "weights4", "dynamic", "float"), networks=({},))
    wanted = {"data": samples(32, 2), "sqnr": BOUND, "space": space, "rounds": 2, "output": output, "minimize": "size"}
    return tvmq.search(mod, params, samples(64, 1), **{**wanted, **options})


if __name__ == "__main__":
    search_unsteady(Path(sys.argv[1]), workers=int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print((Path(sys.argv[1]) / "front.json").read_text())
