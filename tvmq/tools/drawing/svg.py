"""SVG of the picture, with its own style, which follows light and dark mode.

Tests: tests/tools/drawing/test_draw.py
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmq.base.text import xml_text
from tvmq.options.rules import short_names
from tvmq.tools.drawing.network_cards import INPUT, RESULT, Card, plain_operator
from tvmq.tools.drawing.placement import Edge, Placement, Point

LETTER = 7.3  # width of a letter of 12 px in any monospaced face
SMALL = 6.1  # of 10 px
LINE, ROW, PAD = 15.0, 13.0, 9.0
WIDEST, NARROWEST = 30, 12  # letters of a name
TIP = 5.0

STYLE = """
.tvmq-drawing{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
--card:#fff;--ink:#1b1f24;--soft:#5b6570;--line:#8b949e;--rim:#c4cad1;--int8:#0a7f5a;--int16:#6d48c9;--float:#c2560c;
--mixed:#9a6b00;--plain:#8b949e}
@media (prefers-color-scheme:dark){.tvmq-drawing{--card:#1c2128;--ink:#e6edf3;--soft:#9aa5b1;--line:#6e7681;
--rim:#3d444d;--int8:#3fb68b;--int16:#a78bfa;--float:#f0883e;--mixed:#d4a72c;--plain:#6e7681}}
.tvmq-drawing .edge{fill:none;stroke:var(--line);stroke-width:1.2}
.tvmq-drawing .far{opacity:.25}
.tvmq-drawing .tip{fill:var(--line);stroke:none}
.tvmq-drawing .box{fill:var(--card);stroke:var(--rim);stroke-width:1}
.tvmq-drawing .bar{fill:var(--plain)}
.tvmq-drawing .int8 .bar{fill:var(--int8)}.tvmq-drawing .int16 .bar{fill:var(--int16)}
.tvmq-drawing .float .bar{fill:var(--float)}.tvmq-drawing .mixed .bar{fill:var(--mixed)}
.tvmq-drawing .block .box{stroke-dasharray:4 3}
.tvmq-drawing text{font-size:10px;fill:var(--soft)}.tvmq-drawing .name{font-size:12px;fill:var(--ink);font-weight:600}
.tvmq-drawing .row{fill:var(--rim);opacity:.35}
"""


def lines_of(card: Card, *, operators: bool) -> list[str]:
    """Small lines of a card: operator and precision, result, kernels; or one per operator."""
    if card.operator == RESULT:
        return []
    head = plain_operator(card.operator) + (f", {card.precision}" if card.precision else "")
    if operators and len(card.operators) > 1:
        return [head, *(f"{plain_operator(one.operator)}: {one.result}" for one in card.operators), *_kernels(card)]
    return [line for line in ("" if card.operator == INPUT else head, card.result, *_kernels(card)) if line]


def _kernels(card: Card) -> list[str]:
    return [f"kernel {' + '.join(card.kernels)}"] if card.kernels else []


def titles_of(cards: Sequence[Card]) -> list[str]:
    """Titles of cards."""
    names = [short_names(card.names) for card in cards]
    groups: dict[str, set[str]] = {}
    for name in names:
        groups.setdefault(shorten(name, WIDEST), set()).add(name)
    titles = {name: title for group in groups.values() for name, title in _cut_apart(sorted(group), WIDEST).items()}
    return [titles[name] for name in names]


def _cut_apart(texts: Sequence[str], most: int) -> dict[str, str]:
    """Shortened texts, cut where they stay distinct, and less if they would look alike.

    >>> list(_cut_apart(["/layer.0/attention/query/MatMul", "/layer.1/attention/query/MatMul"], 16).values())
    ['/layer.0..MatMul', '/layer.1..MatMul']
    """
    for width in range(most, max(map(len, texts))):
        for tail in sorted(range(width - 1), key=lambda tail: abs(tail - (width - 2) // 2)):
            cut = {text: shorten(text, width, tail) for text in texts}
            if len(set(cut.values())) == len(texts):
                return cut
    return {text: text for text in texts}


def shorten(text: str, most: int, tail: int | None = None) -> str:
    """Text without its middle if it is too long; `tail` letters are kept after the cut, by default half.

    >>> shorten("/encoder/layer.3/attention/query", 20), shorten("/encoder/layer.3/attention/query", 20, 2)
    ('/encoder/..ion/query', '/encoder/layer.3..ry')
    """
    if len(text) <= most:
        return text
    tail = (most - 2) // 2 if tail is None else tail
    return f"{text[: most - 2 - tail]}..{text[len(text) - tail :]}"


def size_of(card: Card, title: str, *, operators: bool) -> Point:
    """Width and height of a card."""
    lines = lines_of(card, operators=operators)
    letters = max(NARROWEST, len(title)) * LETTER
    small = max((min(len(line), _most()) for line in lines), default=0) * SMALL
    return max(letters, small) + 2 * PAD + 5, LINE + ROW * len(lines) + 2 * PAD - 4


def _most() -> int:
    return int(WIDEST * LETTER / SMALL)


def write(cards: Sequence[Card], placement: Placement, *, operators: bool, label: str) -> str:
    """SVG text of the picture."""
    width, height = placement.width, placement.height
    head = (
        f'<svg class="tvmq-drawing" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" role="img" aria-label="{xml_text(label)}">'
    )
    places = zip(cards, titles_of(cards), placement.corners, strict=True)
    boxes = [_card(card, title, at, operators) for card, title, at in places]
    return "\n".join([head, f"<style>{STYLE}</style>", *_edges(cards, placement.edges), *boxes, "</svg>"])


def _n(value: float) -> str:
    """Number as short text.

    >>> _n(12.0), _n(0.46)
    ('12', '0.5')
    """
    return f"{value:.1f}".removesuffix(".0")


def _edges(cards: Sequence[Card], edges: Sequence[Edge]) -> list[str]:
    """SVG of edges: one path for all edges of a card, and their tips."""
    paths: dict[int, list[str]] = {}
    far: dict[int, list[str]] = {}
    tips: dict[int, list[str]] = {}
    for edge in edges:
        (far if edge.is_far else paths).setdefault(edge.source, []).append(_path(edge))
        if edge.ends:
            x, y = edge.points[-1]
            tips.setdefault(edge.source, []).append(f"M{_n(x)} {_n(y)}l-3.5-{TIP:g}h7z")
    return [
        f'<g data-from="{xml_text(cards[card].key)}">'
        f"{_lines('edge far', far.get(card))}{_lines('edge', paths.get(card))}"
        f"{_lines('tip', tips.get(card))}</g>"
        for card in dict.fromkeys((*paths, *far))
    ]


def _lines(kind: str, pieces: Sequence[str] | None) -> str:
    return f'<path class="{kind}" d="{"".join(pieces)}"/>' if pieces else ""


def _path(edge: Edge) -> str:
    first, *rest = [(x, y) for x, y in edge.points]
    if edge.ends:
        rest[-1] = (rest[-1][0], rest[-1][1] - TIP / 2)
    if not edge.is_curved:
        return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in (first, *rest))
    if len(rest) == 1:
        return _curve(first, rest[0])
    start, end = rest[0], rest[1]
    lead = f"L{_n(start[0])} {_n(start[1])}" if start != first else ""
    tail = f"L{_n(rest[2][0])} {_n(rest[2][1])}" if rest[2] != end else ""
    return f"M{_n(first[0])} {_n(first[1])}{lead}{_bend(start, end)}{tail}"


def _curve(a: Point, b: Point) -> str:
    return f"M{_n(a[0])} {_n(a[1])}{_bend(a, b)}"


def _bend(a: Point, b: Point) -> str:
    """Curve from a to b, vertical at both ends."""
    if abs(a[0] - b[0]) < 0.5:
        return f"L{_n(b[0])} {_n(b[1])}"
    middle = (a[1] + b[1]) / 2
    return f"C{_n(a[0])} {_n(middle)} {_n(b[0])} {_n(middle)} {_n(b[0])} {_n(b[1])}"


def _card(card: Card, title: str, at: Point, operators: bool) -> str:
    x, y = at
    width, height = size_of(card, title, operators=operators)
    kind = " ".join(filter(None, ("card", card.precision, "block" if card.inside else "")))
    lines = lines_of(card, operators=operators)
    texts = [f'<text class="name" x="{_n(PAD + 5)}" y="{_n(PAD + 9)}">{xml_text(title)}</text>']
    for number, line in enumerate(lines):
        top = PAD + 9 + LINE + ROW * number
        texts.append(f'<text x="{_n(PAD + 5)}" y="{_n(top - 1)}">{xml_text(shorten(line, _most()))}</text>')
    return (
        f'<g class="{kind}" data-key="{xml_text(card.key)}" transform="translate({_n(x)} {_n(y)})">'
        f"<title>{xml_text(_hint(card))}</title>"
        f'<rect class="box" width="{_n(width)}" height="{_n(height)}" rx="5"/>'
        f'<rect class="bar" width="5" height="{_n(height)}" rx="2"/>{"".join(texts)}</g>'
    )


def _hint(card: Card) -> str:
    """Text of the tooltip."""
    names = [name for one in card.inside for name in one.names] or list(card.names)
    shown = names[:8] + ([f"and {len(names) - 8} more"] if len(names) > 8 else [])
    why = [f"decided by: {card.why}"] if card.why else []
    return "\n".join([*shown, *lines_of(card, operators=False), *why])
