"""Values by which a module and a chip, or what a device dumped, differ, layer by layer, and how they print.

Tests: tests/tools/cli/test_conformance.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tvmq.chips.emulation.counts import align_columns
from tvmq.options.rules import short_names


@dataclass(frozen=True)
class LayerDivergence:
    """Differences of a layer.

    names      of the source
    operator   family, or Relax operator
    values     of its result that were compared
    differing  of them, both computed from the model's input
    own        values that the layer's operators compute differently from the same inputs
    largest    largest difference of its result, in codes; in real numbers where it gives floats
    overflows  sums of the chip that wrapped or saturated
    saturated  codes of the chip that are an end of their type because the real value lies beyond
    reach      largest magnitude of its sums by weights and codes; None: not known, or no sums
    proved     True if none of its sums can leave the accumulators
    """

    names: tuple[str, ...]
    operator: str
    values: int = 0
    differing: int = 0
    own: int = 0
    largest: float = 0.0
    overflows: int = 0
    saturated: int = 0
    reach: int | None = None
    proved: bool = True

    @property
    def name(self) -> str:
        """Name as it prints."""
        return short_names(self.names)


@dataclass(frozen=True)
class Divergence:
    """Prints a table of the layers and a verdict.

    other      what the module is compared with, in words
    samples    how many
    values     of the model's results; 0 where only layers were compared
    differing  of them
    layers     in the order of the module
    sentences  what is known of the accumulators, and whatever else is to be said
    """

    other: str
    samples: int
    values: int
    differing: int
    layers: tuple[LayerDivergence, ...]
    sentences: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """True if no value of any layer or result differs."""
        return self.first is None and self.differing == 0

    @property
    def first(self) -> LayerDivergence | None:
        """The first layer of which a value differs."""
        return next((layer for layer in self.layers if layer.differing), None)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return {"exact": self.exact, "first": self.first and list(self.first.names), **asdict(self)}

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.table(), *(f"  {text}" for text in (*self.sentences, self.verdict()))]))

    def table(self) -> str:
        """The layers of which a value differs, overflowed or is not proved; nothing where there are none."""
        shown = [layer for layer in self.layers if layer.differing or layer.own or layer.overflows or not layer.proved]
        if not shown:
            return ""
        head = ["layer", "operator", "values", "differing", "own", "largest", "overflows", "saturated", "largest sum"]
        rows = [
            [
                layer.name, layer.operator, f"{layer.values}", f"{layer.differing}", f"{layer.own}",
                f"{layer.largest:g}", f"{layer.overflows}", f"{layer.saturated}",
                "unknown" if layer.reach is None else f"{layer.reach}",
            ]
            for layer in shown
        ]  # fmt: skip
        return f"{align_columns([head, *rows])}\n"

    def verdict(self) -> str:
        """Equal, or how much differs and from where on."""
        compared = sum(layer.values for layer in self.layers)
        results = f"{self.values} results and " if self.values else ""
        whole = f"{results}{compared} values of {len(self.layers)} layers, {self.samples} samples"
        if self.exact:
            return f"equal: yes ({whole}; the module and {self.other} agree bit for bit)"
        first = self.first
        where = f"; the first layer is {first.name}, {first.differing} of {first.values} values" if first else ""
        by = [layer.name for layer in self.layers if layer.own]
        own = f"; by themselves differ: {', '.join(by[:8])}{', ...' if len(by) > 8 else ''}" if by else ""
        count = f"{self.differing} results differ from {self.other}; " if self.values else f"{self.other}: "
        return f"equal: no ({count}{whole}{where}{own})"


def layer_names(view: Any) -> Mapping[str, tuple[str, ...]]:
    """{variable of a layer's result: its names}, in order: of each layer the last variable that is no dequantized copy.

    view  a View
    """
    from tvmq.graph.analysis.integer_core import element_types
    from tvmq.graph.view import op_name

    last: dict[tuple[str, ...], str] = {}
    for var, value in view.bindings:
        names = view.sources(var.name)
        if element_types(var) and not (names in last and op_name(value) == "tvmq.dequantize"):
            last.pop(names, None)
            last[names] = var.name
    return {variable: names for names, variable in last.items()}
