"""`Description`: what is known of a compiled model beside its code, the contract between those who write and read it.

`build` makes it, the manifest of a saved model holds it as JSON, runs, profiles and explanations read it. The order of
fields is that of the entries in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

Tensor = Mapping[str, Any]  # "name", "shape", "dtype"; of codes "scale" and "zero_point" too
Entries = dict[str, Any]  # of JSON


@dataclass(frozen=True, eq=False)
class FunctionDescription:
    """Interface of a compiled function.

    batch      dynamic dimension whose samples are run one after the other; "" if there is none
    limits     {dynamic dimension: {"least", "most", "why", "multiple"}} (graph/analysis/limits.py)
    indices    inputs that are indices (graph/indices.py)
    unaligned  numbers of the inputs that the code takes at any address, so that a run needs no copies of them
    """

    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    batch: str = ""
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    indices: Sequence[Entries] = ()
    unaligned: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class CallDescription:
    """Calls of main, or of its code for common sizes.

    functions  [name of the function, number of its origin] of each call, in order
    origins    {"layers", "macs", "dtype"} (lower/main_calls.CallOrigin)
    unaligned  as in FunctionDescription
    common     {function for common sizes: its calls}
    """

    functions: Sequence[Sequence[Any]] = ()
    origins: Sequence[Mapping[str, Any]] = ()
    unaligned: Sequence[int] = ()
    common: Mapping[str, CallDescription] = field(default_factory=dict)

    @classmethod
    def from_json(cls, entries: Entries) -> CallDescription:
        """The calls that `to_json` wrote; a file of an earlier version may lack any entry."""
        common = {name: cls.from_json(calls) for name, calls in entries.get("common", {}).items()}
        return cls(**{**_known_entries(cls, entries), "common": common})

    def to_json(self) -> Entries:
        """Entries of the manifest."""
        plain: Entries = {"functions": self.functions, "origins": self.origins, "unaligned": self.unaligned}
        common = {name: calls.to_json() for name, calls in self.common.items()}
        return {**plain, "common": common} if common else plain


@dataclass(frozen=True, eq=False)
class LoweringDescription:
    """Layers that lowerings of the user compute, and what that needs.

    names       {"name", "kind", "begins"} of each lowering
    matches     {"lowering", "kind", "layers", "operators", "inputs", "result", "symbol"}; "taken" of JSON
    mismatches  {"lowering", "layer", "why"}; "missed" of JSON
    libraries   files that have to be there (artifact/libraries.py)
    modules     kinds of modules that only the process which built them can run
    """

    names: Sequence[Entries]
    matches: Sequence[Entries]
    mismatches: Sequence[Entries]
    libraries: Sequence[Entries]
    modules: Sequence[str] = ()

    @classmethod
    def from_json(cls, entries: Entries) -> LoweringDescription:
        """The lowerings that `to_json` wrote."""
        matches, mismatches, modules = entries["taken"], entries["missed"], entries.get("modules", ())
        return cls(entries["names"], matches, mismatches, entries["libraries"], modules)

    def to_json(self) -> Entries:
        """Entries of the manifest, copies."""
        keys = {"matches": "taken", "mismatches": "missed"}
        return {keys.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class SizedFunction:
    """Function for common sizes {dynamic dimension: size}, with its inputs and outputs."""

    function: str
    sizes: Mapping[str, int]
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]


@dataclass(frozen=True, eq=False)
class Description:
    """Description of a compiled model; inputs to indices as in FunctionDescription.

    ledger     asdict(Ledger) (graph/ledger.py)
    names      {variable: its names in the source}
    common     functions for common sizes, in their order
    functions  {function: {"inputs", "outputs"}} of a model in four functions
    calls      of main
    lowerings  None for a model that was built without lowerings
    notes      {variable: note on its kernel}
    state      ModelStates.to_json() (tvmq/state/model_states.py) of a model that hands a state to its next call
    """

    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    ledger: Mapping[str, Any]
    names: Mapping[str, Sequence[str]]
    batch: str = ""
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    indices: Sequence[Entries] = ()
    common: Sequence[SizedFunction] = ()
    functions: Mapping[str, Mapping[str, Sequence[Tensor]]] = field(default_factory=dict)
    calls: CallDescription = field(default_factory=CallDescription)
    lowerings: LoweringDescription | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    state: Entries = field(default_factory=dict)

    @classmethod
    def from_json(cls, entries: Entries) -> Description:
        """The description of a manifest whose form was checked."""
        lowerings = entries.get("lowerings")
        typed = {
            "common": [SizedFunction(**_known_entries(SizedFunction, one)) for one in entries.get("common", ())],
            "calls": CallDescription.from_json(entries.get("calls", {})),
            "lowerings": lowerings and LoweringDescription.from_json(lowerings),
        }
        return cls(**{**_known_entries(cls, entries), **typed})

    def to_json(self) -> Entries:
        """Entries of the manifest; those that few models have are left out where they are empty."""
        entries = {one.name: getattr(self, one.name) for one in fields(self)}
        entries["common"] = [asdict(one) for one in self.common]
        entries["calls"] = self.calls.to_json()
        entries["lowerings"] = self.lowerings and self.lowerings.to_json()
        return {name: value for name, value in entries.items() if value or name not in OPTIONAL}

    def interfaces(self) -> dict[str, FunctionDescription]:
        """{name: interface} of main, and of the functions of a model in four."""
        shared = self.batch, self.limits
        main = FunctionDescription(self.inputs, self.outputs, *shared, self.indices, self.calls.unaligned)
        others = {
            name: FunctionDescription(tensors["inputs"], tensors["outputs"], *shared)
            for name, tensors in self.functions.items()
        }
        return {"main": main, **others}


OPTIONAL = ("common", "functions", "lowerings", "notes", "state")


def _known_entries(kind: type, entries: Entries) -> Entries:
    """The entries that are fields of a class; a file of a later version may have others."""
    return {one.name: entries[one.name] for one in fields(kind) if one.name in entries}
