"""What to do instead of a name of Relay that has no counterpart here."""

from __future__ import annotations


def advice(name: str) -> str:
    """What to do instead of a name.

    >>> advice("nothing_of_the_kind")
    'Relay had no such name that is known here; docs: MIGRATING.md'
    """
    return "Relay had no such name that is known here; docs: MIGRATING.md"
