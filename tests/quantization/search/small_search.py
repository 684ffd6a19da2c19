"""A search over a small network that 8 bits break, shared by the tests, which also run it in other processes.

python -m tests.quantization.search.small_search FOLDER [WORKERS]       prints front.json
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tests.support.models.guarded_networks import small_variance as unsteady_network

BOUND = 25.0  # dB


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
