"""tvmq's side of the tables: a task's model in float, simulated and in integers, and what its ledger says."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Feed, Predict

import tvmq
from tvmq.quantization.pipeline import USUAL_GUARD


@dataclass(frozen=True, eq=False)
class Quantized:
    """An integer module, compiled, with the seconds that took.

    quantize_seconds    import not included; reading the calibration data is
    """

    module: Any
    executable: Any
    quantize_seconds: float
    build_seconds: float


@dataclass(frozen=True, eq=False)
class Model:
    """An imported float model."""

    module: Any
    params: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path, shape: Mapping[str, Sequence[int]]) -> Model:
        """Import an ONNX file with its inputs fixed to `shape`."""
        return cls(*tvmq.from_onnx(path, shape=shape))

    def floats(self, target: str = "llvm") -> Any:
        """Executable of the float model."""
        return tvmq.build(self.module, target=target, params=self.params)

    def simulated(self, data: Iterable[Feed]) -> Any:
        """The float32 module that rounds where the integer model does."""
        with tvmq.qconfig(do_simulation=True):
            return tvmq.quantize(self.module, self.params, data)

    def integer(self, data: Iterable[Feed], guard: str | None = USUAL_GUARD) -> Any:
        """The integer module, default settings."""
        return tvmq.quantize(self.module, self.params, data, guard=guard)

    def quantized(self, data: Iterable[Feed], target: str = "llvm", *, guard: str | None = USUAL_GUARD) -> Quantized:
        """The integer module, compiled, with the times."""
        start = time.perf_counter()
        module = self.integer(data, guard)
        middle = time.perf_counter()
        executable = tvmq.build(module, target=target)
        return Quantized(module, executable, middle - start, time.perf_counter() - middle)


def predict(executable: Any) -> Predict:
    """An executable as the function that tasks evaluate."""
    return lambda feed: executable.run(feed)


def integer_share(module: Any) -> float:
    """Share of the multiply-accumulates whose both operands are 8-bit integers."""
    from tvmq.graph.ledger import get_ledger

    layers = get_ledger(module).layers.values()
    total = sum(layer.get("macs", 0) for layer in layers)
    return sum(layer.get("macs", 0) for layer in layers if layer["precision"] == "int8") / total
