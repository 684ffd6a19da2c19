"""The layers of the source, drawn from the table that tests/test_layers.py enforces; and the road as a picture."""

from __future__ import annotations

import ast
import re
from html import escape

import road_trace
from pages import ROOT, Page

WIDTH, HEIGHT, GAP = 118, 26, 8

# Passes that `quantize` leaves out where nothing asks for them
OPTIONAL = {"passes", "equalize", "scale_outliers", "correct_bias", "quantize_dynamic_layers"}
IN_A_ROW = 4  # passes; folders are narrower
FOLDERS_IN_A_ROW = 6


def pages() -> list[Page]:
    """One page."""
    parts = [HEAD, *_picture(), MIDDLE, *_places(), WALKS, *_walks(), TAIL]
    return [Page("reference/architecture", "\n".join(parts))]


HEAD = """# Architecture

A layer imports lower layers only, and the places of one layer do not import each other unless they stand in one box
here. `tests/test_layers.py` enforces it for every import of every file, those inside of functions and the tables of
names included; this picture is drawn from its table.
"""
MIDDLE = """
Read from the bottom up: no file needs one from a layer above it. Layer 1 defines what a result must be, in NumPy and
without TVM.

| layer | place | what lives there |
| --- | --- | --- |"""
WALKS = """
## The pipeline through the folders

The folders that a first example enters, in order, each where one of its functions is called for the first time. The
embedded network is imported, quantized, built, saved, loaded and run while this page is generated
(`python docs/_ext/road_trace.py` prints the same).
"""
TAIL = """
[Contributing](../contributing.md) says which files to touch for a new pass, operator, observer, kernel,
instruction set, backend or command. Names stand in tables (`PASSES`, `OBSERVERS`, `BACKENDS`, `LOWERINGS`, ...) as
`"module:object"` and are loaded when they are used: `import tvmq` takes milliseconds and imports neither TVM nor NumPy.
"""


def rows() -> list[tuple[int, list[str]]]:
    """(layer, places that belong together) as tests/test_layers.py has them."""
    tree = ast.parse((ROOT / "tests" / "test_layers.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROWS":
            return [(row[0], list(row[1:])) for row in ast.literal_eval(node.value) if _exists(row[1])]
    raise ValueError("architecture_pages: tests/test_layers.py has no ROWS")


def _exists(place: str) -> bool:
    """Layers may be named before there is code in them."""
    return any((ROOT / path).exists() for path in (f"tvmq/{place}", f"tvmq/{place}.py", place))


def _picture() -> list[str]:
    layers: dict[int, list[list[str]]] = {}
    for layer, places in rows():
        layers.setdefault(layer, []).append(places)
    width = max(sum(len(places) for places in groups) for groups in layers.values()) * (WIDTH + GAP) + 60
    parts = []
    for index, layer in enumerate(sorted(layers, reverse=True)):
        y = index * (HEIGHT + 2 * GAP) + 4
        parts.append(f'<text class="op" x="4" y="{y + 17}">{layer}</text>')
        parts += _layer(layers[layer], y)
    height = len(layers) * (HEIGHT + 2 * GAP) + 4
    return ["```{raw} html", _svg(width, height, "the layers", parts), "```"]


def _layer(groups: list[list[str]], y: int) -> list[str]:
    parts, x = [], 30
    for places in groups:
        if len(places) > 1:  # they may import each other
            span = len(places) * (WIDTH + GAP)
            parts.append(
                f'<rect class="other" x="{x - 3}" y="{y - 4}" width="{span - GAP + 6}" height="{HEIGHT + 8}" rx="5"/>'
            )
        for place in places:
            parts.append(_box(x, y, "tvmq" if place == "__init__" else place, "codes" if y % 2 else "float"))
            x += WIDTH + GAP
    return parts


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


def road(base: str) -> list[str]:
    """The stages of tvmq/quantization/stages.py as a picture whose boxes lead to the pages of the passes, which stand in `base`."""
    from tvmq.passes import PASSES
    from tvmq.quantization.stages import DECISIONS, INTEGERS, PREPARATION, ROUNDING, SCALING

    entries = []
    for name, _ in PREPARATION + SCALING + DECISIONS + ROUNDING + INTEGERS:
        kind = "other" if name in OPTIONAL else "float"
        entries.append((name, kind, f"{base}{name}.html" if name in PASSES else None))
    return ["```{raw} html", *_chain(entries, "the road", 146, IN_A_ROW), "```"]


def _walks() -> list[str]:
    """For each step of a session the folders, as boxes in the order in which they are entered."""
    lines = []
    for walk in road_trace.walks():
        boxes = [(folder, "codes", None) for folder in walk.folders]
        lines += ["", f"**{walk.call}**: {walk.files} files", "", "```{raw} html"]
        lines += [*_chain(boxes, f"the road of {walk.call}", 126, FOLDERS_IN_A_ROW), "```"]
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
