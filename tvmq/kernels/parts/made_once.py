"""Memo of the PrimFuncs of this process: a template writes thousands of statements, a key is only compared.

A model is built several times while it is quantized, and its layers are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST = 512  # as many as several networks have
_made: dict[tuple[Any, ...], Any] = {}


def made_once(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """The PrimFunc of a key, which says all that `make` depends on; nobody changes a PrimFunc.

    >>> made_once(("doctest",), lambda: [1]) is made_once(("doctest",), lambda: [2])
    True
    """
    function = _made.get(key)
    if function is None:
        if len(_made) >= MOST:
            _made.clear()
        function = _made[key] = make()
    return function


def forget() -> None:
    """Make every function anew when it is asked for."""
    _made.clear()
