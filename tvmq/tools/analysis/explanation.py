"""`tvmq.explain`: the ledger as a table, a summary, or data; the report of one layer.

Tests: tests/tools/analysis/test_explain.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import tvm

from tvmq.errors import StageError
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.analysis.float_region_costs import multiply_accumulates
from tvmq.graph.analysis.padding import PaddingProof, find_masks, input_sizes, prove_padding
from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.module_functions import is_partitioned, plain_module, unpack_weights
from tvmq.graph.view import View, op_name
from tvmq.options.rules import short_names
from tvmq.passes.integrality import Integrality, integrality
from tvmq.reference import Reference
from tvmq.runtime.executable import Executable
from tvmq.tools.analysis.layer_report import LayerReport, find_layers
from tvmq.tools.analysis.lowered_layers import lowering_lines
from tvmq.tools.analysis.report_table import align, list_first
from tvmq.tools.analysis.work import describe_variables, float_macs, kernels_of_layers

WIDEST = 60
COSTS = ("float_operations", "converted")
LISTED = 5
UNPROVED = ("would hold", "not proved")  # in notes of kernels


@dataclass(frozen=True)
class Explanation:
    """Decisions about a model, in printable form.

    ledger     decisions of the passes
    undefined  float operators without a definition of their own, which `verify` does not check
    kernels    {layer: kernels} of an executable; None for a module
    sources    {variable: names in the source model}
    core       facts about quantized_main, of a module in four functions
    notes      {layer: proof for its kernels, or the proof that faster ones lack} of an executable
    lowerings  layers that user code computes, and why not the others, of an executable; see Executable.lowerings
    batch      dynamic dimension of samples that are proved not to influence each other; "" where none is
    padding    {input that is a mask: what is proved of the positions that it masks}
    """

    ledger: Ledger
    undefined: tuple[str, ...] = ()
    kernels: Mapping[str, Sequence[str]] | None = None
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    core: Integrality | None = None
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Sequence[Mapping[str, int]] = ()
    lowerings: Mapping[str, Any] = field(default_factory=dict)
    batch: str = ""
    padding: Mapping[str, PaddingProof] = field(default_factory=dict)

    def macs(self) -> int:
        """Multiply-accumulates of the model."""
        return sum(entry.get("macs") or 0 for entry in self.ledger.layers.values())

    def int8_share(self) -> float:
        """Share of multiply-accumulates with both operands in 8-bit integers; 1 where there are none."""
        layers = self.ledger.layers.values()
        integer = sum(entry.get("macs") or 0 for entry in layers if entry["precision"] == "int8")
        return integer / self.macs() if self.macs() else 1.0

    def layer(self, name: str) -> LayerReport:
        """Report of one layer; ConfigError with similar names if there is none of that name."""
        layers = find_layers(name, self.ledger.layers)
        return LayerReport(name, layers, self.macs(), self.kernels, self.sources, self.notes)

    def rows(self) -> list[list[str]]:
        """Rows of the table, one per layer: names, operator, precision, MACs, kernel if built, scale and zero point of
        the result's codes, cost of float islands if there are any, reason of the decision."""
        rows, islands = [], self._has_islands()
        for key, entry in self.ledger.layers.items():
            names = short_names(entry.get("layers") or [key])
            macs = f"{entry['macs']:,}" if entry.get("macs") else ""
            kernel = [" + ".join(self.kernels.get(key, ()))] if self.kernels is not None else []
            cost = [_cost(entry)] if islands else []
            rows.append([names, entry["op"], _precision(entry), macs, *kernel, _scale(entry), *cost, entry["why"]])
        return rows

    def _has_islands(self) -> bool:
        return any("island" in entry for entry in self.ledger.layers.values())

    def summary(self) -> str:
        """Summary in a few lines: operators by precision, share of work in int8, reasons for float, notes."""
        layers = self.ledger.layers.values()
        floats = [entry for entry in layers if entry["precision"] == "float"]
        count = f"{len(layers) - len(floats)} of {len(layers)} operators in int8"
        lines = [f"{count}, {self.int8_share():.1%} of multiply-accumulates"]
        reasons: dict[str, list[str]] = {}
        for entry in floats:
            reasons.setdefault(entry["why"], []).append(entry["op"])
        for why, operators in reasons.items():
            lines.append(f"float: {', '.join(sorted(set(operators)))} ({len(operators)}): {why}")
        cost = [sum(entry["island"][key] for entry in floats if "island" in entry) for key in COSTS]
        if any(cost):
            lines.append(f"float operators cost {cost[0]:,} operations and {cost[1]:,} converted elements")
        if self.undefined:
            listed = list_first(self.undefined, LISTED)
            lines.append(f"float operators without a definition of their own: {listed}")
        if self.batch:
            lines.append(f"samples of '{self.batch}' have the same results in any batch: no operator mixes them")
        lines += [_padding_text(mask, proof) for mask, proof in self.padding.items()]
        lines += [f"note: {note}" for note in self.ledger.notes]
        if self.sizes:
            lines.append(
                f"specialized code for {'; '.join(map(_sizes_text, self.sizes))}; other sizes share the general code"
            )
        lines += lowering_lines(self.lowerings)
        lines += self._kernel_notes()
        lines += _list_reasons(self.core.reasons()) if self.core else []
        return "\n".join(f"  {line}" for line in lines)

    def _kernel_notes(self) -> list[str]:
        """The first layers for which a faster kernel lacks a proof."""
        layers = self.ledger.layers
        known = [(layers[key], "; ".join(texts)) for key, texts in self.notes.items() if key in layers]
        remarks = [f"{'/'.join(entry['layers'][:1])}: {text}" for entry, text in known]
        remarks = [text for text in remarks if any(words in text for words in UNPROVED)]
        rest = len(remarks) - LISTED
        return [f"kernel of {text}" for text in remarks[:LISTED]] + (
            [f"kernels of {rest} more layers"] if rest > 0 else []
        )

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return {
            "stage": self.ledger.stage, "int8_share": self.int8_share(), "macs": self.macs(),
            "layers": self.ledger.layers, "undefined_float_islands": list(self.undefined), "notes": self.ledger.notes,
            **({"kernels": dict(self.kernels)} if self.kernels is not None else {}),
            **({"kernel_notes": {key: list(texts) for key, texts in self.notes.items()}} if self.notes else {}),
            **({"sizes": [dict(sizes) for sizes in self.sizes]} if self.sizes else {}),
            **({"lowerings": dict(self.lowerings)} if self.lowerings else {}),
            **({"batch": self.batch} if self.batch else {}),
            **({"padding": {mask: one.to_dict() for mask, one in self.padding.items()}} if self.padding else {}),
            **({"core": self.core.to_dict()} if self.core is not None else {}),
        }  # fmt: skip

    def __str__(self) -> str:
        kernel = ["kernel"] if self.kernels is not None else []
        island = ["float ops + converted"] if self._has_islands() else []
        heads = ["layer", "operator", "precision", "MACs", *kernel, "scale, zero", *island, "decided by"]
        table = [heads, *self.rows()]
        return "\n".join([*align(table, [heads.index("MACs")], WIDEST), "", self.summary()])


def _list_reasons(reasons: Sequence[str]) -> list[str]:
    """First reasons why a core is not integral, and the number of others."""
    rest = len(reasons) - LISTED
    return [f"not integral: {r}" for r in reasons[:LISTED]] + ([f"not integral: {rest} more"] if rest > 0 else [])


def _scale(entry: Mapping[str, Any]) -> str:
    """Scale and zero point of the codes of a layer's result.

    >>> _scale({"output": {"scale": 0.0197716, "zero_point": 3}}), _scale({"precision": "float"})
    ('1.98e-02,   3', '')
    """
    output = entry.get("output")
    return f"{output['scale']:.2e}, {output['zero_point']:>3}" if isinstance(output, Mapping) else ""


def _cost(entry: Mapping[str, Any]) -> str:
    """Float operations of an island, and elements converted around it."""
    cost = entry.get("island")
    return f"{cost['float_operations']:,} + {cost['converted']:,}" if cost else ""


def _precision(entry: Mapping[str, Any]) -> str:
    """The precision, with the bits of codes that a rule changed.

    >>> _precision({"precision": "int8", "specs": {"weights": {"bits": 4}, "activations": {"bits": 8}}})
    'int8 (w4)'
    >>> _precision({"precision": "int8", "facts": {"stream": True}})  # reads an int16 residual
    'int16'
    """
    specs = entry.get("specs") or {}
    bits = [f"{kind[0]}{specs[kind]['bits']}" for kind in ("weights", "activations") if kind in specs]
    changed = [text for text in bits if text[1:] != "8"]
    wide = (entry.get("facts") or {}).get("stream")
    precision = "int16" if wide else str(entry["precision"])
    return f"{precision} ({' '.join(changed)})" if changed else precision


@overload
def explain(model: tvm.IRModule | Executable) -> Explanation: ...
@overload
def explain(model: tvm.IRModule | Executable, layer: str) -> LayerReport: ...
def explain(model: tvm.IRModule | Executable, layer: str | None = None) -> Explanation | LayerReport:
    """Explain which layers of a quantized module or executable compute in integers, which do not, and why.

    For a prepared module, before any decision, the operators are listed.

    layer    name of a layer in the source model: the report of this layer alone, from its names to its kernel
    returns  rows by layer, which `print` shows as a table; for one layer a text
    raises   StageError for a model that was never quantized, ConfigError for an unknown layer

        print(tvmq.explain(qmod))
        print(tvmq.explain(exe, "/stem/conv"))
    """
    built = isinstance(model, Executable)
    mod = model.module if isinstance(model, Executable) else plain_module(model)
    ledger = get_ledger(mod)
    if ledger.stage == "prepared":
        ledger.layers = _entries_of_prepared(View(mod))
    if not ledger.layers and ledger.stage == "imported":
        raise StageError(f"explain: the model is '{ledger.stage}' and carries no decisions yet; quantize it first")
    unpacked = unpack_weights(mod)
    view = View(unpacked)
    for name, macs in float_macs(view).items():
        entry = ledger.layers.get(name)
        if entry is not None and entry["precision"] == "float":
            entry["macs"] = macs
    undefined = describe_variables(view, Reference(mod).islands)
    kernels = kernels_of_layers(view, model.kernels, ledger.layers) if built else None
    notes = kernels_of_layers(view, model.notes, ledger.layers) if built else {}
    names = {key: entry["layers"] for key, entry in ledger.layers.items()}
    core = integrality(mod) if is_partitioned(mod) else None
    sizes, lowerings = (model.sizes, model.lowerings) if built else ((), {})
    batch = batch_dimension(unpacked) or ""
    padding = {mask: prove_padding(unpacked, mask) for mask in find_masks(input_sizes(view))}
    explanation = Explanation(ledger, undefined, kernels, names, core, notes, sizes, lowerings, batch, padding)
    return explanation if layer is None else explanation.layer(layer)


def _entries_of_prepared(view: View) -> dict[str, dict[str, Any]]:
    """Entries for the operators of a prepared module."""
    why = "not decided yet: partition decides"
    return {
        var.name: {
            "op": op_name(value) or "tuple", "layers": list(view.sources(var.name)),
            "macs": multiply_accumulates(value), "precision": "float", "why": why,
        }
        for var, value in view.bindings
    }  # fmt: skip


def _padding_text(mask: str, proof: PaddingProof) -> str:
    """Sentence about masked positions.

    >>> _padding_text("mask", PaddingProof("", "", "add 'x': it counts"))
    "positions where 'mask' is 0, more of them on the right too, change no result: proved"
    """
    if proof.values:
        return f"positions where '{mask}' is 0 are not proved to change no result: {proof.values}"
    sides = "" if proof.right else " on the right" if proof.left else " on either side"
    more = f", more of them{sides} too," if sides else ""
    condition = f" where {proof.condition}" if proof.condition else ""
    return f"positions where '{mask}' is 0{more} change no result: proved{condition}"


def _sizes_text(sizes: Mapping[str, int]) -> str:
    """Sizes of dynamic dimensions as text.

    >>> _sizes_text({"batch": 1, "sequence": 64})
    'batch 1, sequence 64'
    """
    return ", ".join(f"{name} {size}" for name, size in sizes.items())
