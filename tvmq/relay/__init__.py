"""Relay's names on Relax: `from tvmq import relay`.

Scripts written for `tvm.relay` find the names they used; what they build is Relax. Each name is loaded when it is first
used. What has no counterpart says so, with the Relax way to do it.

>>> from tvmq import relay
>>> relay.nothing_of_the_kind
Traceback (most recent call last):
    ...
AttributeError: module 'tvmq.relay' has no attribute 'nothing_of_the_kind'; docs: MIGRATING.md
"""

from __future__ import annotations

import importlib
from typing import Any

# Name -> "module:object", or "module" where the name is the module itself.
_PUBLIC = {
    # text
    "astext": "tvmq.relay.text.printer:astext",
    "fromtext": "tvmq.relay.text.reader:parse",
    "parse": "tvmq.relay.text.reader:parse",
    "parse_expr": "tvmq.relay.text.reader:parse_expr",
    # build and run
    "build": "tvmq.relay.build_module:build",
    "build_module": "tvmq.relay.build_module",
    "create_executor": "tvmq.relay.create_executor:create_executor",
    "debug_executor": "tvmq.relay.graph_executor",
    "frontend": "tvmq.relay.frontend",
    "graph_executor": "tvmq.relay.graph_executor",
    "load_param_dict": "tvmq.relay.param_dict:load_param_dict",
    "optimize": "tvmq.relay.build_module:optimize",
    "save_param_dict": "tvmq.relay.param_dict:save_param_dict",
    "testing": "tvmq.relay.testing",
    "vm": "tvmq.relay.vm",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use (PEP 562) and keep it."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tvmq.relay' has no attribute {name!r}; docs: MIGRATING.md")
    module_name, _, attribute = _PUBLIC[name].partition(":")
    module = importlib.import_module(module_name)
    value = getattr(module, attribute) if attribute else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The names, loaded or not."""
    return sorted(_PUBLIC)
