"""The two pictures of the front page, from the results of two benchmarks: speed and signal to error beside peers.

    python tools/draw_front_page.py            # writes docs/_static/beside_peers_{speed,error}.svg

Speed: how many times as long a peer takes as tvmq's int8, one thread. Error: signal to error of all outputs, in dB.
A picture is as wide as the text of a telephone, where it is read at its own size; a wide page puts both side by side.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS, STATIC = ROOT / "benchmarks/results", ROOT / "docs/_static"
SPEED, ERROR = STATIC / "beside_peers_speed.svg", STATIC / "beside_peers_error.svg"
# Pixels: two pictures and a space fit into the 736 of the site's column, one into the 358 of a telephone
WIDTH, HEIGHT, TOP, BOTTOM, LABELS, PANEL = 358, 472, 88, 28, 126, 210
STYLE = """
svg { font: 13px system-ui, sans-serif; color: #1b1f24; background: #fff; --a: #0a7f5a; --b: #c2560c; --c: #6d48c9 }
@media (prefers-color-scheme: dark) {
svg { color: #e6edf3; background: #0d1117; --a: #3fb68b; --b: #f0883e; --c: #a78bfa } }
text { fill: currentColor } .title { font-weight: 600; font-size: 15px } .grid { stroke: currentColor; opacity: .16 }
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


def draw_panel(rows: Sequence[Row], ticks: Sequence[float], unit: str, *, logarithmic: bool) -> list[str]:
    """Names, a grid, and a dot for each contestant."""
    scale = math.log if logarithmic else float
    begin, end = scale(ticks[0]), scale(ticks[-1])
    bottom = HEIGHT - BOTTOM
    step = (bottom - TOP) / len(rows)

    def place(value: float) -> float:
        clipped = min(max(value, ticks[0]), ticks[-1])
        return LABELS + (scale(clipped) - begin) / (end - begin) * PANEL

    parts = []
    for tick in ticks:
        at = place(tick)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP - 6}V{bottom}"/>')
        parts.append(f'<text class="soft" x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{tick:g}</text>')
    for index, (name, values) in enumerate(rows):
        y = TOP + step * (index + 0.4)
        label = escape(name.removesuffix("_cifar10"))
        parts.append(f'<text x="{LABELS - 10}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        ends = [place(value) for value in values.values()]
        parts.append(f'<path class="grid" d="M{min(ends):.1f} {y:.1f}H{max(ends):.1f}"/>')
        for kind, value in reversed(values.items()):  # ours is on top
            title = f"<title>{escape(name)}: {value:.3g}{unit}</title>"
            radius = 5 if kind == "tvmq" else 4
            parts.append(f'<circle class="{kind}" cx="{place(value):.1f}" cy="{y:.1f}" r="{radius}">{title}</circle>')
    return parts


def draw_legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    """Dots with their names, in two columns above a panel."""
    parts = []
    for index, (kind, name) in enumerate(entries):
        x, y = 8 + index % 2 * 150, 40 + index // 2 * 20
        parts.append(f'<circle class="{kind}" cx="{x + 5}" cy="{y}" r="4.5"/>')
        parts.append(f'<text x="{x + 16}" y="{y + 4}">{name}</text>')
    return parts


def draw_picture(title: str, legend: Sequence[tuple[str, str]], panel: Sequence[str]) -> str:
    """The SVG of a panel below its title and legend."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = [f'<text class="title" x="8" y="18">{title}</text>', *draw_legend(legend), *panel]
    return f'{head} role="img" aria-label="{title}"><style>{STYLE}</style>{"".join(parts)}</svg>\n'


def draw() -> dict[Path, str]:
    """Both pictures, by file."""
    fast, near = read_speeds(), read_errors()
    least = min(min(values["onnxruntime"], values["openvino"]) for _, values in fast)
    times = (0.9 if least < 1 else 1.0, 1.5, 2, 3, 5, 8)
    return {
        SPEED: draw_picture(
            "Time of a run, times that of tvmq int8", FAST, draw_panel(fast, times, "", logarithmic=True)
        ),
        ERROR: draw_picture(
            "Signal to error in dB, more is better", NEAR,
            draw_panel(near, (0, 10, 20, 30, 40, 50), " dB", logarithmic=False),
        ),
    }  # fmt: skip


if __name__ == "__main__":
    for path, text in draw().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
