"""`tvmq backend`: show or check the JSON description of a backend."""

from __future__ import annotations

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Json
from tvmq.tools.cli.console import print_json

ACTIONS = ("show", "check")


def backend(action: str, name: str, *, as_json: Json = False) -> None:
    """Show a description of a target as JSON, or check one of your own.

    `tvmq quantize --backend mychip.json` uses the arithmetic it describes; docs/backends.md explains each field.

    Example: tvmq backend show cpu > mychip.json

    Example: tvmq backend check mychip.json

    action  show: print a description as JSON; check: validate one.
    name    Name of a built-in description, a JSON file, or the "module:object" of a tvmq.Backend.
    """
    from tvmq.backends import backend_named
    from tvmq.backends.consistency import emulation_alone
    from tvmq.base.schema import advise

    if action not in ACTIONS:
        actions = ", ".join(ACTIONS)
        raise ConfigError(f"backend: action must be one of {actions}. Got {action!r} instead{advise(action, ACTIONS)}")
    described = backend_named(name)
    if action == "show":
        print(described.to_json(), end="")
        return
    facts = {
        "name": described.name, "entries": len(described.operators), "options": described.options(),
        "emulated": emulation_alone(described),
    }  # fmt: skip
    if as_json:
        print_json(facts)
        return
    print(f"{name}: describes {described.name}, with {facts['entries']} entries for single operators")
    print(f"options that it implies: {tvmq.qconfig(**described.options())!r}")
    if facts["emulated"]:
        print(f"bit-exact only in tvmq.emulate: {facts['emulated']}")
