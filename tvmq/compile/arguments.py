"""One order of arguments: the module, its weights, the target. Calls that name the target second go on working."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def params_first(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function (mod, params, target, ...): a target in the place of params is taken as the target.

    >>> @params_first
    ... def shown(mod, params=None, target="llvm"):
    ...     return params, target
    >>> shown(0, {}, "cuda"), shown(0, "cuda", {}), shown(0, "cuda", params={}), shown(0, {}, target="cuda")
    (({}, 'cuda'), ({}, 'cuda'), ({}, 'cuda'), ({}, 'cuda'))
    """

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> R:
        if len(args) > 1 and not _are_weights(args[1]):
            mod, target, *params = args
            return function(mod, *params, target=target, **options)
        return function(*args, **options)

    return run


def _are_weights(value: Any) -> bool:
    """True for {name: array}, pairs of both, or None; a target can be a dict as well, with the word of its kind."""
    if isinstance(value, Mapping):
        return not isinstance(value.get("kind"), str)
    pairs = isinstance(value, list | tuple) and bool(value) and all(isinstance(one, tuple) for one in value)
    return value is None or pairs
