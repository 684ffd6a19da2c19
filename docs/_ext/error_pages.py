"""Index of errors: every class, and every message that the source can give, read from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from pages import ROOT, Page, rst
from plain_docstrings import to_rst

from tvmq import errors

CLASSES = [name for name, value in vars(errors).items() if isinstance(value, type) and name.endswith("Error")]


class Message(NamedTuple):
    """A message: its class, its text with `{...}` for what is filled in (None: computed elsewhere), and its place."""

    error: str
    text: str | None
    file: str
    line: int


def sources() -> list[Path]:
    """The files of the package; `tvmq/passes` may be a link to `passes`, which is read once."""
    files = sorted((ROOT / "tvmq").glob("**/*.py")) + sorted((ROOT / "passes").glob("**/*.py"))
    return [path for path in files if path.relative_to(ROOT).parts[:2] != ("tvmq", "passes")]


def template(node: ast.expr) -> str | None:
    """Text of a string expression; values that are filled in are shown as {expression}."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [
            "{" + ast.unparse(value.value) + "}" if isinstance(value, ast.FormattedValue) else template(value) or ""
            for value in node.values
        ]
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        both = [template(side) or "{" + ast.unparse(side) + "}" for side in (node.left, node.right)]
        return "".join(both)
    return None


def messages(text: str, file: str) -> Iterator[Message]:
    """Every call of an error class in a source text.

    >>> found, = messages('raise DataError(f"run: {n} samples; give one")', "x.py")
    >>> found.error, found.text
    ('DataError', 'run: {n} samples; give one')
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in CLASSES:
                yield Message(name, template(node.args[0]) if node.args else None, file, node.lineno)


@cache
def all_messages() -> tuple[Message, ...]:
    """Those of the whole package."""
    found: list[Message] = []
    for path in sources():
        found += messages(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    return tuple(found)


def pages() -> list[Page]:
    """Pages, here a single one: the tree, then each class with its messages."""
    found = all_messages()
    lines = ["# Errors\n", rst(_small(to_rst(errors.__doc__ or ""))), HOW]
    for name in CLASSES:
        own = sorted((m for m in found if m.error == name and m.text), key=lambda m: (m.text or "").lstrip("{"))
        lines += [f"## {name}\n", rst([f".. autoexception:: tvmq.errors.{name}", "   :no-index-entry:"])]
        if own:
            noun = "message" if len(own) == 1 else "messages"
            lines += [f'<details class="messages"><summary>{len(own)} {noun}</summary>\n']
            lines += ["<dl>", *(_entry(message) for message in own), "</dl>", "</details>\n"]
    return [Page("reference/errors", "\n".join(lines))]


def _small(lines: list[str]) -> list[str]:
    """Literal text in letters that let the tree fit the page."""
    found = [[line, "   :class: rule"] if line == ".. code-block:: text" else [line] for line in lines]
    return [line for part in found for line in part]


HOW = """
Find a message here by any of its words: open the lists by the button, and use the search of your browser. Parts in
italics are filled in when the error is raised; the line below a message says what to do. The messages are read from
the source when this page is made.

<p class="fold"><button onclick="document.querySelectorAll('details.messages').forEach(d => d.open = true)">open all
</button> <button onclick="document.querySelectorAll('details.messages').forEach(d => d.open = false)">close all
</button></p>
"""


def _entry(message: Message) -> str:
    """Entry of a message and its advice, which follows the last semicolon outside of values that are filled in."""
    what, then = split(message.text or "")
    action = f"<dd>{_html(then)}</dd>" if then else ""
    return f"<dt>{_html(what)}</dt>{action}<dd class='place'>{escape(message.file)}</dd>"


def split(text: str) -> tuple[str, str]:
    """Split a message into what happened and what to do.

    >>> split("run: {a['x; y']} is bad; give another")
    ("run: {a['x; y']} is bad", 'give another')
    """
    hidden = re.sub(r"\{[^{}]*\}", lambda match: "_" * len(match[0]), text)
    at = hidden.rfind("; ")
    return (text, "") if at < 0 else (text[:at], text[at + 2 :])


def _html(text: str) -> str:
    """Text with what is filled in as short names in italics; no blank lines, which would end the HTML of Markdown."""
    text = re.sub(r"\s*\n\s*", " / ", text.strip())
    parts = re.split(r"(\{[^{}]*\})", text)
    return "".join(f"<i>{escape(name(part[1:-1]))}</i>" if part[:1] == "{" else escape(part) for part in parts)


def name(expression: str) -> str:
    """A short word for what is filled in.

    >>> name("config.nbit_weight"), name("', '.join(sorted(names))"), name("len(x)"), name("value")
    ('nbit_weight', 'names', 'x', 'value')
    """
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", expression))
    known = {"join", "sorted", "len", "repr", "str", "int", "float", "list", "set", "tuple", "for", "in", "if", "else",
             "max", "min", "not", "and", "or", "None", "abs", "type", "__name__", "format", "self"}  # fmt: skip
    rest = [word for word in words if word not in known]
    return rest[-1].strip("_") if rest else "..."
