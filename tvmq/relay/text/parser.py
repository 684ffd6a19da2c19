"""Relay's text to its syntax tree, by lark.

Tests: tests/relay/test_text.py
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NoReturn

from tvmq.errors import ConfigError, ModelError
from tvmq.relay.text.grammar import GRAMMAR
from tvmq.relay.text.syntax_tree import Body, Text

VERSION = "0.0.5"
HEADER = re.compile(r'\s*#\[version\s*=\s*"([^"]*)"\]')
SECTION = "#[metadata]"
# Texts and line comments first, so that what looks like the beginning of a comment inside of them is none
PIECES = re.compile(r'"[^"]*"|//[^\n]*|/\*|\*/')
WORDS = re.compile(r"(?<![%@.\w])[A-Za-z_]\w*")
# What the format has and Relax has no counterpart for
FOREIGN = {
    "match": "algebraic data types", "type": "algebraic data types", "extern": "algebraic data types",
    "ref": "references", "ref_read": "references", "ref_write": "references",
}  # fmt: skip


def parse_text(source: str, name: str = "from_string") -> Text:
    """A module's text, which begins with `#[version = "0.0.5"]`.

    raises  ModelError with the line and column of what cannot be read; ConfigError where lark is not installed

    >>> text = parse_text('#[version = "0.0.5"]\\ndef @main(%x: float32) { add(%x, 1f) }')
    >>> text.functions["main"].params[0].name
    'x'
    """
    body, metadata = _split_metadata(source)
    header = HEADER.match(_without_comments(body))
    if header is None or header.group(1) != VERSION:
        version = f"version {header.group(1)}" if header else "none"
        raise ModelError(
            f'parse, {name}: the text must begin with #[version = "{VERSION}"]. Got {version}; '
            "write that line, or read an expression alone with parse_expr"
        )
    functions = _parse_text(_blank(_without_comments(body), header), "text", name)
    return Text(functions, metadata)


def parse_block(source: str, name: str = "from_string") -> tuple[Body, str | None]:
    """An expression's text, with or without the version line, and the JSON behind `#[metadata]`."""
    body, metadata = _split_metadata(source)
    text = _without_comments(body)
    header = HEADER.match(text)
    return _parse_text(_blank(text, header) if header else text, "block", name), metadata


def _split_metadata(source: str) -> tuple[str, str | None]:
    """The text and the JSON of its metadata."""
    body, mark, metadata = source.partition(SECTION)
    return body, metadata if mark else None


def _blank(text: str, match: re.Match[str]) -> str:
    return " " * match.start() + re.sub(r"[^\n]", " ", match.group()) + text[match.end() :]


def _without_comments(text: str) -> str:
    """Comments, which nest, as blanks, so that lines and columns stay."""
    pieces, depth, start = [], 0, 0
    for match in PIECES.finditer(text):
        piece = match.group()
        if piece == "/*":
            if depth == 0:
                pieces.append(text[start : match.start()])
                start = match.start()
            depth += 1
        elif piece == "*/" and depth:
            depth -= 1
            if depth == 0:
                pieces.append(_spaces(text[start : match.end()]))
                start = match.end()
        elif piece.startswith("//") and depth == 0:
            pieces += [text[start : match.start()], _spaces(piece)]
            start = match.end()
    if depth:
        raise ModelError("parse: a comment that begins with /* has no end; write */")
    return "".join([*pieces, text[start:]])


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _parse_text(text: str, start: str, name: str) -> Any:
    lark = _lark()
    try:
        return _grammar().parse(text, start=start)
    except ValueError as error:  # of what a rule makes of its parts
        raise ModelError(f"parse, {name}: {error}; mend the text") from error
    except lark.exceptions.UnexpectedInput as error:
        _refuse(error, text, name)


def _refuse(error: Any, text: str, name: str) -> NoReturn:
    """The place of an error, the line it stands in, and what could stand there."""
    lines = text.splitlines() or [""]
    row = error.line if error.line > 0 else len(lines)
    line = lines[min(row, len(lines)) - 1].strip()
    token = str(getattr(error, "token", "") or "")
    word = next((w for w in WORDS.findall(line) if w in FOREIGN), "")
    if word:
        raise ModelError(
            f"parse, {name}: line {row} uses '{word}': {FOREIGN[word]} have no counterpart in Relax; "
            "write the function with tensors and tuples alone"
        ) from error
    what = (
        f"'{token}' is not expected there"
        if token
        else "the text ends too early"
        if row >= len(lines)
        else "that cannot be read"
    )
    raise ModelError(
        f"parse, {name}: line {row}, column {max(error.column, 1)}: {what}: {line[:80]}; mend the text"
    ) from error


def _lark() -> Any:
    """The grammar library, imported when a text is read."""
    try:
        import lark
    except ImportError as error:
        raise ConfigError(
            f'relay.parse: lark cannot be imported ({error}); install it with pip install "tvmq[relay]"'
        ) from error
    return lark


@lru_cache(maxsize=1)
def _grammar() -> Any:
    from tvmq.relay.text.actions import actions

    lark = _lark()
    return lark.Lark(
        GRAMMAR,
        parser="lalr",
        start=["text", "block"],
        transformer=actions(lark),
        propagate_positions=True,
        maybe_placeholders=True,
    )
