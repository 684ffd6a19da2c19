"""Conversion of our docstrings, plain text in aligned columns, to reStructuredText.

What is recognized, block by block (blank lines separate blocks):

    paragraphs    text at the margin
    columns       `name  what it is`: a name, two blanks or more, text; what follows is indented
    examples      lines of `>>>`
    insets        indented lines under a paragraph: columns, or literal
    all the rest  indented lines: literal, coloured where they are Python

Needs no sphinx, so that the tests run without it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import NamedTuple

# Words of a first column that are no parameters
WORDS = {
    "error", "errors", "example", "layout", "leaves", "needs", "numerics", "order", "others", "raises", "result",
    "results", "returns", "shapes", "source", "units",
}  # fmt: skip
ENTRY = re.compile(r"(?P<name>\S(?:(?!  ).){0,38}?)  +(?P<text>\S.*)")
FORMULA = re.compile(r"[a-z]\w*(\[\w+\])? = [^.]+\.?")
CODE = re.compile(r"(`[^`\n]+`)")
EMPHASIS = re.compile(r"(?<![\w*\\])\\\*(\w[^*\n]*?\w)\\\*(?![\w*])")
ERROR = re.compile(r"\b[A-Z]\w+Error\b")
PAGE = re.compile(r"docs/([\w-]+)\.md|(?:docs: )?(MIGRATING|CHANGELOG|CONTRIBUTING)\.md")


class Block(NamedTuple):
    """A part of a docstring: its kind (paragraph, columns, example, literal) and its lines."""

    kind: str
    lines: list[str]


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a docstring that `inspect.cleandoc` has trimmed.

    >>> [block.kind for block in blocks("Adds.\\n\\na  one\\nb  other\\n   side\\n\\n>>> 1 + 1\\n2\\n\\n    x = 1")]
    ['paragraph', 'columns', 'example', 'literal']
    """
    for part in re.split(r"\n[ ]*\n", text.strip("\n")):
        lines = part.split("\n")
        if lines[0].startswith(">>>"):
            yield Block("example", lines)
            continue
        yield from _runs(lines)


def _runs(lines: list[str]) -> Iterator[Block]:
    """A part without blank lines, cut where its kind changes."""
    run: Block | None = None
    for line in lines:
        kind = _kind(line, run)
        if run is not None and kind != run.kind:
            yield run
            run = None
        run = run or Block(kind, [])
        run.lines.append(line)
    if run is not None:
        yield run


def _kind(line: str, run: Block | None) -> str:
    if line.startswith(" "):
        return "literal" if run is None else "inset" if run.kind == "paragraph" else run.kind
    return "columns" if ENTRY.fullmatch(line) else "paragraph"


def entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """(name, lines of text) of columns.

    >>> entries(["a, b  numbers", "      of any size", "raises  nothing"])
    [('a, b', ['numbers', 'of any size']), ('raises', ['nothing'])]
    """
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        match = None if line.startswith(" ") else ENTRY.fullmatch(line)
        if match:
            found.append((match["name"], [match["text"]]))
        else:
            found[-1][1].append(line.strip())
    return found


def inline(text: str, links: Mapping[str, str] | None = None) -> str:
    """A line of text as reStructuredText: names in backticks become code, or links where `links` has them.

    >>> print(inline("`build` of 2 * x_", {"build": "tvmq.build"}))
    :py:obj:`build <tvmq.build>` of 2 \\* x\\_
    """
    return "".join(_piece(piece, links or {}) for piece in CODE.split(text))


def _piece(piece: str, links: Mapping[str, str]) -> str:
    if not CODE.fullmatch(piece):
        escaped = EMPHASIS.sub(r"*\1*", re.sub(r"([\\*`|_])", r"\\\1", piece))
        linked = ERROR.sub(lambda match: _link(match[0], links.get(match[0])), escaped)
        return PAGE.sub(_page, linked)
    name = piece.strip("`")
    target = links.get(name.removesuffix("()").removeprefix("tvmq."))
    return _link(name, target) if target else f"``{name}``"


def _link(name: str, target: str | None) -> str:
    return f":py:obj:`{name} <{target}>`" if target else name


def _page(match: re.Match[str]) -> str:
    name = match[1] or match[2].lower()
    return f":doc:`{name if match[1] else match[2]} </{name}>`"


def to_rst(text: str, links: Mapping[str, str] | None = None) -> list[str]:
    """A docstring as lines of reStructuredText.

    >>> print(*to_rst("Sum of two.\\n\\na, b  numbers"), sep="\\n")
    Sum of two.
    <BLANKLINE>
    .. list-table::
       :class: columns
       :widths: auto
    <BLANKLINE>
       * - ``a``, ``b``
         - numbers
    <BLANKLINE>
    """
    lines: list[str] = []
    for number, block in enumerate(blocks(cleandoc(text))):
        lines += [*_block(block, number == 0, links), ""]
    return lines


def _block(block: Block, first: bool, links: Mapping[str, str] | None) -> list[str]:
    if block.kind == "columns":
        return _columns(block.lines, links)
    if block.kind == "example":
        return _code("pycon", block.lines)
    if block.kind == "inset":  # under a paragraph: columns, or text that is left unchanged
        inner = cleandoc("\n" + "\n".join(block.lines)).split("\n")
        return _columns(inner, links) if ENTRY.fullmatch(inner[0]) else _literal(block.lines)
    if block.kind == "literal":
        return _literal(block.lines)
    if first and FORMULA.fullmatch(" ".join(block.lines)):
        return [f"``{' '.join(block.lines).rstrip('.')}``"]
    return [inline(line, links) for line in block.lines]


def _columns(lines: list[str], links: Mapping[str, str] | None) -> list[str]:
    table = [".. list-table::", "   :class: columns", "   :widths: auto", ""]
    for name, text in entries(lines):
        table.append(f"   * - {_names(name)}")
        cell = [inline(line, links) for line in text]
        if any(ENTRY.fullmatch(line) for line in text):  # columns within a column: a line each
            cell = [f"| {_row(line, links)}" for line in text]
        table += [f"     - {cell[0]}", *(f"       {line}" for line in cell[1:])]
    return table


def _row(line: str, links: Mapping[str, str] | None) -> str:
    match = ENTRY.fullmatch(line)
    return f"{inline(match['name'], links)}: {inline(match['text'], links)}" if match else inline(line, links)


def _names(name: str) -> str:
    """Names in the first column: parameters as code, words as they are."""
    parts = name.split(", ")
    if parts[0].lower() in WORDS:
        return f"*{inline(name)}*"
    if CODE.search(name):
        return inline(name)
    return ", ".join(f"``{part}``" for part in parts)


def _literal(lines: list[str]) -> list[str]:
    text = cleandoc("\n" + "\n".join(lines))
    try:
        ast.parse(text)
    except SyntaxError:
        return _code("text", text.split("\n"))
    return _code("python", text.split("\n"))


def _code(language: str, lines: list[str]) -> list[str]:
    return [f".. code-block:: {language}", "", *(f"   {line}" for line in lines)]
