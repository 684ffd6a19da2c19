"""tvm.parser: Relay's text format, as relay.parse reads it."""

from __future__ import annotations

from tvmq.relay.text.reader import parse, parse_expr

fromtext = parse

__all__ = ["fromtext", "parse", "parse_expr"]
