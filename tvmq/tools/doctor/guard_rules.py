"""Rules, as few as possible, that reproduce the choices of the guard of `quantize`.

Tests: tests/tools/doctor/test_remedies.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tvmq.options.rules import Rule

Layers = Mapping[str, Mapping[str, Any]]
GUARD = "guard: "  # prefix of the reasons in the ledger for its decisions
SEPARATORS = "/."  # of the names that exporters give to layers


def raised_layers(layers: Layers) -> list[Mapping[str, Any]]:
    """Entries of a ledger to which the guard gave more precision, in order."""
    return [entry for entry in layers.values() if str(entry["why"]).startswith(GUARD)]


def guard_rules(layers: Layers) -> list[Rule]:
    """Rules that give layers the precision that the guard chose, without affecting other layers.

    layers  entries of the ledger of the guard's module
    """
    raised = raised_layers(layers)
    floats = [_names(entry) for entry in raised if not entry.get("dynamic")]
    dynamic = [_names(entry) for entry in raised if entry.get("dynamic")]
    in_codes = [_names(entry, key) for key, entry in layers.items() if entry["precision"] == "int8"]
    others = [_names(entry, key) for key, entry in layers.items() if not entry.get("dynamic")]
    return [
        *(Rule(match, None) for match in fewest_globs(floats, avoided=_flatten_names(in_codes))),
        *(Rule(match, activations="dynamic") for match in fewest_globs(dynamic, avoided=_flatten_names(others))),
    ]


def fewest_globs(layers: Iterable[tuple[str, ...]], *, avoided: Iterable[str]) -> list[str]:
    """Globs that together match every layer, by any of its names, and nothing else; those that match most come first.

    >>> fewest_globs([("/cqt/Conv",), ("/cqt/Pow",), ("/head/Exp", "/head/Mul")], avoided=["/head/Gemm", "/body/Conv"])
    ['/cqt/*', '/head/Exp']
    """
    rest, avoided = list(dict.fromkeys(layers)), list(avoided)
    globs = []
    while rest:
        first = rest[0]
        prefixes = [prefix for name in first for prefix in _prefixes(name) if not _any_starts_with(avoided, prefix)]
        counted = {prefix: sum(_any_starts_with(names, prefix) for names in rest) for prefix in prefixes}
        prefix = max(counted, key=lambda one: (counted[one], -len(one)), default="")
        if counted.get(prefix, 0) > 1:
            globs.append(f"{escape_glob(prefix)}*")
            rest = [names for names in rest if not _any_starts_with(names, prefix)]
        else:
            globs.append(escape_glob(first[0]))
            rest = rest[1:]
    return globs


def escape_glob(name: str) -> str:
    """Glob that matches only this name.

    >>> escape_glob("blocks[1]/conv*")
    'blocks[[]1]/conv[*]'
    """
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _prefixes(name: str) -> list[str]:
    """Prefixes of a name that end at a separator; a leading separator does not count."""
    return [name[: at + 1] for at, letter in enumerate(name) if letter in SEPARATORS and at]


def _any_starts_with(names: Iterable[str], prefix: str) -> bool:
    return any(name.startswith(prefix) for name in names)


def _names(entry: Mapping[str, Any], key: str | None = None) -> tuple[str, ...]:
    """Names of a layer in the source model, and its key if given, which rules match too."""
    names = tuple(entry.get("layers") or ())
    return (*names, key) if key is not None else names


def _flatten_names(names: Iterable[tuple[str, ...]]) -> list[str]:
    return [name for own in names for name in own]
