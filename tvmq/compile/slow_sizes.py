"""One warning where free dimensions make a build much slower than fixed ones would."""

from __future__ import annotations

import re
import warnings

import tvm
from tvm import relax

from tvmq.graph.symbolic import free_dimensions
from tvmq.graph.view import View, leaves, op_name, sizes_of


def warn_of_slow_sizes(mod: tvm.IRModule, batch: str | None, *, stacklevel: int = 3) -> None:
    """Warn once, with the dimension, a layer and the remedy, if layers with most of the work run in loops for any size.

    batch   the dimension whose samples run one by one in code of fixed sizes; None if there is none

    Kernels exist for any number of rows of a product; convolutions of free sizes, and everything of a model whose
    first dimension is free and not proved to be a batch, are loops that TVM makes.
    """
    free = {name: axis for name, (_, axis) in free_dimensions(mod).items() if name != batch}
    if not free:
        return
    view = View(mod)
    unproved = batch is None and 0 in free.values()
    slow = [name for name, axis in free.items() if axis == 0] if unproved else list(free)
    for var, value in view.bindings:
        is_convolution = op_name(value).startswith("nn.conv")
        if not is_convolution and not (unproved and op_name(value) == "matmul"):
            continue
        names = next((n for n in slow if any(_mentions(arg, n) for arg in leaves(value))), None)
        if names is not None:
            why = "its samples are not proved to be independent" if unproved else "it is no batch"
            layer = view.sources(var.name)[0]
            warnings.warn(
                f"build: the free dimension '{names}' makes this build slow, many times that of fixed sizes: {why}, so "
                f"layer '{layer}' and others run in loops for any size; fix it, by shape= of from_onnx or "
                f"sizes={{'{names}': number}} of build",
                stacklevel=stacklevel,
            )
            return


def _mentions(expr: relax.Expr, name: str) -> bool:
    is_tensor = isinstance(expr.ty, relax.TensorType) and expr.ty.shape is not None
    return is_tensor and any(re.search(rf"\b{re.escape(name)}\b", str(size)) for size in sizes_of(expr))
