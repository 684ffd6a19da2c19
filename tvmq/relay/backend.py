"""relay.backend: names of executors and runtimes, as relay.build takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Executor:
    """How a model is run: "graph", "aot"; all have the same code here.

    >>> Executor("graph", {"link-params": True}).name
    'graph'
    """

    name: str = "graph"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Runtime:
    """What a library runs on: "cpp".

    >>> Runtime("cpp").name
    'cpp'
    """

    name: str = "cpp"
    options: Mapping[str, Any] = field(default_factory=dict)
