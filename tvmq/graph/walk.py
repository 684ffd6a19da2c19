"""Graph traversal of any depth: with a stack of its own, not that of Python, which ends after a thousand calls.

A property of a variable that depends on the same property of others is a generator: it yields the names that it has to
know about, is sent what they are, and returns what it is itself.

    def depth(name):
        deepest = 0
        for source in inputs[name]:
            deepest = max(deepest, 1 + (yield source))
        return deepest

    resolve_each("y", depth)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
Step = Callable[[str], Generator[str, Any, T]]


def resolve_each(name: str, step: Step[T], known: dict[str, T] | None = None) -> T:
    """Answer of `step` for a variable, each variable asked once.

    known   answers so far; those found are added, so that a later call asks no variable again

    >>> inputs = {"a": [], "b": ["a"], "c": ["a", "b"]}
    >>> def depth(name):
    ...     deepest = 0
    ...     for source in inputs[name]:
    ...         deepest = max(deepest, 1 + (yield source))
    ...     return deepest
    >>> resolve_each("c", depth)
    2
    """
    known = {} if known is None else known
    if name in known:
        return known[name]
    waiting: list[tuple[str, Generator[str, Any, T]]] = [(name, step(name))]
    answer: T | None = None  # what the innermost generator is waiting for
    while waiting:
        current, running = waiting[-1]
        try:
            wanted = running.send(answer)
        except StopIteration as end:
            answer = known[current] = end.value
            waiting.pop()
            continue
        answer = known.get(wanted)
        if wanted not in known:
            waiting.append((wanted, step(wanted)))
    return known[name]


def reachable(starts: Iterable[str], following: Callable[[str], Iterable[str]]) -> list[str]:
    """The starts and all that follows them, each once: a variable first, then what its first follower leads to.

    >>> reachable(["c"], {"a": [], "b": ["a"], "c": ["b", "a"]}.__getitem__)
    ['c', 'b', 'a']
    """
    visited: dict[str, None] = {}
    waiting = list(starts)[::-1]
    while waiting:
        name = waiting.pop()
        if name not in visited:
            visited[name] = None
            waiting += list(following(name))[::-1]
    return list(visited)
