"""TFLite files run by LiteRT and by tflite-micro: codes in, codes out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

ARENA = 1 << 24


def litert(data: bytes, *, kernels: str = "reference", keeps: bool = False) -> Any:
    """An interpreter of LiteRT.

    kernels   "reference", "own" (its optimized ones) or "usual": what it takes by itself, XNNPACK where that can
    keeps     all tensors can be read after a run
    """
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kinds = {"reference": OpResolverType.BUILTIN_REF, "own": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
             "usual": OpResolverType.AUTO}  # fmt: skip
    found = Interpreter(model_content=data, experimental_op_resolver_type=kinds[kernels], num_threads=1,
                        experimental_preserve_all_tensors=keeps)  # fmt: skip
    found.allocate_tensors()
    return found


def run_litert(interpreter: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]).copy() for detail in interpreter.get_output_details()]


def micro(data: bytes) -> Any:
    """An interpreter of tflite-micro."""
    from tflite_micro.python.tflite_micro.runtime import Interpreter

    return Interpreter.from_bytes(data, arena_size=ARENA)


def run_micro(interpreter: Any, inputs: Sequence[np.ndarray], results: int = 1) -> list[np.ndarray]:
    for number, array in enumerate(inputs):
        interpreter.set_input(array, number)
    interpreter.invoke()
    return [np.array(interpreter.get_output(number)) for number in range(results)]


@contextmanager
def silent() -> Iterator[None]:
    """Discard what libraries write to the two streams."""
    sys.stdout.flush()
    said, nowhere = [os.dup(stream) for stream in (1, 2)], os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        for stream, old in zip((1, 2), said, strict=True):
            os.dup2(old, stream)
            os.close(old)
        os.close(nowhere)
