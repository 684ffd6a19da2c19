"""How something public ends: it works and warns for a while, says what to use instead, and when it will be gone.

    @deprecated("0.3.0", "tvmq.quantize", until="0.5.0")
    def quantise(...):

A warning is a FutureWarning: users of scripts see it, not only those who run tests. docs/stability.md has the rules.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def warn_deprecated(what: str, since: str, instead: str, *, until: str, stacklevel: int = 2) -> None:
    """Warn that something will go.

    what        the name, as users write it
    since       the version that warns first
    instead     what to use
    until       the first version without it
    stacklevel  2: the warning points at who called the function that calls this

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_deprecated("tvmq.quantise", "0.3.0", "tvmq.quantize", until="0.5.0")
    >>> print(seen[0].message)
    tvmq.quantise is deprecated since 0.3.0 and will be gone in 0.5.0; use tvmq.quantize
    """
    text = f"{what} is deprecated since {since} and will be gone in {until}; use {instead}"
    warnings.warn(text, FutureWarning, stacklevel=stacklevel + 1)


def deprecated(since: str, instead: str, *, until: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of functions that go; see `warn_deprecated`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            warn_deprecated(f"tvmq.{function.__name__}", since, instead, until=until)
            return function(*args, **kwargs)

        run.__doc__ = f"Deprecated since {since}: use `{instead}`; gone in {until}.\n\n{function.__doc__ or ''}"
        return run

    return decorate
