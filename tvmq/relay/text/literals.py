"""Numbers of Relay's text: the type is a suffix."""

from __future__ import annotations

import re

import numpy as np

from tvmq.relay.text.tree import Number

FORM = re.compile(r"(-*)(inf|nan|\d[0-9.]*(?:[eE][-+]?\d+)?)([fiu]?)(\d*)")
WIDTHS = {"f": ("16", "32", "64"), "i": ("8", "16", "32", "64"), "u": ("8", "16", "32", "64")}
KINDS = {"f": "float", "i": "int", "u": "uint"}


def read_number(text: str, line: int = 0) -> Number:
    """A number with its type: `12` is int32, or int64 where it does not fit; `1.5f` float32; `-` signs cancel.

    raises  ValueError for a fraction without `f`, a width that does not exist, or a value that the type cannot hold

    >>> read_number("1e-05f").value, read_number("--10"), read_number("12i64").dtype, read_number("3000000000").dtype
    (1e-05, Number(value=10, dtype='int32', line=0), 'int64', 'int64')
    """
    match = FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is no number")
    signs, digits, kind, width = match.groups()
    sign = -1 if len(signs) % 2 else 1
    if digits in ("inf", "nan"):
        kind = "f"
    if width and width not in WIDTHS[kind]:
        raise ValueError(f"'{text}' has {width} bits; there are {', '.join(WIDTHS[kind])}")
    if kind == "f":
        return Number(sign * float(digits), f"float{width or 32}", line)
    if not digits.isdigit():
        raise ValueError(f"'{text}' is a fraction, and ends in f: {text}f")
    return Number(sign * int(digits), _integer_type(text, sign * int(digits), kind, width), line)


def _integer_type(text: str, value: int, kind: str, width: str) -> str:
    small = np.iinfo("int32").min <= value <= np.iinfo("int32").max
    dtype = f"{KINDS[kind or 'i']}{width or (32 if small else 64)}"
    if not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise ValueError(f"'{text}' does not fit into {dtype}")
    return dtype
