"""Relay's text format, version 0.0.5: read (`relay.parse`) and written (`relay.astext`).

text -> parser.py (lark) -> syntax_tree.py -> reader.py -> expressions; metadata.py: the constants behind `#[metadata]`.
"""
