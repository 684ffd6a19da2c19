"""A quick start of commands: TVM without torch, where nothing of torch is used.

tvm_ffi imports torch wherever it is installed, to take tensors of it; that is two thirds of the time that TVM takes to
import. A command that reads neither a program of torch nor a function of the user's can do without.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from typing import Any

# Endings of programs of torch, and what stands between the file and the name of a function (--data file.py:name)
OF_TORCH, OF_USERS = (".pt2", ".pt", ".pth"), ".py:"
TORCH = "torch"


def needs_torch(arguments: Iterable[Any]) -> bool:
    """True if a command with these arguments may meet tensors or programs of torch.

    >>> needs_torch(["net.onnx", "samples.py:batches"]), needs_torch(["net.onnx", None, ["a.npz"]])
    (True, False)
    """
    for argument in arguments:
        if isinstance(argument, list | tuple):
            if needs_torch(argument):
                return True
        elif str(argument).endswith(OF_TORCH) or OF_USERS in str(argument):
            return True
    return False


def import_tvm(arguments: Iterable[Any]) -> None:
    """Import TVM, without torch if a command with these arguments needs none; torch itself can be imported afterwards.

    Nothing on Windows, where torch must come first, and where either is imported already. A TVM that cannot be imported
    is left to the command, which says so.
    """
    there = {TORCH, "tvm_ffi"} & sys.modules.keys()
    if there or sys.platform == "win32" or needs_torch(arguments):
        return
    sys.modules[TORCH] = None  # type: ignore[assignment]  # an import raises ImportError
    try:
        with contextlib.suppress(Exception):
            import tvmq.graph.view  # noqa: F401  (the least of tvmq that has TVM)
    finally:
        del sys.modules[TORCH]
