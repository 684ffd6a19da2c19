"""Text of a model's own as it can be printed: without characters that move the cursor, or hide what stands there."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

LONGEST = 521  # characters of a name; longer ones are cut, and told apart by a hash
KEPT = 500


def printable(text: str) -> str:
    """The text with control characters written as escapes, on one line.

    What is escaped: control and format characters (newlines, terminal escapes, marks that turn the direction of
    writing, invisible ones), surrogates, and line and paragraph separators. All else stays.

    >>> print(printable("conv\\n\\x1b[31mred"), printable("größe/相加"))
    conv\\n\\x1b[31mred größe/相加
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) for char in text)


def _escape(char: str) -> str:
    if char.isprintable() or unicodedata.category(char) in ("Zs", "Co", "Cn"):  # other spaces; what is not assigned
        return char
    return char.encode("unicode_escape").decode("ascii")


def printable_texts(value: Any) -> Any:
    """What JSON holds, with all its texts as they can be printed.

    >>> printable_texts({"a\\n": ["\\x1b", 1]})
    {'a\\\\n': ['\\\\x1b', 1]}
    """
    if isinstance(value, dict):
        return {printable(key): printable_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [printable_texts(item) for item in value]
    return printable(value) if isinstance(value, str) else value


def read_json(text: bytes) -> Any:
    """What JSON says, with all its texts as they can be printed; most files have no others.

    >>> read_json(b'{"a": "b"}'), read_json(rb'{"a\\n": "b"}')
    ({'a': 'b'}, {'a\\\\n': 'b'})
    """
    value = json.loads(text)
    is_plain = text.isascii() and b"\\" not in text and b"\x7f" not in text  # control characters end json.loads
    return value if is_plain else printable_texts(value)


def printable_name(name: str) -> str:
    """A name as messages and tables can print it; one that is very long is cut, and told apart by its hash.

    >>> len(printable_name("n" * 10**6))
    521
    """
    text = printable(name)
    if len(text) <= LONGEST:
        return text
    return f"{text[:KEPT]}...~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:17]}"


def last_line(error: Exception) -> str:
    """What an error of TVM says below its stack trace.

    >>> last_line(ValueError("trace\\n  reason\\n")), last_line(KeyError())
    ('reason', 'KeyError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip()
