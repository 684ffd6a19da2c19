"""Thin executable."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from tvm import relax


class Executable:
    def __init__(self, executable: relax.VMExecutable, target: Any, description: dict[str, Any], kernels: dict[str, str]) -> None:
        self.executable, self.target, self.description, self.kernels = executable, target, description, kernels
        self._main = relax.VirtualMachine(executable, tvm.cpu())["main"]

    def run(self, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        out = self._main(*[tvm.runtime.tensor(np.ascontiguousarray(feed[i["name"]])) for i in self.description["inputs"]])
        return [o.numpy() for o in out] if not hasattr(out, "numpy") else [out.numpy()]
