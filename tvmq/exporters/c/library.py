"""Functions in C that layers share, written for the element types that a model has.

A text has the names of types as $X, $W, $Y, and names of other functions of the library in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template


@dataclass(frozen=True)
class Kernel:
    """A function of the library.

    name    its name without types
    text    C; $name is its full name
    before  what has to stand before it: structures, functions that do not depend on types
    """

    name: str
    text: str
    before: tuple[Kernel, ...] = ()


class Library:
    """The functions that a model needs, each once, each behind those it calls."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def use(self, kernel: Kernel, **names: str) -> str:
        """The name of a kernel with these types and functions in it; its text stands in the C file from now on."""
        for other in kernel.before:
            self.use(other)
        name = "_".join([kernel.name, *names.values()])
        if name not in self._texts:
            self._texts[name] = Template(kernel.text).substitute(names, name=name)
        return name

    @property
    def text(self) -> str:
        """All of them."""
        return "\n".join(text.strip("\n") + "\n" for text in self._texts.values())
