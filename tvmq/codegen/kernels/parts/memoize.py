"""Memo of the PrimFuncs of this process: a template writes thousands of statements, a key is only compared.

A model is built several times while it is quantized, and its layers are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST = 512  # as many as several networks have
_functions: dict[tuple[Any, ...], Any] = {}


def memoize(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """The PrimFunc of a key, which says all that `make` depends on; nobody changes a PrimFunc.

    >>> memoize(("doctest",), lambda: [1]) is memoize(("doctest",), lambda: [2])
    True
    """
    function = _functions.get(key)
    if function is None:
        if len(_functions) >= MOST:
            _functions.clear()
        function = _functions[key] = make()
    return function


def forget() -> None:
    """Make every function anew when it is asked for."""
    _functions.clear()
