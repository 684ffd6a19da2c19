"""The rooms of tvmq: their folders, their order from high to low, and the imports that each may have.

`tests/test_layers.py` holds every import of the sources against it, and the table in CONTRIBUTING.md is drawn from it:

    python tools/rooms.py            # the table
    python tools/rooms.py --update   # writes it into CONTRIBUTING.md

What a room is for is the first sentence of its `__init__.py`.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Lowest first: a room imports rooms of lower floors, never one of its own floor
FLOORS: tuple[tuple[str, ...], ...] = (
    ("base",),
    ("numerics",),
    ("calibration", "backends", "state"),
    ("options", "graph", "tensors"),
    ("passes", "formats"),
    ("codegen", "runtime", "reference"),
    ("quantization", "library"),
    ("chips", "integrations", "training"),
    ("tools",),
    ("relay",),
)
# Files and the folder beside the rooms, and the room whose floor they share
BESIDE = {
    **dict.fromkeys(("errors", "version"), "base"),
    **dict.fromkeys(("__init__", "__main__", "extension", "demo"), "tools"),
    "functional": "quantization",
}

# Where rooms have an order inside: a place imports those before it in its order. What is not named is free in its room
ORDERS: tuple[tuple[tuple[str, ...], ...], ...] = (
    # from a module to running code: three rooms of one floor, whose places alternate
    (
        ("codegen/cost",),
        ("codegen/kernels",),
        ("codegen/custom_lowering",),
        ("codegen/target",),
        ("runtime/artifact",),
        ("runtime",),
        ("codegen/schedule",),
        ("codegen/lower",),
        ("codegen/compile", "codegen/performance", "reference", "runtime/profile", "runtime/profile_table"),
    ),
    (
        ("errors", "version", "base/forks"),
        ("base/deprecation", "base/text", "base/cpus"),
        ("base",),
    ),
    (("quantization/meaning",), ("quantization",), ("quantization/search",)),
    (("chips/emulation",), ("chips/comparison",)),
    (
        ("tools/analysis",),
        ("tools/drawing",),
        ("tools/doctor",),
        ("tools/report",),
        ("tools/generation",),
        ("__init__", "extension", "demo"),
        ("tools/cli", "__main__"),
    ),
)
# Sides of a room that know nothing of each other: importers and exporters, data and observers
SIDES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("formats/importing", "formats/onnx/importer", "formats/torch/importer", "formats/relax"),
        ("formats/exporting", "formats/onnx/exporter", "formats/torch/exporter")
        + ("formats/c", "formats/tflite", "formats/tosa"),
    ),
    (("calibration/observers",), ("calibration/data", "calibration/dataset", "calibration/call_sequences")),
)
# Rooms and places that are all that a place may import; what a place may not import although it lies lower
ALLOWED_IMPORTS = {"codegen/kernels": {"base", "numerics", "calibration", "codegen/cost"}}
FORBIDDEN_IMPORTS = {
    **dict.fromkeys(("codegen", "runtime", "reference"), {"formats"}),
    "codegen/custom_lowering": {"formats", "passes"},
}
# Modules that a place loads by name when a user asks for them, against the order
LATE_IMPORTS = {
    "runtime": {"tvmq.runtime.profile", "tvmq.runtime.profile_table"},
    "__init__": {"tvmq.tools.cli.quantize_model"},
}

PLACES = sorted(
    {place for group in ORDERS + SIDES for step in group for place in step}
    | {room for floor in FLOORS for room in floor}
    | set(BESIDE),
    key=len,
    reverse=True,
)


def find_place(parts: tuple[str, ...]) -> str:
    """Most special place of a module, by the parts of its name behind `tvmq`.

    A name of no place is a public one, as in tvmq.quantize.

    >>> find_place(("codegen", "kernels", "isa")), find_place(("graph", "view")), find_place(("quantize",))
    ('codegen/kernels', 'graph', '__init__')
    """
    path = "/".join(parts)
    return next((place for place in PLACES if path == place or path.startswith(f"{place}/")), "__init__")


def find_room(place: str) -> str:
    """Room of a place."""
    first = place.partition("/")[0]
    return BESIDE.get(first, first)


def find_floor(place: str) -> int:
    """Number of the floor, 0 is the lowest."""
    room = find_room(place)
    return next(number for number, floor in enumerate(FLOORS) if room in floor)


def refuse_import(place: str, module: str) -> str | None:
    """Reason why `place` may not import `module` ("tvmq.graph.view"); None if it may."""
    used = find_place(tuple(module.split(".")[1:]))
    if used == place or module in LATE_IMPORTS.get(place, ()):
        return None
    allowed = ALLOWED_IMPORTS.get(place)
    if allowed is not None and used not in allowed and find_room(used) not in allowed:
        return f"it may import {', '.join(sorted(allowed))} alone"
    if find_room(used) in FORBIDDEN_IMPORTS.get(place, FORBIDDEN_IMPORTS.get(find_room(place), ())):
        return f"it may not import {find_room(used)}"
    for order in ORDERS:
        rank = _number_steps(order)
        if place in rank and used in rank:
            return None if rank[used] <= rank[place] else f"{used} comes after {place}"
    if find_room(place) == find_room(used):
        apart = any(_number_steps(group).get(used) != _number_steps(group).get(place) for group in SIDES)
        return f"{place} and {used} are on different sides" if apart else None
    if find_floor(used) < find_floor(place):
        return None
    return f"{find_room(used)} is on floor {find_floor(used)}, {find_room(place)} on floor {find_floor(place)}"


def is_above(place: str, other: str) -> bool:
    """True if `place` lies on a higher floor than `other`, or after it in an order that both are in.

    >>> is_above("passes", "graph"), is_above("graph", "passes"), is_above("codegen/compile", "codegen/lower")
    (True, False, True)
    """
    for order in ORDERS:
        rank = _number_steps(order)
        if place in rank and other in rank:
            return rank[place] > rank[other]
    return find_floor(place) > find_floor(other)


def _number_steps(group: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {place: number for number, step in enumerate(group) for place in step}


def read_purpose(room: str) -> str:
    """First sentence of the docstring of a room's `__init__.py`."""
    folder = ROOT / room if room == "passes" else ROOT / "tvmq" / room
    head = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(head.partition("\n\n")[0].split())


def draw_table() -> str:
    """The table of CONTRIBUTING.md: floors from the lowest, rooms, what lives there."""
    rows = ["| floor | room | what lives there |", "| --- | --- | --- |"]
    for number, floor in enumerate(FLOORS):
        for room in floor:
            shown = "passes/" if room == "passes" else f"tvmq/{room}/"
            rows.append(f"| {number} | `{shown}` | {read_purpose(room)} |")
    return "\n".join(rows) + "\n"


START, END = "<!-- drawn by tools/rooms.py -->\n", "<!-- end of the rooms -->\n"


def replace_table(text: str) -> str:
    """`text` of CONTRIBUTING.md with the table of today."""
    before, _, rest = text.partition(START)
    return before + START + draw_table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        page = ROOT / "CONTRIBUTING.md"
        page.write_text(replace_table(page.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(draw_table(), end="")
