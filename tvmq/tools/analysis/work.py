"""Work of a model: multiply-accumulates of float operators, kernels of layers, and names of layers for rules.

Tests: tests/tools/analysis/test_four_functions.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.lower.patterns.chains import find_chains
from tvmq.formats.relax import from_relax
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import View, dtype_of, op_name
from tvmq.options.rules import short_names
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare


def float_macs(view: View) -> dict[str, int]:
    """Multiply-accumulates {variable: number} of float operators that have any."""
    counts = {
        var.name: multiply_accumulates(value)
        for var, value in view.bindings
        if isinstance(var.ty, relax.TensorType) and dtype_of(var) == "float32"
    }
    return {name: macs for name, macs in counts.items() if macs}


def describe_variables(view: View, names: Iterable[str]) -> tuple[str, ...]:
    """Describe variables by operator and names in the source model, such as "sigmoid '/head/gate'"."""
    return tuple(f"{op_name(view.value[name])} '{', '.join(view.sources(name))}'" for name in names)


def kernels_of_layers(
    view: View, kernels: Mapping[str, str], layers: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Kernels {layer of the ledger: kernels}; other layers have the generic schedule or cost nothing.

    kernels  {variable: kernel} of an executable; one kernel may compute several layers that were fused
    """
    chains = {member: chain.members for chain in find_chains(view).values() for member in chain.members}
    owner = {source: key for key in reversed(list(layers)) for source in layers[key].get("layers", ())}
    kernels_by_layer: dict[str, list[str]] = {}
    for variable, kernel in kernels.items():
        base = _base(variable, view)
        members = chains.get(base, [base]) if base else []
        for member in members[: members.index(base) + 1] if base else []:
            for source in view.sources(member):
                names = kernels_by_layer.setdefault(owner.get(source, ""), [])
                if kernel not in names:
                    names.append(kernel)
    kernels_by_layer.pop("", None)
    return kernels_by_layer


def _base(variable: str, view: View) -> str | None:
    """Variable of the module for a kernel's result: x for "x", "x_rows"; None for copies."""
    if variable.endswith(("_nhwc", "_nchw")):
        return None
    words = variable.split("_")
    starts = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return next((start for start in starts if start in view.value), None)


def list_layers(mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None = None) -> list[tuple[str, str]]:
    """List (printed name, operator) of every layer, in order of execution.

    mod, params  as returned by `from_onnx` and `from_torch`, or a plain Relax module

    >>> x, builder = tvm.relax.Var("x", tvm.relax.TensorType([1, 8], "float32")), tvm.relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(tvm.relax.op.nn.relu(x), "act")
    ...     _ = builder.emit_func_output(y)
    >>> list_layers(builder.get())
    [('act', 'nn.relu')]
    """
    layers = get_ledger(partition(prepare(*from_relax(mod, params)))).layers
    return [(short_names(entry.get("layers") or [key]), str(entry["op"])) for key, entry in layers.items()]
