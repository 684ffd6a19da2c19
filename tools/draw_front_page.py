"""The picture of the front page, from the results of two benchmarks: speed and signal to error beside peers.

    python tools/draw_front_page.py            # writes docs/_static/beside_peers.svg

Left: how many times as long a peer takes as tvmq's int8, one thread. Right: signal to error of all outputs, in dB.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PICTURE = ROOT / "benchmarks/results", ROOT / "docs/_static/beside_peers.svg"
WIDTH, ROW, TOP, LABELS, PANEL = 904, 19, 62, 122, 296
STYLE = """
svg { font: 12px system-ui, sans-serif; color: #1b1f24; background: #fff; --a: #0a7f5a; --b: #c2560c; --c: #6d48c9 }
@media (prefers-color-scheme: dark) {
svg { color: #e6edf3; background: #0d1117; --a: #3fb68b; --b: #f0883e; --c: #a78bfa } }
text { fill: currentColor } .title { font-weight: 600; font-size: 14px } .grid { stroke: currentColor; opacity: .16 }
.tvmq { fill: var(--a); stroke: var(--a) } .onnxruntime { fill: var(--b) } .openvino { fill: var(--c) }
.float { fill: none; stroke: var(--c); stroke-width: 1.6 } .soft { opacity: .65 }
"""
FAST = (
    ("tvmq", "tvmq"),
    ("openvino", "OpenVINO int8"),
    ("onnxruntime", "onnxruntime int8"),
    ("float", "OpenVINO float"),
)
NEAR = (("tvmq", "tvmq"), ("onnxruntime", "onnxruntime"), ("float", "best setting of a peer"))
Row = tuple[str, dict[str, float]]


def read_table(name: str) -> list[dict[str, str]]:
    """Rows of the first table of a file of results, as {column: text}."""
    table = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["tables"][0]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def read_speeds() -> list[Row]:
    """Milliseconds of each network: the peers' beside those of our int8."""
    rows = []
    for row in read_table("latency"):
        ours = float(row["tvmq int8"])
        found = {
            "onnxruntime": float(row["ort int8"]) / ours,
            "openvino": min(float(row[name]) for name in ("ov int8", "ov int8*")) / ours,
            "float": float(row["ov float*"]) / ours,
        }
        rows.append((row["model"], {"tvmq": 1.0, **found}))
    return sorted(rows, key=lambda row: row[1]["openvino"])


def read_errors() -> list[Row]:
    """Signal to error of each trained network in dB: ours, onnxruntime's at its defaults and at the peers' best."""
    rows = []
    for row in read_table("accuracy"):
        best = re.search(r"(-?[\d.]+) dB", row["best peer"])
        peers = {"onnxruntime": float(row["ort SQNR"]), "float": float(best.group(1)) if best else math.nan}
        rows.append((row["task"], {"tvmq": float(row["SQNR"]), **peers}))
    return sorted(rows, key=lambda row: row[1]["tvmq"])


def draw_panel(rows: Sequence[Row], left: float, ticks: Sequence[float], unit: str, *, logarithmic: bool) -> list[str]:
    """Names, a grid, and a dot for each contestant."""
    scale = math.log if logarithmic else float
    begin, end = scale(ticks[0]), scale(ticks[-1])
    x0, bottom = left + LABELS, TOP + ROW * len(rows)

    def place(value: float) -> float:
        clipped = min(max(value, ticks[0]), ticks[-1])
        return x0 + (scale(clipped) - begin) / (end - begin) * PANEL

    parts = []
    for tick in ticks:
        at = place(tick)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP - 6}V{bottom}"/>')
        parts.append(f'<text class="soft" x="{at:.1f}" y="{bottom + 15}" text-anchor="middle">{tick:g}{unit}</text>')
    for index, (name, values) in enumerate(rows):
        y = TOP + ROW * index + 6
        parts.append(
            f'<text x="{x0 - 10}" y="{y + 4}" text-anchor="end">{escape(name.removesuffix("_cifar10"))}</text>'
        )
        ends = [place(value) for value in values.values()]
        parts.append(f'<path class="grid" d="M{min(ends):.1f} {y}H{max(ends):.1f}"/>')
        for kind, value in values.items():
            title = f"<title>{escape(name)}: {value:.3g}{unit}</title>"
            radius = 5 if kind == "tvmq" else 4
            parts.append(f'<circle class="{kind}" cx="{place(value):.1f}" cy="{y}" r="{radius}">{title}</circle>')
    return parts


def draw_legend(left: float, entries: Sequence[tuple[str, str]]) -> list[str]:
    """Dots with their names, above a panel."""
    parts, x = [], left
    for kind, name in entries:
        parts.append(
            f'<circle class="{kind}" cx="{x + 5:.1f}" cy="36" r="4.5"/><text x="{x + 14:.1f}" y="40">{name}</text>'
        )
        x += 28 + 6.4 * len(name)
    return parts


def draw() -> str:
    """The SVG."""
    fast, near = read_speeds(), read_errors()
    right = LABELS + PANEL + 26.0
    height = TOP + ROW * max(len(fast), len(near)) + 24
    least = min(min(values["onnxruntime"], values["openvino"]) for _, values in fast)
    parts = [
        '<text class="title" x="8" y="18">Time of a run: times as long as tvmq int8</text>',
        f'<text class="title" x="{right + 8:g}" y="18">Signal to error of the outputs, more is better</text>',
        *draw_legend(8, FAST),
        *draw_legend(right + 8, NEAR),
        *draw_panel(fast, 0.0, (0.9 if least < 1 else 1.0, 1.5, 2, 3, 5, 8), "", logarithmic=True),
        *draw_panel(near, right, (0, 10, 20, 30, 40, 50), " dB", logarithmic=False),
    ]  # fmt: skip
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
    return f'{head}aria-label="tvmq beside peers"><style>{STYLE}</style>{"".join(parts)}</svg>\n'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")
