"""How something public ends: it works and warns for a while, says what to use instead, and when it will be gone.

    def quantise(...):
        warn_deprecated("tvmq.quantise", "0.3.0", "tvmq.quantize", until="0.5.0")

A warning is a FutureWarning: users of scripts see it, not only those who run tests. docs/stability.md has the rules.
"""

from __future__ import annotations

from tvmq.errors import warn_user


def warn_deprecated(what: str, since: str, instead: str, *, until: str) -> None:
    """Warn that something will go.

    what     the name, as users write it
    since    the version that warns first
    instead  what to use
    until    the first version without it

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_deprecated("tvmq.quantise", "0.3.0", "tvmq.quantize", until="0.5.0")
    >>> print(seen[0].message)
    tvmq.quantise is deprecated since 0.3.0 and will be gone in 0.5.0; use tvmq.quantize
    """
    warn_user(f"{what} is deprecated since {since} and will be gone in {until}; use {instead}", FutureWarning)
