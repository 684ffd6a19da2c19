"""The layers of the source, drawn from the table that tests/test_layers.py enforces; and the road as a picture."""

from __future__ import annotations

import ast
import re
from html import escape

from pages import ROOT, Page

WIDTH, HEIGHT, GAP = 118, 26, 8

# The road of pipeline.py: rows of (name of a pass or method, remark); what stands in brackets is not always walked
ROAD = [
    ["prepare", "[equalize]", "[scale_outliers]", "partition"],
    ["annotate", "unify_scales", "[round_biases]", "calibrate"],
    ["[weight rounding]", "[bias correction]", "realize", "fold_constants"],
    ["pack_weights", "[partition_conversions]"],
]


def pages() -> list[Page]:
    """One page."""
    return [Page("reference/architecture", "\n".join([HEAD, *_picture(), MIDDLE, *_places(), "", TAIL]))]


HEAD = """# Architecture

A layer imports lower layers only, and the places of one layer do not import each other unless they stand in one box
here. `tests/test_layers.py` enforces it for every import of every file, those inside of functions and the tables of
names included; this picture is drawn from its table.
"""
MIDDLE = """
Read from the bottom up: no file needs one that stands above it. What a result must be is in layer 1: NumPy, no TVM.

| layer | place | what lives there |
| --- | --- | --- |"""
TAIL = """[Contributing](../contributing.md) says which files to touch for a new pass, operator, observer, kernel,
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
    """The road as a picture whose boxes lead to the pages of the passes, which stand in `base`."""
    width, parts = 146, []
    for number, names in enumerate(ROAD):
        y = number * 52 + 4
        for column, entry in enumerate(names):
            x, name = column * (width + 24) + 4, entry.strip("[]")
            box = _box(x, y, name, "other" if entry != name else "float", width)
            parts.append(f'<a href="{base}{name}.html">{box}</a>' if " " not in name else box)
            if column + 1 < len(names):
                parts.append(f'<path d="M{x + width} {y + 13}h20" marker-end="url(#tip)"/>')
            elif number + 1 < len(ROAD):
                right = x + width / 2
                parts.append(f'<path d="M{right} {y + HEIGHT}v13H{4 + width / 2}v9" marker-end="url(#tip)"/>')
    return ["```{raw} html", _svg(4 * (width + 24), len(ROAD) * 52, "the road", parts), "```"]
