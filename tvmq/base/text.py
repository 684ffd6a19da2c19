"""Text of a model's own, such as the name of a layer, escaped for the language that it is written into.

    terminal, messages    printable, printable_name     one line, no control characters
    C comment, number     c_comment, c_float
    HTML, SVG, XML        xml_text                      between tags, and inside of quoted attributes
    JSON inside <script>  script_json
    C, TVMScript names    identifier of graph/names.py  letters, digits, "_"

JSON in files and texts inside of TVMScript are escaped by the libraries that write them.

Tests: tests/test_names.py
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from typing import Any

LONGEST = 521  # characters of a name; longer ones are cut, and told apart by a hash
KEPT = 500
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    """Make all texts in a value of JSON printable.

    >>> printable_texts({"a\\n": ["\\x1b", 1]})
    {'a\\\\n': ['\\\\x1b', 1]}
    """
    if isinstance(value, dict):
        return {printable(key): printable_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [printable_texts(item) for item in value]
    return printable(value) if isinstance(value, str) else value


def read_json(text: bytes) -> Any:
    """Read JSON, with all its texts as they can be printed; most files have no others.

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


def c_comment(text: str) -> str:
    r"""Text that stands inside of a comment of C and cannot end it, in ASCII.

    Backslashes go first: a slash that they leave could end the comment, and one at the end of a line would join the
    next one to it. "??" goes too, since compilers read "??/" as a backslash.

    >>> print(c_comment("a */ b *\\ c //* d ??/"), c_comment("größe"))
    a * / b * / c / / * d ? ?/ gr&#246;&#223;e
    """
    text = printable(text).encode("ascii", "xmlcharrefreplace").decode().replace("\\", "/")
    return re.sub(r"(?<=[*/])(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", text)


def c_float(value: float) -> str:
    """A float32 as C has it, which a compiler reads back to the bit.

    >>> c_float(2), c_float(0.1)
    ('2.0f', '0.1f')
    """
    text = f"{float(value):.9g}"
    return (text if any(c in text for c in ".en") else text + ".0") + "f"


def xml_text(text: str) -> str:
    """Text for HTML, SVG and other XML: between tags, or inside of an attribute in quotes of either kind.

    Characters that XML does not have, as references too, are written as escapes.

    >>> print(xml_text("</title><b x='1\\x1b'>"))
    &lt;/title&gt;&lt;b x=&#x27;1\\x1b&#x27;&gt;
    """
    return html.escape(NO_XML.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text))


def script_json(value: Any) -> str:
    """JSON for the inside of a script element of HTML: nothing in it ends the element or begins a comment.

    raises   ValueError for NaN and infinities

    >>> print(script_json({"</script>": "<!-- & -->"}))
    {"\\u003c/script\\u003e":"\\u003c!-- \\u0026 --\\u003e"}
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&]", lambda match: f"\\u{ord(match[0]):04x}", text)


def last_line(error: Exception) -> str:
    """Last line of an error of TVM, below its stack trace.

    >>> last_line(ValueError("trace\\n  reason\\n")), last_line(KeyError())
    ('reason', 'KeyError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip()
