"""Report of a single layer: from its names in the source to the kernel that computes it.

Tests: tests/tools/analysis/test_explain.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from tvmq.errors import ConfigError

INT32_MAX = 2**31 - 1
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class LayerReport:
    """Facts about the operators that a layer of the source model became, in printable form.

    name     name of the layer, as requested
    layers   {variable: entry of the ledger}
    macs     multiply-accumulates of the whole model
    kernels  {variable: kernels}; None for a module that was not built
    sources  {variable: names in the source model} of all layers, to name the inputs
    notes    {variable: proof for its kernels, or the proof that faster ones lack}
    """

    name: str
    layers: Mapping[str, Entry]
    macs: int
    kernels: Mapping[str, Sequence[str]] | None
    sources: Mapping[str, Sequence[str]]
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def output(self) -> Mapping[str, Any] | None:
        """Scale, zero point, dtype and bits of the codes of its result; None for a float result."""
        outputs = [entry["output"] for entry in self.layers.values() if isinstance(entry.get("output"), Mapping)]
        return outputs[-1] if outputs else None

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        kernels = self.kernels
        extra = {key: {} if kernels is None else {"kernels": list(kernels.get(key, ()))} for key in self.layers}
        return {"name": self.name, "layers": {key: {**entry, **extra[key]} for key, entry in self.layers.items()}}

    def __str__(self) -> str:
        return "\n\n".join(self._section(key, entry) for key, entry in self.layers.items())

    def _section(self, key: str, entry: Entry) -> str:
        rows = [
            ("operator", entry["op"]), ("precision", f"{entry['precision']}, decided by: {entry['why']}"),
            *(("input", text) for text in self._inputs(entry)), *_weight(entry), *_accumulator(entry),
            *([("output", codes_text(entry["output"]))] if "output" in entry else []),
            *self._work(entry), *self._kernel(key), ("variables", ", ".join(entry.get("members") or [key])),
        ]  # fmt: skip
        return "\n".join([", ".join(entry["layers"]), *(f"  {label:<11}{text}" for label, text in rows)])

    def _inputs(self, entry: Entry) -> list[str]:
        names = [", ".join(self.sources.get(name) or [name]) for name in entry.get("inputs", ())]
        codes = entry.get("input")
        if not codes:
            return names
        return [f"{name}: {codes_text(facts)}" for name, facts in zip(names, codes, strict=True)]

    def _work(self, entry: Entry) -> list[tuple[str, str]]:
        rows, macs, cost = [], entry.get("macs"), entry.get("island")
        if macs:
            rows.append(("work", f"{macs:,} multiply-accumulates, {macs / self.macs:.2%} of the model's"))
        if cost:
            converted = f"{cost['converted']:,} elements converted around it"
            rows.append(("island", f"{cost['float_operations']:,} float operations, {converted}"))
        return rows

    def _kernel(self, key: str) -> list[tuple[str, str]]:
        if self.kernels is None:
            return []
        names = ", ".join(self.kernels.get(key, ())) or "the generic schedule, or none (a view)"
        return [("kernel", names), *(("", note) for note in self.notes.get(key, ()))]


def codes_text(facts: Any) -> str:
    """Human-readable type, scale and zero point of codes; other texts as they are.

    >>> codes_text({"dtype": "uint8", "bits": 8, "scale": 0.0197716, "zero_point": 3})
    'uint8, scale 0.0197716, zero point 3'
    """
    if not isinstance(facts, Mapping):
        return str(facts)
    kind, bits = facts["dtype"], facts["bits"]
    narrow = "" if kind.endswith(f"int{bits}") else f" of {bits} bits"
    return f"{kind}{narrow}, scale {facts['scale']:.6g}, zero point {facts['zero_point']}"


def _weight(entry: Entry) -> list[tuple[str, str]]:
    weight = entry.get("weight")
    if not weight:
        return []
    low, high = weight["scale"]
    count = weight["scales"]
    scales = f"scale {low:.6g}" if count == 1 else f"{count} scales from {low:.6g} to {high:.6g}"
    bits = entry.get("weight_bits")
    narrow = f" of {bits} bits, two to a byte" if bits else ""
    return [("weight", f"{weight['dtype']}{weight['shape']}{narrow}, {scales}")]


def _accumulator(entry: Entry) -> list[tuple[str, str]]:
    bound = entry.get("accumulator")
    if bound is None:
        return []
    return [("sums", f"no partial sum exceeds {bound:,} in magnitude: {bound / INT32_MAX:.2%} of int32")]


def find_layers(name: str, layers: Mapping[str, Entry]) -> dict[str, Entry]:
    """Entries of the ledger with a name of the source model, or with this variable.

    raises   ConfigError with the nearest names if there is none
    """
    entries = {key: entry for key, entry in layers.items() if name == key or name in entry["layers"]}
    if entries:
        return entries
    names = list(dict.fromkeys(source for entry in layers.values() for source in entry["layers"]))
    parts = [known for known in names if name.lower() in known.lower()]
    near = " or ".join(repr(known) for known in (get_close_matches(name, names, n=3) or parts[:3]))
    hint = f"did you mean {near}?" if near else "explain(model) lists them"
    raise ConfigError(f"explain: none of {len(names)} names of layers is {name!r}; {hint}")
