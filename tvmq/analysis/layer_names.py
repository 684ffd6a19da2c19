"""The layers of a float model by the names that rules can use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import tvm

from tvmq.frontends.relax import from_relax
from tvmq.graph.ledger import get_ledger
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare
from tvmq.rules import short_names


def list_layers(mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None = None) -> list[tuple[str, str]]:
    """(name as it is printed, operator) of every layer, in the order of execution.

    mod, params  as `from_onnx` and `from_torch` give them, or a plain Relax module

    >>> x, builder = tvm.relax.Var("x", tvm.relax.TensorType([1, 8], "float32")), tvm.relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(tvm.relax.op.nn.relu(x), "act")
    ...     _ = builder.emit_func_output(y)
    >>> list_layers(builder.get())
    [('act', 'nn.relu')]
    """
    layers = get_ledger(partition(prepare(*from_relax(mod, params)))).layers
    return [(short_names(entry.get("layers") or [key]), str(entry["op"])) for key, entry in layers.items()]
