"""Measured tiles on disk: one JSON file in the cache folder, for all CPUs and versions that measured there.

    {"<CPU, instruction set, versions>": {"<product>": {"tile": [rows, columns], "gain": 1.08}}}

Writers take turns and add to what others wrote; readers see whole files. What cannot be read counts as empty: a table
is about speed alone.

Tests: tests/codegen/performance/test_tuning.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tvm

from tvmq.base.cache import lock_path, replace_file, trusted_folder
from tvmq.codegen.target.cpu import CpuTarget, resolve_target
from tvmq.version import __version__

NAME = "tiles.json"
Entry = dict[str, Any]


def machine_key(target: CpuTarget) -> str:
    """Key of a measurement: this CPU, the one that is compiled for, and the versions that make the code."""
    here = resolve_target().mcpu
    return f"{here} as {target.mcpu} {target.isa.name}, tvmq {__version__}, tvm {tvm.__version__}"


def read_entries(target: CpuTarget) -> dict[str, Entry]:
    """{product: entry} for a target; empty without a cache, or where nothing was measured."""
    path = _path()
    entries = _read_table(path).get(machine_key(target), {}) if path is not None else {}
    return {key: entry for key, entry in entries.items() if _is_entry(entry)} if isinstance(entries, dict) else {}


def tiles_for(target: CpuTarget) -> dict[str, tuple[int, int]]:
    """{product: tile} that kernels for this target are to take, see kernels/parts/tiling.py."""
    return {key: (entry["tile"][0], entry["tile"][1]) for key, entry in read_entries(target).items()}


def add_entries(target: CpuTarget, entries: Mapping[str, Entry]) -> None:
    """Add to the table, or replace; nothing without a cache.

    raises  OSError where the folder cannot be written
    """
    path = _path()
    if path is None or not entries:
        return
    with lock_path(path):
        table = _read_table(path)
        own = table.get(machine_key(target))
        table[machine_key(target)] = {**(own if isinstance(own, dict) else {}), **entries}
        replace_file(path, (json.dumps(table, indent=1, sort_keys=True) + "\n").encode())


def _path() -> Path | None:
    folder = trusted_folder()
    return None if folder is None else folder / NAME


def _read_table(path: Path) -> dict[str, Any]:
    try:
        table = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return table if isinstance(table, dict) else {}


def _is_entry(entry: object) -> bool:
    tile = entry.get("tile") if isinstance(entry, dict) else None
    return isinstance(tile, list) and len(tile) == 2 and all(isinstance(side, int) for side in tile)
