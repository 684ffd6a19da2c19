"""`tvmq.explain`: the ledger as a table, a summary, or data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tvm

from tvmq.codegen.executable import Executable
from tvmq.codegen.reference import is_defined
from tvmq.errors import StageError
from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.view import View, dtype_of, op_name


@dataclass(frozen=True)
class Explanation:
    """Decisions about a model, ready to be printed.

    ledger     what the passes decided
    undefined  variables of float operators without a definition of their own: equality is asked around them, not of them
    kernels    {variable: kernel} of an executable; empty for a module
    """

    ledger: Ledger
    undefined: tuple[str, ...] = ()
    kernels: dict[str, str] | None = None

    def int8_share(self) -> float:
        """Share of multiply-accumulates with both operands in 8-bit integers; 1 where there are none."""
        total = sum(entry.get("macs", 0) for entry in self.ledger.layers.values())
        integer = sum(e.get("macs", 0) for e in self.ledger.layers.values() if e["precision"] == "int8")
        return integer / total if total else 1.0

    def rows(self) -> list[list[str]]:
        """One row a layer: names, operator, precision, MACs, output scale and zero point, who decided."""
        rows = []
        for name, entry in self.ledger.layers.items():
            output = entry.get("output")
            scale = f"{output['scale']:.6g} / {output['zero_point']}" if isinstance(output, dict) else (output or "")
            layers = ", ".join(entry.get("layers") or [name])
            macs = f"{entry['macs']:,}" if entry.get("macs") else ""
            rows.append([layers, entry["op"], entry["precision"], macs, scale, entry["why"]])
        return rows

    def summary(self) -> str:
        """Three lines: operators by precision, share of multiply-accumulates in int8, reasons for float."""
        layers = self.ledger.layers.values()
        floats = [entry for entry in layers if entry["precision"] == "float"]
        lines = [
            f"  {len(self.ledger.layers) - len(floats)} of {len(self.ledger.layers)} operators in int8, "
            f"{self.int8_share():.1%} of multiply-accumulates"
        ]
        reasons: dict[str, list[str]] = {}
        for entry in floats:
            reasons.setdefault(entry["why"], []).append(entry["op"])
        for why, operators in reasons.items():
            lines.append(f"  float: {', '.join(sorted(set(operators)))} ({len(operators)}): {why}")
        if self.undefined:
            lines.append(f"  float operators without a definition of their own: {', '.join(self.undefined)}")
        return "\n".join(lines + [f"  note: {note}" for note in self.ledger.notes])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "stage": self.ledger.stage,
            "int8_share": self.int8_share(),
            "layers": self.ledger.layers,
            "undefined_float_islands": list(self.undefined),
            "notes": self.ledger.notes,
            **({"kernels": self.kernels} if self.kernels is not None else {}),
        }

    def __str__(self) -> str:
        header = ["layers", "operator", "precision", "MACs", "output scale / zero point", "decided by"]
        table = [header, *self.rows()]
        widths = [min(max(len(row[i]) for row in table), 60) for i in range(len(header))]
        lines = ["  ".join(_cut(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([*lines, "", self.summary()])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def explain(model: tvm.IRModule | Executable) -> Explanation:
    """Which layers of a quantized module or executable compute in integers, which do not, and who decided.

    raises  StageError for a module that was never partitioned
    """
    mod = model.module if isinstance(model, Executable) else model
    ledger = get_ledger(mod)
    if not ledger.layers:
        raise StageError(f"explain: the module is '{ledger.stage}', it carries no decisions yet; quantize it first")
    view = View(mod)
    undefined = tuple(
        f"{op_name(value)} '{', '.join(view.sources(var.name))}'"
        for var, value in view.bindings
        if not is_defined(value) and dtype_of(var) == "float32"
    )
    return Explanation(ledger, undefined, model.kernels if isinstance(model, Executable) else None)
