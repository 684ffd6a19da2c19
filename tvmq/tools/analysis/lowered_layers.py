"""Layers computed by lowerings of the user: a list for explain, and their comparison with the definition for verify.

The code of a lowered layer is called with the defined results of the previous layer, so that differences are attributed
to the lowering that causes them.

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tvmq.base.tvm_runtime import allocate_tensor
from tvmq.runtime.executable import Executable, parts_of
from tvmq.runtime.profile import record_main_calls
from tvmq.tools.analysis.report_table import list_first

LISTED = 5
Entry = Mapping[str, Any]


@dataclass
class LoweringCheck:
    """Comparison of a lowering with the definitions; counts are sums over the batches.

    name, kind   name and kind of the lowering
    layers       layers that it computes
    values       number of compared results
    differing    number of results whose bits differ from the definition of the module
    first        place of the first one
    misdefined   the same number for the lowering's own NumPy definition; None without one, or for a loaded model
    """

    name: str
    kind: str
    layers: tuple[str, ...] = ()
    values: int = 0
    differing: int = 0
    first: str = ""
    misdefined: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        count = f"{len(self.layers)} layer{'s' * (len(self.layers) != 1)}"
        text = f"lowering '{self.name}' ({self.kind}), {count}: "
        if self.differing:
            text += f"{self.differing} of {self.values} values differ; the first is {self.first}"
        else:
            text += f"{self.values} values equal"
        if self.misdefined:
            text += f"; its own definition differs from the module's in {self.misdefined} values"
        return text


class LoweringChecks:
    """Checks of all lowerings of an executable, batch by batch."""

    def __init__(self, exe: Executable) -> None:
        self.exe, self.parts = exe, parts_of(exe)
        self.entries: Sequence[Mapping[str, Any]] = exe.lowerings.get("taken", ())
        self._calls: list[tuple[Any, tuple[Any, ...]]] | None = None
        self._tallies: dict[str, LoweringCheck] = {}
        for entry in self.entries:
            tally = self._tallies.setdefault(entry["lowering"], LoweringCheck(entry["lowering"], entry["kind"]))
            tally.layers += ("/".join(entry["layers"][-1:]),)

    def __bool__(self) -> bool:
        return bool(self.entries)

    def add(self, feed: Mapping[str, np.ndarray], count: int, known: Mapping[str, Any]) -> None:
        """Compare every lowered layer for a batch.

        count   samples in it
        known   {variable: its value by the definition}
        """
        if self._calls is None:
            self._calls = self._record(feed)
        dynamic = bool(self.parts.description.batch)
        for entry, (function, args) in zip(self.entries, self._calls, strict=True):
            if any(name not in known for name in (*entry["inputs"], entry["result"])):
                continue
            for sample in range(count if dynamic else 1):
                cut = slice(sample, sample + 1) if dynamic else slice(None)
                inputs = [np.asarray(known[name])[cut] for name in entry["inputs"]]
                self._compare(entry, function, args, inputs, np.asarray(known[entry["result"]])[cut])

    def results(self) -> tuple[LoweringCheck, ...]:
        """Comparisons, one for each lowering."""
        return tuple(self._tallies.values())

    def _record(self, feed: Mapping[str, np.ndarray]) -> list[tuple[Any, tuple[Any, ...]]]:
        """Record (function, arguments) of the call of each entry."""
        by_symbol: dict[str, list[tuple[Any, tuple[Any, ...]]]] = {}
        for name, function, args in record_main_calls(self.parts, self.exe["main"], feed):
            by_symbol.setdefault(name, []).append((function, args))
        seen: Counter[str] = Counter()
        calls = []
        for entry in self.entries:
            calls.append(by_symbol[entry["symbol"]][seen[entry["symbol"]]])
            seen[entry["symbol"]] += 1
        return calls

    def _compare(
        self, entry: Entry, function: Any, args: Sequence[Any], inputs: list[np.ndarray], defined: np.ndarray
    ) -> None:
        from tvmq.numerics.deviation import unequal_bits

        tally = self._tallies[entry["lowering"]]
        result = allocate_tensor(defined.shape, str(defined.dtype))
        function(*map(_tensor, inputs), *args[len(inputs) : -1], result)
        unequal = unequal_bits(np.from_dlpack(result), defined)
        tally.values += defined.size
        tally.differing += int(unequal.sum())
        if unequal.any() and not tally.first:
            at = tuple(int(i) for i in np.argwhere(unequal)[0])
            code, wanted = np.from_dlpack(result)[at], defined[at]
            where = f"layer '{'/'.join(entry['layers'][-1:])}' at {list(at)}"
            tally.first = f"{where}: compiled {code.item()!r}, defined {wanted.item()!r}"
        self._define(entry, tally, inputs, defined)

    def _define(self, entry: Entry, tally: LoweringCheck, inputs: list[np.ndarray], defined: np.ndarray) -> None:
        """Compare the NumPy definition of the lowering."""
        from tvmq.numerics.deviation import unequal_bits

        application = self.parts.matches.get(entry["result"])
        if application is None or application.lowering.definition is None:
            return
        own = np.asarray(application.lowering.definition(application.match, *inputs, *application.match.constants))
        differing = defined.size if own.shape != defined.shape else int(unequal_bits(own, defined).sum())
        tally.misdefined = (tally.misdefined or 0) + differing


def _tensor(array: np.ndarray) -> Any:
    tensor = allocate_tensor(array.shape, str(array.dtype))
    tensor.copyfrom(array)
    return tensor


def lowering_lines(lowerings: Mapping[str, Any]) -> list[str]:
    """Lines about the layers that each lowering computes, those that it does not, and why."""
    layers_by_lowering: dict[str, list[str]] = {}
    for entry in lowerings.get("taken", ()):
        layers_by_lowering.setdefault(entry["lowering"], []).append("/".join(entry["layers"][:1]))
    lines = []
    for known in lowerings.get("names", ()):
        name, layers = known["name"], layers_by_lowering.get(known["name"], [])
        missed = [entry for entry in lowerings.get("missed", ()) if entry["lowering"] == name]
        if layers:
            lines.append(f"lowering '{name}' ({known['kind']}) computes {list_first(layers, LISTED)}")
        elif not missed:
            lines.append(f"lowering '{name}' takes nothing: the model has no {known['begins']}")
        lines += [f"lowering '{name}' does not take '{entry['layer']}': {entry['why']}" for entry in missed[:LISTED]]
        if len(missed) > LISTED:
            lines.append(f"lowering '{name}' does not take {len(missed) - LISTED} more layers")
    return lines
