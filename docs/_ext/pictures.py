"""Pictures of modules as SVG: a box a binding, layers from top to bottom, colours by element type.

Nothing but text is needed to draw them. Colours are variables of _static/site.css, so that they follow light and dark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import const_value, is_const, op_name, sizes_of

LETTER, LINE, PADDING = 6.35, 14, 8  # pixels of 10.5px monospace
GAP_X, GAP_Y = 24, 26


class Box(NamedTuple):
    """A binding: its name, lines of text, element type, the boxes it reads, what it is compared by."""

    name: str
    lines: list[str]
    dtype: str
    reads: list[str]
    key: str

    @property
    def width(self) -> float:
        return max(len(line) for line in self.lines) * LETTER + 2 * PADDING

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + PADDING


def boxes(func: relax.Function, groups: dict[str, str]) -> list[Box]:
    """A box for each parameter and each binding of a function."""
    found = [Box(p.name, [p.name, _type(p)], _dtype(p), [], _type(p)) for p in func.params]
    for block in func.body.blocks:
        found += [_box(binding.var, binding.value, groups) for binding in block.bindings]
    return found


def _box(var: relax.Var, value: relax.Expr, groups: dict[str, str]) -> Box:
    lines = [_title(value), f"{var.name}: {_type(var)}"]
    constants = [const_value(arg) for arg in _flat(value) if is_const(arg)]
    lines += _constants(lines[0], constants)
    if lines[0] == "tvmq.simulated_quantize":
        lines.append(f"scale of '{value.attrs.tensor}'")
    if var.name in groups:
        lines.append(groups[var.name])
    reads = [arg.name for arg in _flat(value) if isinstance(arg, relax.Var)]
    return Box(var.name, lines, _dtype(var), reads, _key(value, constants))


def _title(value: relax.Expr) -> str:
    if isinstance(value, relax.TupleGetItem):
        return f"item {value.index}"
    if isinstance(value, relax.Call):
        return op_name(value) or str(value.op.name_hint)
    return "tuple" if isinstance(value, relax.Tuple) else "same as"


def _flat(value: relax.Expr) -> Iterable[relax.Expr]:
    """Values that a value reads, with tuples opened."""
    if isinstance(value, relax.TupleGetItem):
        yield value.tuple_value
    elif isinstance(value, relax.Var):
        yield value
    else:
        for arg in getattr(value, "fields", None) or getattr(value, "args", ()):
            yield from _flat(arg) if isinstance(arg, relax.Tuple) else [arg]


def _dtype(var: relax.Expr) -> str:
    return str(getattr(var.ty, "dtype", "tuple"))


def _type(var: relax.Expr) -> str:
    if not hasattr(var.ty, "shape") or var.ty.shape is None:
        return "tuple"
    return f"{_dtype(var)} {'x'.join(map(str, sizes_of(var)))}"


def _constants(operator: str, arrays: list[np.ndarray]) -> list[str]:
    """A line for each constant; scales and zero points share one."""
    if operator.rpartition(".")[2] not in SCALED or len(arrays) < 2:
        return [f"const {array.dtype} {_number(array)}" for array in arrays]
    scale, zero = arrays[-2:]
    others = [f"const {array.dtype} {_number(array)}" for array in arrays[:-2]]
    if not scale.any():
        return [*others, "no scale yet"]
    return [*others, f"scale {_number(scale)}, zero {_number(zero)}"]


SCALED = ("quantize", "dequantize", "simulated_quantize")


def _number(array: np.ndarray) -> str:
    if array.ndim == 0:
        return f"{float(array):.4g}"
    return "x".join(map(str, array.shape)) if array.ndim > 1 else f"[{array.size}]"


def _key(value: relax.Expr, constants: list[np.ndarray]) -> str:
    """Equal for bindings that compute the same from the same names."""
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in constants)).hexdigest()
    reads = [arg.name for arg in _flat(value) if isinstance(arg, relax.Var)]
    return f"{_title(value)} {getattr(value, 'attrs', '')} {reads} {digest}"


def groups_of(mod: tvm.IRModule) -> dict[str, str]:
    """{variable: "group 1, int8"} of a module that is partitioned and no further; later ones say it by their types."""
    ledger = get_ledger(mod)
    if ledger.stage != "partitioned":
        return {}
    return {
        member: f"group {number}: {entry['precision']}"
        for number, (name, entry) in enumerate(ledger.layers.items(), 1)
        for member in entry.get("members") or [name]
    }


def ranks(found: list[Box]) -> dict[str, int]:
    """The layer of each box: below all that it reads."""
    rank: dict[str, int] = {}
    for box in found:
        rank[box.name] = max((rank[name] + 1 for name in box.reads if name in rank), default=0)
    for box in found:  # a box that reads nothing is placed above its first reader, but parameters at the top
        readers = [rank[other.name] for other in found if box.name in other.reads]
        if not box.reads and box.lines[0] != box.name and readers:
            rank[box.name] = min(readers) - 1
    return rank


def drawn(found: list[Box], changed: set[str], title: str) -> tuple[str, float, float]:
    """SVG of one function at the origin, its width and height."""
    rank = ranks(found)
    rows: dict[int, list[Box]] = {}
    for box in found:
        rows.setdefault(rank[box.name], []).append(box)
    widths = {r: sum(b.width for b in row) + GAP_X * (len(row) - 1) for r, row in rows.items()}
    width = max([*widths.values(), len(title) * LETTER])
    place: dict[str, tuple[float, float]] = {}
    y = 24.0
    for number in sorted(rows):
        x = (width - widths[number]) / 2
        for box in rows[number]:
            place[box.name] = (x, y)
            x += box.width + GAP_X
        y += max(box.height for box in rows[number]) + GAP_Y
    by_name = {box.name: box for box in found}
    edge = [_edge(by_name[name], box, place, rank, width) for box in found for name in dict.fromkeys(box.reads)
            if name in by_name]  # fmt: skip
    long = sum(rank[box.name] - rank[name] > 1 for box in found for name in box.reads if name in rank)
    parts = [f'<text class="title" x="{width / 2:.1f}" y="12" text-anchor="middle">{escape(title)}</text>']
    parts += [*edge, *(_drawn_box(box, *place[box.name], box.name in changed) for box in found)]
    return "\n".join(parts), width + (16 if long else 0), y - GAP_Y + 4


def _drawn_box(box: Box, x: float, y: float, changed: bool) -> str:
    kind = {"float32": "float", "int32": "sums", "tuple": "other"}.get(box.dtype, "codes")
    text = "".join(
        f'<text x="{x + PADDING:.1f}" y="{y + PADDING + 6 + LINE * number:.1f}"'
        f"{' class=' + chr(34) + 'op' + chr(34) if number == 0 else ''}>{escape(line)}</text>"
        for number, line in enumerate(box.lines)
    )
    mark = " changed" if changed else ""
    size = f'x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height}"'
    return f'<rect class="{kind}{mark}" {size} rx="4"/>{text}'


def _edge(source: Box, target: Box, place: dict[str, tuple[float, float]], rank: dict[str, int], width: float) -> str:
    """A line from box to box; one that passes layers goes round them on the right."""
    x0, y0 = place[source.name][0] + source.width / 2, place[source.name][1] + source.height
    x1, y1 = place[target.name][0] + target.width / 2, place[target.name][1] - 4
    if rank[target.name] - rank[source.name] <= 1:
        middle = (y0 + y1) / 2
        path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
        return f'<path d="{path}" marker-end="url(#tip)"/>'
    lane = width + 12
    x0, x1 = place[source.name][0] + source.width, place[target.name][0] + target.width
    y0, y1 = y0 - source.height / 2, y1 + 4 + target.height / 2
    path = f"M{x0:.1f} {y0:.1f}H{lane:.1f}V{y1:.1f}H{x1 + 4:.1f}"
    return f'<path d="{path}" marker-end="url(#tip)"/>'


def functions(mod: tvm.IRModule) -> list[tuple[str, relax.Function]]:
    """The Relax functions, "main" first."""
    found = [(var.name_hint, func) for var, func in mod.functions_items() if isinstance(func, relax.Function)]
    return sorted(found, key=lambda pair: (pair[0] != "main", ORDER.get(pair[0], 9), pair[0]))


ORDER = {"quantize_inputs": 1, "quantized_main": 2, "dequantize_outputs": 3}


def side(mod: tvm.IRModule, title: str, known: set[str] | None) -> tuple[str, float, float]:
    """SVG of all functions of a module, one below the other; what is not `known` is marked as changed."""
    parts, width, y = [], 0.0, 0.0
    for name, func in functions(mod):
        found = boxes(func, groups_of(mod))
        changed = {b.name for b in found if known is not None and f"{b.name} {b.key}" not in known}
        several = len(functions(mod)) > 1
        body, own, height = drawn(found, changed, f"{title}: {name}" if several else title)
        parts.append(f'<g transform="translate(0 {y:.0f})">{body}</g>')
        width, y = max(width, own), y + height + 34
    return "\n".join(parts), width, y - 34


def picture(before: tvm.IRModule, after: tvm.IRModule, label: str) -> str:
    """SVG of both, side by side; what changed has a thick frame."""
    known = {f"{b.name} {b.key}" for _, func in functions(before) for b in boxes(func, groups_of(before))}
    left, left_width, left_height = side(before, "before", None)
    right, right_width, right_height = side(after, "after", known)
    at = left_width + 54
    width, height = at + right_width + 8, max(left_height, right_height) + 8
    return (
        f'<div class="picture"><svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(label)}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
        f'<g transform="translate(4 4)">{left}</g><path class="arrow" d="M{left_width + 14:.0f} 46h28" '
        f'marker-end="url(#tip)"/><g transform="translate({at:.0f} 4)">{right}</g></svg></div>'
    )
