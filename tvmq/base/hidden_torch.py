"""TVM imported without torch: tvm_ffi imports it wherever it is installed, to accept its tensors.

That takes two thirds of the time of the import, and 200 MB in each process that runs a model and no torch.

Tests: tests/tools/cli/test_start.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

TORCH, OF_TVM = "torch", ("tvm", "tvm_ffi")


class _TorchHider(MetaPathFinder):
    """Hides torch from TVM, whenever TVM is imported; it can be imported later."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a package of TVM, whose import does not see torch; None for all others."""
        spec = PathFinder.find_spec(name, path, target) if name in OF_TVM and TORCH not in sys.modules else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def without_torch(module: ModuleType) -> None:
            sys.modules[TORCH] = None  # type: ignore[assignment]  # an import raises ImportError
            try:
                execute(module)
            finally:
                del sys.modules[TORCH]

        spec.loader.exec_module = without_torch  # type: ignore[method-assign]
        return spec


@contextmanager
def hidden_torch() -> Iterator[None]:
    """Imports of TVM inside load no torch.

    Does nothing on Windows, where torch must come first, or if either is imported already.
    """
    if {TORCH, "tvm_ffi"} & sys.modules.keys() or sys.platform == "win32":
        yield
        return
    hider = _TorchHider()
    sys.meta_path.insert(0, hider)
    try:
        yield
    finally:
        sys.meta_path.remove(hider)
