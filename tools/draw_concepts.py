"""The picture of docs/concepts.md, as wide as a page and as narrow as a telephone.

python tools/draw_concepts.py              # writes docs/_static/concepts.svg and concepts_narrow.svg
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDE, NARROW = ROOT / "docs/_static/concepts.svg", ROOT / "docs/_static/concepts_narrow.svg"
MEANING = (
    "Floats of a tensor become codes by a scale and a zero point; a layer sums products of codes and requantizes; "
    "a model goes from ONNX to an executable"
)
STYLE = """
svg { font: 13px system-ui, sans-serif; color: #1b1f24; background: #fff;
--float: #eef1f5; --codes: #d8f0dc; --sums: #fde9cf }
@media (prefers-color-scheme: dark) {
svg { color: #e6edf3; background: #0d1117; --float: #2b313a; --codes: #1f4430; --sums: #553a16 } }
text { fill: currentColor } .title { font-weight: 600; font-size: 15px } .name { font-weight: 600 }
.soft { font-size: 12px; opacity: .75 } .mono { font-family: ui-monospace, monospace; white-space: pre }
rect { stroke: currentColor; stroke-opacity: .45 }
.float { fill: var(--float) } .codes { fill: var(--codes) } .sums { fill: var(--sums) }
.line { fill: none; stroke: currentColor; stroke-opacity: .7 } .tip { fill: currentColor }
.dash { stroke: currentColor; stroke-opacity: .6; stroke-dasharray: 3 3 }
"""
TENSOR = "A tensor: floats become codes"
LAYER = "A layer: no float between two layers"
MODEL = "A model: from float to an executable"
TO_CODES, TO_FLOATS = "q = clip(rint(x / scale) + zero_point)", "x ≈ (q - zero_point) * scale"
# Floats of -1 to 3 as codes of a scale of 4 / 255
VALUES = (("-1.0", 0), ("0.0", 64), ("1.5", 160), ("3.0", 255))
Box = tuple[str, str, str]  # class, name, what it is
CODES, WEIGHTS = ("codes", "codes", "uint8"), ("codes", "weights", "int8, per-channel")
SUM, REQUANTIZE = ("sums", "exact sum", "of products, int32"), ("sums", "requantize", "multiply, round, clip")
FILE, FLOATS = ("float", "model.onnx", "float"), ("float", "module", "Relax, float")
INTEGERS, EXECUTABLE = ("codes", "module", "Relax, integers"), ("codes", "Executable", "run, save model.tvmq")


def write(text: str, x: float, y: float, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


def draw_box(box: Box, x: float, y: float, width: float, height: float) -> str:
    """A rounded rectangle with a name, and what it is below."""
    kind, name, what = box
    middle, centre = x + width / 2, y + height / 2
    rect = f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'
    return (
        rect
        + write(name, middle, centre - 3.5, "name", "middle")
        + write(what, middle, centre + 13.5, "soft", "middle")
    )


def draw_arrow(points: Sequence[tuple[float, float]]) -> str:
    """An arrow along points; its last part goes right or down."""
    *_, (x0, y0), (x, y) = points
    right = y0 == y
    end = (x - 7, y) if right else (x, y - 7)
    back = [(x - 8, y - 4.5), (x - 8, y + 4.5)] if right else [(x - 4.5, y - 8), (x + 4.5, y - 8)]
    tip = f"M{back[0][0]:g} {back[0][1]:g}L{x:g} {y:g}L{back[1][0]:g} {back[1][1]:g}z"
    line = "L".join(f"{px:g} {py:g}" for px, py in [*points[:-1], end])
    return f'<path class="line" d="M{line}"/><path class="tip" d="{tip}"/>'


def draw_scales(left: float, right: float, ends: tuple[float, float], floats: float, codes: float) -> list[str]:
    """Two bars, of floats and of codes, and dashes between values that are the same.

    left, right  of the bars; the line of floats goes on to `ends`
    floats, codes  middles of the bars
    """
    parts = [f'<path class="line" d="M{ends[0]:g} {floats:g}H{ends[1]:g}"/>']
    for kind, y in (("float", floats), ("codes", codes)):
        parts.append(f'<rect class="{kind}" x="{left:g}" y="{y - 5:g}" width="{right - left:g}" height="10" rx="3"/>')
    for text, code in VALUES:
        at, below = left + (float(text) + 1) / 4 * (right - left), left + code / 255 * (right - left)
        parts.append(f'<path class="dash" d="M{at:.1f} {floats + 7:g}L{below:.1f} {codes - 7:g}"/>')
        parts += [write(text, at, floats - 10, anchor="middle"), write(str(code), below, codes + 20, anchor="middle")]
    zero = left + VALUES[1][1] / 255 * (right - left)
    return [*parts, write("zero point", zero, codes + 36, "soft", "middle")]


def draw_wide() -> str:
    """The three parts as rows, 760 pixels wide."""
    parts = [write(TENSOR, 8, 20, "title"), *draw_scales(150, 610, (80, 700), 62, 118)]
    parts += [write("floats", 8, 66, "name"), write("uint8 codes", 8, 122, "name")]
    parts += [write("clipped beyond", 624, 52, "soft"), write("scale = 4 / 255", 624, 122, "soft")]
    parts += [write(TO_CODES, 8, 180, "mono"), write(TO_FLOATS, 752, 180, "mono", "end")]
    parts += [write(LAYER, 8, 226, "title"), draw_box(CODES, 8, 240, 120, 48), draw_box(WEIGHTS, 8, 298, 120, 48)]
    parts += [
        draw_box(SUM, 210, 266, 150, 54),
        draw_box(REQUANTIZE, 420, 266, 170, 54),
        draw_box(CODES, 650, 266, 102, 54),
    ]
    parts += [draw_arrow([(128, y), (170, y), (170, 293), (210, 293)]) for y in (264, 322)]
    parts += [draw_arrow([(360, 293), (420, 293)]), draw_arrow([(590, 293), (650, 293)])]
    parts.append(write(MODEL, 8, 376, "title"))
    for box, x, width in ((FILE, 8, 110), (FLOATS, 206, 110), (INTEGERS, 404, 110), (EXECUTABLE, 602, 150)):
        parts.append(draw_box(box, x, 408, width, 50))
    for text, x in (("from_onnx", 118), ("quantize", 316), ("build", 514)):
        parts += [draw_arrow([(x, 433), (x + 88, 433)]), write(text, x + 41, 426, anchor="middle")]
    parts.append(write("+ samples", 357, 448, "soft", "middle"))
    return frame(760, 470, parts)


def draw_narrow() -> str:
    """These parts one below the other, 358 pixels wide."""
    parts = [write(TENSOR, 8, 20, "title"), write("floats", 8, 48, "name"), *draw_scales(40, 300, (8, 350), 78, 134)]
    parts += [write("clipped beyond", 350, 48, "soft", "end"), write("uint8 codes", 8, 198, "name")]
    parts += [write("scale = 4 / 255", 350, 198, "soft", "end")]
    parts += [write(TO_CODES, 8, 224, "mono"), write(TO_FLOATS, 8, 244, "mono")]
    parts += [write(LAYER, 8, 290, "title"), draw_box(CODES, 8, 304, 160, 48), draw_box(WEIGHTS, 190, 304, 160, 48)]
    parts += [draw_arrow([(x, 352), (x, 368), (179, 368), (179, 386)]) for x in (88, 270)]
    parts += draw_column([SUM, REQUANTIZE, CODES], 386, ["", ""])
    parts.append(write(MODEL, 8, 622, "title"))
    parts += draw_column([FILE, FLOATS, INTEGERS, EXECUTABLE], 636, ["from_onnx", "quantize + samples", "build"])
    return frame(358, 930, parts)


def draw_column(boxes: Sequence[Box], top: float, labels: Sequence[str]) -> list[str]:
    """Boxes one below the other, with labels beside the arrows between them."""
    parts = [draw_box(box, 94, top + 80 * index, 170, 48) for index, box in enumerate(boxes)]
    for index, label in enumerate(labels):
        y = top + 80 * index + 48
        parts.append(draw_arrow([(179, y), (179, y + 32)]))
        parts += [write(label, 190, y + 20)] if label else []
    return parts


def frame(width: int, height: int, parts: Sequence[str]) -> str:
    """The SVG."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'{head} role="img" aria-label="{MEANING}"><style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"


def draw() -> dict[Path, str]:
    """Both pictures, by file."""
    return {WIDE: draw_wide(), NARROW: draw_narrow()}


if __name__ == "__main__":
    for path, text in draw().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
