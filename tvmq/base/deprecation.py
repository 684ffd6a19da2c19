"""How something public ends: it works and warns for a while, says what to use instead, and when it will be gone.

    def quantise(...):
        warn_deprecated("tvmq.quantise", "0.3.0", "tvmq.quantize", until="0.5.0")

A warning is a FutureWarning: users of scripts see it, not only those who run tests. docs/stability.md has the rules.
It points at the user's line, as other warnings of tvmq do (`warn_user`).
"""

from __future__ import annotations

import sys
import warnings


def warn_deprecated(what: str, since: str, instead: str, *, until: str) -> None:
    """Warn that something will go.

    what     the name, as users write it
    since    the version that warns first
    instead  what to use
    until    the first version without it

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_deprecated("tvmq.quantise", "0.3.0", "tvmq.quantize", until="0.5.0")
    >>> print(seen[0].message)
    tvmq.quantise is deprecated since 0.3.0 and will be gone in 0.5.0; use tvmq.quantize
    """
    warn_user(f"{what} is deprecated since {since} and will be gone in {until}; use {instead}", FutureWarning)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of tvmq that led here, however many of our own calls lie between."""
    # warnings.warn(skip_file_prefixes=) does this from Python 3.12 on
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    place = (frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__"))
    warnings.warn_explicit(message, category, *place, frame.f_globals.setdefault("__warningregistry__", {}))


def _is_ours(module: str) -> bool:
    """True for modules of tvmq, but not for those of the command line, which stand for its user.

    >>> _is_ours("tvmq.quantization.guard.judge"), _is_ours("tvmq.tools.cli.quantize"), _is_ours("tvmquick")
    (True, False, False)
    """
    is_copy = "._tvmq." in module  # in a package that `export_library` wrote
    return is_copy or (f"{module}.".startswith("tvmq.") and ".cli." not in module)
