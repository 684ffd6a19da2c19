"""Descriptions of what targets compute, as data: BACKENDS maps a name to "module:object", loaded on use.

`quantize(..., target="cpu")` decides by the description alone, never by the machine it runs on.
"""

from __future__ import annotations

import difflib
import importlib

from tvmq.backends.description import Backend
from tvmq.errors import ConfigError

BACKENDS: dict[str, str] = {
    "cpu": "tvmq.backends.cpu:CPU",
}


def backend_named(name: str | None) -> Backend:
    """The description of that name; None is the portable CPU.

    raises  ConfigError for an unknown name, with near misses

    >>> backend_named(None).name
    'cpu'
    """
    name = "cpu" if name is None else name
    if name not in BACKENDS:
        near = difflib.get_close_matches(str(name), BACKENDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"quantize: target must be None or one of {', '.join(BACKENDS)}. Got {name!r} instead{hint}")
    module, _, attribute = BACKENDS[name].partition(":")
    found: Backend = getattr(importlib.import_module(module), attribute)
    return found
