"""relay.testing: networks with random weights, equal for equal seeds, and helpers of tests.

mod, params = relay.testing.resnet.get_workload(num_layers=18, batch_size=1)
"""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

import numpy as np
import tvm

from tvmq.relay.base import post_order
from tvmq.relay.expr import Call, Expr, Function
from tvmq.relay.module import IRModule
from tvmq.relay.op.registry import Op
from tvmq.relay.testing import init, layers
from tvmq.relay.testing.init import create_workload

NETWORKS = (
    "dcgan", "densenet", "dqn", "inception_v3", "lstm", "mlp", "mobilenet", "resnet", "resnet_3d", "squeezenet",
    "synthetic", "vgg",
)  # fmt: skip
ABSENT = ("check_grad", "darknet", "tf", "tflite", "yolo_detection")

__all__ = [
    "count_ops", "create_workload", "init", "layers", "rand", "run_infer_type", "run_opt_pass",
]  # fmt: skip


def run_opt_pass(expr: Any, opt_pass: Any, import_prelude: bool = False) -> Any:
    """An expression behind a pass: of a function the function, else its body."""
    passes = opt_pass if isinstance(opt_pass, list | tuple) else [opt_pass]
    mod = IRModule.from_expr(expr)
    for each in passes:
        mod = each(mod)
    main = mod["main"]
    return main if isinstance(expr, Function) else main.body


def run_infer_type(expr: Expr) -> Expr:
    """The expression, whose types are inferred; raises ModelError where they do not fit."""
    _ = expr.checked_type
    return expr


def rand(dtype: str = "float32", *shape: int) -> tvm.runtime.Tensor:
    """A tensor of random numbers from 0 to 1."""
    return tvm.runtime.tensor(np.random.rand(*shape).astype(dtype))


def count_ops(expr: Expr) -> Counter[str]:
    """Count the calls of each operator.

    >>> from tvmq.relay.expr import var
    >>> x = var("x", shape=(2,))
    >>> count_ops(x + x * x)
    Counter({'multiply': 1, 'add': 1})
    """
    calls = [node for node in post_order(expr) if isinstance(node, Call) and isinstance(node.op, Op)]
    return Counter(call.op.name for call in calls)


def __getattr__(name: str) -> Any:
    """Networks are loaded when they are first used."""
    if name in NETWORKS:
        return importlib.import_module(f"tvmq.relay.testing.{name}")
    if name in ABSENT:
        raise AttributeError(
            f"relay.testing.{name} is not here: it reads formats, or makes gradients, that this layer does not have; "
            "read such models through ONNX"
        )
    raise AttributeError(f"module 'tvmq.relay.testing' has no attribute {name!r}; there are {', '.join(NETWORKS)}")
