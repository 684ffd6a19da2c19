"""Descriptions of what targets compute, as data: BACKENDS maps a name to "module:object", loaded on use.

`quantize(..., target="cpu")` decides by the description alone, never by the machine it runs on.
"""

from __future__ import annotations

import difflib

from tvmq.backends.description import Backend
from tvmq.by_name import object_named
from tvmq.errors import ConfigError

BACKENDS: dict[str, str] = {
    "cpu": "tvmq.backends.cpu:CPU",
    "cpu_without_vnni": "tvmq.backends.cpu_without_vnni:CPU_WITHOUT_VNNI",
}


def backend_named(name: str | Backend | None) -> Backend:
    """The description of that name; None is the portable CPU.

    name    of BACKENDS, or "module:object" that holds a Backend; a Backend is given back as it is
    raises  ConfigError for an unknown name, with near misses

    >>> backend_named(None).name
    'cpu'
    """
    if isinstance(name, Backend):
        return name
    name = "cpu" if name is None else name
    target = BACKENDS.get(name, name) if isinstance(name, str) else ""
    if ":" not in target:
        near = difflib.get_close_matches(str(name), BACKENDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(
            f'quantize: target must be None, one of {", ".join(BACKENDS)}, a tvmq.Backend or its "module:object". '
            f"Got {name!r} instead{hint}"
        )
    return _load_backend(target)


def _load_backend(target: str) -> Backend:
    """The description that "module:object" names."""
    found = object_named(target, "quantize", "backend description")
    if not isinstance(found, Backend):
        raise ConfigError(f"quantize: {target!r} is a {type(found).__name__}, not a tvmq.Backend")
    return found
