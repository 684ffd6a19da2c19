"""Rooms of the source, drawn from the table that tests/test_layers.py enforces; the stages as a picture."""

from __future__ import annotations

import re
from html import escape

import call_walk
from pages import ROOT, Page

WIDTH, HEIGHT, GAP = 118, 26, 8

# Passes that `quantize` leaves out where nothing asks for them
OPTIONAL = {"passes", "equalize", "scale_outliers", "correct_bias"}
IN_A_ROW = 4  # passes; folders are narrower
FOLDERS_IN_A_ROW = 6


def pages() -> list[Page]:
    """Pages, here a single one."""
    parts = [HEAD, *_picture(), MIDDLE, *_places(), WALKS, *_walks(), TAIL]
    return [Page("reference/architecture", "\n".join(parts))]


HEAD = """# Architecture

A *room* is a folder of `tvmq/`, or `passes/`. It imports rooms of lower floors only, never one of its own floor.
`tests/test_layers.py` enforces this for every import, including those inside of functions and the tables of names; the
picture is drawn from its table. Codegen, runtime and reference share a floor: their folders alternate on the way from a
module to running code, in an order that the same test enforces (`tools/rooms.py`).
"""
MIDDLE = """
Read from the bottom up, because no file needs one from a floor above it. `numerics` defines what a result must be, in
NumPy and without TVM.

| floor | room | what lives there |
| --- | --- | --- |"""
WALKS = """
## The pipeline through the folders

The folders that a first example enters, in the order in which one of their functions is first called. The embedded
network is imported, quantized, built, saved, loaded and run while this page is generated
(`python docs/_ext/call_walk.py` prints the same). Calls go down the floors, because a room imports lower ones only,
with one exception: a lower room calls a function that a higher one passed to it. The table below each picture lists
these calls.
"""
TAIL = """
[Contributing](../contributing.md) says which files to touch for a new pass, operator, observer, kernel,
instruction set, backend or command. Names are in tables (`PASSES`, `OBSERVERS`, `BACKENDS`, `LOWERINGS`, ...) as
`"module:object"` and are loaded when they are used: `import tvmq` takes milliseconds and imports neither TVM nor NumPy.
"""


def floors() -> tuple[tuple[str, ...], ...]:
    """Rooms of each floor, the lowest first, as tools/rooms.py has them."""
    return call_walk.load_rooms().FLOORS  # type: ignore[no-any-return]


def _picture() -> list[str]:
    storeys = floors()
    width = max(map(len, storeys)) * (WIDTH + GAP) + 60
    parts = []
    for index, (number, rooms) in enumerate(reversed(list(enumerate(storeys)))):
        y = index * (HEIGHT + 2 * GAP) + 4
        parts.append(f'<text class="op" x="4" y="{y + 17}">{number}</text>')
        parts += [
            _box(30 + column * (WIDTH + GAP), y, room, "codes" if number % 2 else "float")
            for column, room in enumerate(rooms)
        ]
    height = len(storeys) * (HEIGHT + 2 * GAP) + 4
    return ["```{raw} html", _svg(width, height, "the rooms", parts), "```"]


def _box(x: int, y: int, text: str, kind: str, width: int = WIDTH) -> str:
    middle = x + width / 2
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{middle}" y="{y + 17}" text-anchor="middle">{escape(text)}</text>'
    )


def _svg(width: float, height: float, label: str, parts: list[str]) -> str:
    return (
        f'<div class="picture"><svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{label}"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
        + "\n".join(parts)
        + "</svg></div>"
    )


def _places() -> list[str]:
    """The rows of the table in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \d+ \|.*$", text, re.M)


def draw_stages(base: str) -> list[str]:
    """The stages of tvmq/quantization/stages.py as a picture; its boxes lead to the pages of the passes in `base`."""
    from tvmq.passes import PASSES
    from tvmq.quantization.stages import DECISIONS, INTEGERS, PREPARATION, ROUNDING, SCALING

    entries = []
    for stage in PREPARATION + SCALING + DECISIONS + ROUNDING + INTEGERS:
        name = stage.name
        kind = "other" if name in OPTIONAL else "float"
        entries.append((name, kind, f"{base}{name}.html" if name in PASSES else None))
    return ["```{raw} html", *_chain(entries, "the stages", 146, IN_A_ROW), "```"]


def _walks() -> list[str]:
    """Boxes of the folders that each step of a session enters, in this order."""
    lines = []
    for walk in call_walk.record_walks():
        boxes = [(folder, "codes", None) for folder in walk.folders]
        lines += ["", f"**{walk.call}**: {walk.files} files, {walk.calls} calls", "", "```{raw} html"]
        lines += [*_chain(boxes, f"folders of {walk.call}", 126, FOLDERS_IN_A_ROW), "```"]
        if walk.returns:
            lines += ["", "| caller | called | calls | why |", "| --- | --- | ---: | --- |"]
        lines += [f"| `{a}` | `{b}` | {n} | {call_walk.RETURNS[a, b]} |" for (a, b), n in sorted(walk.returns.items())]
    return [*lines, ""]


def _chain(entries: list[tuple[str, str, str | None]], label: str, width: int, in_a_row: int) -> list[str]:
    """Boxes (text, class, link) in rows, each with an arrow to the next one."""
    parts = []
    for number, (text, kind, link) in enumerate(entries):
        row, column = divmod(number, in_a_row)
        x, y = column * (width + 24) + 4, row * 52 + 4
        box = _box(x, y, text, kind, width)
        parts.append(f'<a href="{link}">{box}</a>' if link else box)
        if number + 1 == len(entries):
            break
        if column + 1 < in_a_row:
            parts.append(f'<path d="M{x + width} {y + 13}h20" marker-end="url(#tip)"/>')
        else:
            parts.append(f'<path d="M{x + width / 2} {y + HEIGHT}v13H{4 + width / 2}v9" marker-end="url(#tip)"/>')
    rows, columns = -(-len(entries) // in_a_row), min(len(entries), in_a_row)
    return [_svg(columns * (width + 24), rows * 52, label, parts)]
