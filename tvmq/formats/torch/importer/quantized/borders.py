"""QuantStub and DeQuantStub of a float model: the places where codes begin and end.

    x = self.quant(x)      tvmq::begin_codes(x)     what reads its result, and so on, may become integers
    x = self.conv(x)                                in codes: it reads a tensor that is in codes
    x = self.dequant(x)    tvmq::end_codes(x)       floats again
    x = self.head(x)                                stays float

As in torch's eager mode an operator computes in codes where one of its inputs is in codes. The operators here stand in
the traced program alone and become nothing in the module, which has the layers outside as an attribute
(`tvmq.graph.names.FLOAT_LAYERS`) that `partition` and `quantize_dynamic` read. A model without stubs has no borders.

Tests: tests/formats/torch/importer/test_borders.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

BEGIN, END = "begin_codes.default", "end_codes.default"


@torch.library.custom_op("tvmq::begin_codes", mutates_args=())
def begin_codes(x: torch.Tensor) -> torch.Tensor:
    """A copy, from which on values are in codes."""
    return x.clone()


@begin_codes.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("tvmq::end_codes", mutates_args=())
def end_codes(x: torch.Tensor) -> torch.Tensor:
    """A copy, from which on values are floats."""
    return x.clone()


@end_codes.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


STUBS = {"QuantStub": begin_codes, "DeQuantStub": end_codes}


def _operator_of(module: nn.Module) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """The operator of a stub; None for other modules, converted stubs among them."""
    kinds = (kind for kind in type(module).__mro__ if kind.__module__.startswith("torch."))
    return next((STUBS[kind.__name__] for kind in kinds if kind.__name__ in STUBS), None)


@contextmanager
def traced_stubs(model: nn.Module) -> Iterator[None]:
    """Let the stubs of a model leave their operators in a program that is traced meanwhile."""
    stubs = [(module, operator) for module in model.modules() if (operator := _operator_of(module)) is not None]
    # converted ones stand beside DeQuantStubs that convert() leaves as they are: those models have scales of their own
    has_begin = any(operator is begin_codes for _, operator in stubs)
    handles = [
        module.register_forward_hook(lambda _module, _args, result, operator=operator: operator(result))
        for module, operator in (stubs if has_begin else ())
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def nodes_in_codes(nodes: list[Any]) -> set[Any] | None:
    """Nodes of a program that compute in codes; None where it has no border.

    nodes  in their order
    """
    if not any(_name(node) == BEGIN for node in nodes):
        return None
    results, inside = set[Any](), set[Any]()
    for node in nodes:
        reads_codes = any(used in results for used in node.all_input_nodes)
        if _name(node) == BEGIN or (reads_codes and _name(node) != END):
            results.add(node)
        if reads_codes:
            inside.add(node)
    return inside


def _name(node: Any) -> str:
    return str(getattr(node.target, "__name__", ""))
