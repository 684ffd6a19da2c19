"""`tvmq.draw`: the network of a module or an executable as SVG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import tvm

from tvmq.base.whole_file import write_file
from tvmq.errors import ConfigError
from tvmq.graph.module_functions import plain_module, unpack_weights
from tvmq.runtime.executable import Executable
from tvmq.tools.drawing import svg
from tvmq.tools.drawing.fold_blocks import fold
from tvmq.tools.drawing.layering import layer
from tvmq.tools.drawing.network_cards import Network, network_of
from tvmq.tools.drawing.placement import place

Model: TypeAlias = "tvm.IRModule | Executable | tuple[tvm.IRModule, Mapping[str, Any]]"
DETAILS = ("auto", "operators", "layers", "blocks")
MOST_OPERATORS = 80  # that are drawn one by one unless asked for
MOST_CARDS = 150
BLOCKS = 100


@dataclass(frozen=True)
class Drawing:
    """Picture of a network, displayed by notebooks.

    svg      the picture as self-contained text, light or dark as the reader's system
    network  the cards drawn, with layers, operators, shapes, precision
    detail   "operators", "layers" or "blocks"
    """

    svg: str = field(repr=False)
    network: Network = field(repr=False)
    detail: str

    def save(self, path: str | Path) -> None:
        """Write the SVG to a file. raises OutputError"""
        write_file(path, self.svg.encode(), "draw")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto;max-height:80vh">{self.svg}</div>'


def draw(model: Model, *, detail: str = "auto", columns: int | None = None) -> Drawing:
    """Draw the network of a model, at any stage of quantization.

    model    a module (float, partitioned, annotated, calibrated, integer), an executable, whose kernels are shown
             too, or the (module, params) of `from_onnx`
    detail   "operators": each layer of the ledger is a box with its operators, which shows what `partition` grouped;
             "layers": a box per layer, with its last result; "blocks": about 100 boxes, each a part of the network.
             "auto": the first of these that stays readable
    columns  number of columns for a long network; None: as many as look good
    raises   ConfigError for an unknown detail, ModelError for control flow

    Before `partition` nothing is grouped: each operator has its own box. Weights, and values computed from weights
    alone, are not drawn. A thousand operators take about a second.

    >>> x, builder = tvm.relax.Var("x", tvm.relax.TensorType([1, 8], "float32")), tvm.relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(tvm.relax.op.nn.relu(x), "act")
    ...     _ = builder.emit_func_output(y)
    >>> drawing = draw(builder.get())
    >>> [card.operator for card in drawing.network.cards], drawing.svg[:4]
    (['input', 'nn.relu', 'result'], '<svg')
    """
    if detail not in DETAILS:
        raise ConfigError(f"draw: detail must be one of {', '.join(DETAILS)}. Got {detail!r} instead")
    if columns is not None and columns < 1:
        raise ConfigError(f"draw: columns must be at least 1, or None. Got {columns!r} instead")
    network = network_of_model(model)
    chosen = detail if detail != "auto" else _choose_detail(network)
    return render(fold(network, BLOCKS) if chosen == "blocks" else network, chosen, columns=columns)


def render(network: Network, detail: str, *, columns: int | None = None) -> Drawing:
    """Render a network without folding it further."""
    cards, operators = network.cards, detail == "operators"
    number = {card.key: place for place, card in enumerate(cards)}
    reads = [[number[key] for key in card.reads if key in number] for card in cards]
    titles = svg.titles_of(cards)
    sizes = [svg.size_of(card, title, operators=operators) for card, title in zip(cards, titles, strict=True)]
    placement = place(layer(reads), sizes, columns=columns)
    label = f"network, stage {network.stage}, {len(cards)} boxes"
    return Drawing(svg.write(cards, placement, operators=operators, label=label), network, detail)


def network_of_model(model: Model) -> Network:
    """The network of a module, an executable, or (module, params)."""
    if isinstance(model, Executable):
        return network_of(unpack_weights(model.module), kernels=model.kernels)
    mod, params = model if isinstance(model, tuple) else (model, {})
    return network_of(unpack_weights(plain_module(mod)), params)


def _choose_detail(network: Network) -> str:
    """The most detail that stays readable."""
    if sum(max(1, len(card.operators)) for card in network.cards) <= MOST_OPERATORS:
        return "operators"
    return "layers" if len(network.cards) <= MOST_CARDS else "blocks"
