"""Where the work of a model is done: multiply-accumulates of float operators, kernels of the layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tvm import relax

from tvmq.graph.macs import multiply_accumulates
from tvmq.graph.view import View, dtype_of, op_name
from tvmq.lower.patterns.chains import find_chains


def float_macs(view: View) -> dict[str, int]:
    """{variable: multiply-accumulates} of all float operators that have any."""
    found = {
        var.name: multiply_accumulates(value)
        for var, value in view.bindings
        if isinstance(var.ty, relax.TensorType) and dtype_of(var) == "float32"
    }
    return {name: macs for name, macs in found.items() if macs}


def describe_variables(view: View, names: Iterable[str]) -> tuple[str, ...]:
    """Variables as their operator and the names of it in the source, such as "sigmoid '/head/gate'"."""
    return tuple(f"{op_name(view.value[name])} '{', '.join(view.sources(name))}'" for name in names)


def kernels_of_layers(
    view: View, kernels: Mapping[str, str], layers: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """{layer of the ledger: kernels that compute it}; the others have the generic schedule or cost nothing.

    kernels  {variable: kernel} of an executable; one kernel may compute several layers that were fused
    """
    chains = {member: chain.members for chain in find_chains(view).values() for member in chain.members}
    owner = {source: key for key in reversed(list(layers)) for source in layers[key].get("layers", ())}
    found: dict[str, list[str]] = {}
    for variable, kernel in kernels.items():
        base = _base(variable, view)
        members = chains.get(base, [base]) if base else []
        for member in members[: members.index(base) + 1] if base else []:
            for source in view.sources(member):
                names = found.setdefault(owner.get(source, ""), [])
                if kernel not in names:
                    names.append(kernel)
    found.pop("", None)
    return found


def _base(variable: str, view: View) -> str | None:
    """The variable of the module that a kernel's result is made for: x for "x", "x_rows"; None for copies."""
    if variable.endswith(("_nhwc", "_nchw")):
        return None
    words = variable.split("_")
    starts = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return next((start for start in starts if start in view.value), None)
