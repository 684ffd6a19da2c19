"""Regions that the guard puts to float or back as one: between products, and all of one kind.

A region is a connected group of layers without multiply-accumulates: a whole norm, a gate, the front end of a
spectrogram. Sums of two tensors of one shape (residual streams) would connect nearly all of a network and are regions
of their own. Regions of one kind (the norms of all blocks) are decided together.

What layers cost in more precision, by counts alone: the same on every machine, so that the same layers are chosen.

The rates are those of one core with 32-byte vectors. They rank what may be given back to 8 bits; `tvmq inspect`
forecasts the times of a CPU.

Tests: tests/quantization/guard/test_kinds_of_networks.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax

from tvmq.graph.analysis.float_region_costs import elements, operations
from tvmq.graph.view import View
from tvmq.options.rules import short_names
from tvmq.passes.families.base import family_named
from tvmq.passes.operator_families import is_depthwise

FLOAT_OPERATIONS = 16e9  # a second
CONVERTED = 8e9  # elements a second
MACS = 25e9  # of products in float, a second
CODE_MACS = 4 * MACS  # in 8 bits
PASSES = 2  # over what is read, to find its scale and to make codes of it
Layers = Mapping[str, Mapping[str, Any]]
NAMED = 3  # layers that a sentence names


def float_seconds(keys: Collection[str], layers: Layers, view: View) -> float:
    """Forecast of integer layers in float: their operations, and the conversions at their borders.

    keys  of the ledger of the module that the view shows, prepared or annotated
    """
    members = {name for key in keys for name in _members(key, layers)}
    macs = sum(layers[key].get("macs") or 0 for key in keys)
    steps = sum(operations(view.value[name]) for name in members if name in view.value) - 2 * macs
    read = {name for key in keys for name in _inputs(key, layers, view) if name not in members}
    results = {key for key in keys if any(reader not in members for reader in view.readers[key])}
    converted = sum(elements(view.var[name]) for name in read | results)
    return max(0, steps) / FLOAT_OPERATIONS + converted / CONVERTED + macs / MACS


def dynamic_seconds(keys: Collection[str], layers: Layers, view: View) -> float:
    """Forecast of what scales made at run time cost products more than calibrated ones."""
    read = [name for key in keys for name in _inputs(key, layers, view)]
    converted = PASSES * sum(elements(view.var[name]) for name in read) + sum(elements(view.var[key]) for key in keys)
    steps = sum(
        operations(view.value[name])
        for key in keys
        for name in _members(key, layers)
        if name in view.value and name != layers[key].get("root", key)
    )
    return converted / CONVERTED + steps / FLOAT_OPERATIONS


def _members(key: str, layers: Layers) -> Sequence[str]:
    """Variables of a layer; a recurrent one, whose codes are made at run time, is a single operator."""
    return layers[key].get("members", (key,))


def _inputs(key: str, layers: Layers, view: View) -> Sequence[str]:
    """Activations that a layer reads."""
    known = layers[key].get("inputs")
    if known is not None:
        return known
    return [arg.name for arg in getattr(view.value.get(key), "args", ()) if isinstance(arg, relax.Var)]


@dataclass(frozen=True)
class Part:
    """Layers that are put to float or back together.

    keys     of the ledger in 8 bits
    names    in the source
    seconds  forecast of what they cost in float, conversions counted
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    seconds: float = 0.0

    def __str__(self) -> str:
        """The first names, and how many more there are.

        >>> str(Part(("a", "b"), ("/norm/Pow", "/norm/Sqrt")))
        "'/norm/{Pow, Sqrt}'"
        """
        rest = len(self.names) - NAMED
        return f"'{short_names(self.names[:NAMED])}'" + (f" and {rest} more" if rest > 0 else "")


def regions(layers: Layers) -> list[list[str]]:
    """Integer layers without multiply-accumulates that read each other, in the order of the ledger.

    >>> norm = {"precision": "int8", "macs": 0, "family": "table", "members": ["b"], "inputs": ["a"]}
    >>> regions({"a": {**norm, "members": ["a"], "inputs": ["x"]}, "b": norm})
    [['a', 'b']]
    """
    light = [key for key, entry in layers.items() if entry["precision"] == "int8" and not entry.get("macs")]
    home = {member: key for key in light for member in (key, *layers[key].get("members", ()))}
    region = {key: {key} for key in light}
    for key in light:
        if _is_stream(layers[key]):
            continue
        for source in {home[name] for name in layers[key].get("inputs", ()) if name in home}:
            if not _is_stream(layers[source]) and region[source] is not region[key]:
                joined = region[source] | region[key]
                region.update(dict.fromkeys(joined, joined))
    different = {id(keys): keys for keys in region.values()}
    return [sorted(keys, key=light.index) for keys in different.values()]


def _is_stream(entry: Mapping[str, Any]) -> bool:
    """True for the sum of two activations, by which blocks hang together."""
    return family_named(entry.get("family", "")).adds and len(set(entry.get("inputs", ()))) > 1


def kinds(layers: Layers, view: View) -> list[Part]:
    """All regions of a kind together, those that cost most in float first; the view has the tensors' sizes."""
    keys_by_kind: dict[tuple[str, ...], list[str]] = {}
    for keys in regions(layers):
        keys_by_kind.setdefault(tuple(layers[key]["op"] for key in keys), []).extend(keys)
    parts = [part_of(keys, layers, view) for keys in keys_by_kind.values()]
    return sorted(parts, key=lambda part: -part.seconds)  # stable: those of equal cost in the order of the ledger


def part_of(keys: Iterable[str], layers: Layers, view: View) -> Part:
    """The part of these layers."""
    keys = tuple(keys)
    names = dict.fromkeys(name for key in keys for name in layers[key].get("layers", ()) or (key,))
    return Part(keys, tuple(names), float_seconds(keys, layers, view))


def products(layers: Layers) -> list[str]:
    """Integer layers with multiply-accumulates, in the order of execution."""
    return [key for key, entry in layers.items() if entry["precision"] == "int8" and entry.get("macs")]


def depthwise(layers: Layers, view: View) -> list[str]:
    """Convolutions that filter each channel by itself: a rounding of what they read is averaged over few taps."""
    roots = {key: layers[key].get("root", key) for key in products(layers)}
    return [key for key, root in roots.items() if root in view.value and is_depthwise(view.value[root])]


def share_of_work(keys: Iterable[str], layers: Layers) -> float:
    """Share of the multiply-accumulates that these layers have.

    >>> share_of_work(["a"], {"a": {"macs": 1}, "b": {"macs": 3}})
    0.25
    """
    total = sum(entry.get("macs") or 0 for entry in layers.values())
    return sum(layers[key].get("macs") or 0 for key in keys) / max(1, total)


def heads(layers: Layers, view: View) -> list[list[str]]:
    """Products nearest to the outputs: those that no other product follows, then with those before them, and so on.

    Of several ways to an output the one of fewest products counts.
    """
    roots = {layers[key].get("root", key): key for key in products(layers)}
    distance: dict[str, int] = {}
    for name in [var.name for var, _ in reversed(view.bindings)]:
        behind = [distance[reader] + (reader in roots) for reader in view.readers[name] if reader in distance]
        if view.is_output(name) or behind:
            distance[name] = 0 if view.is_output(name) else min(behind)
    known = {key: distance[root] for root, key in roots.items() if root in distance}
    most = max(known.values(), default=-1)
    return [[key for key in products(layers) if known.get(key, most + 1) <= far] for far in range(most + 1)]
