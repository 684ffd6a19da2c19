"""Functions in C that layers share, written for the element types that a model has.

A text has the names of types as $X, $W, $Y, and names of other functions of the library in the same way.

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template


@dataclass(frozen=True)
class CKernel:
    """A function of the library.

    name    its name without types
    text    C; $name is its full name
    dependencies  kernels that must precede it: structures, functions that do not depend on types
    """

    name: str
    text: str
    dependencies: tuple[CKernel, ...] = ()


class Library:
    """The functions that a model needs, each once, after those it calls."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], str] = {}
        self._texts: list[str] = []

    def use(self, kernel: CKernel, **names: str) -> str:
        """The name of a kernel with these types and functions in it; its text stands in the C file from now on.

        Types are in upper case and become a part of the name; of functions that differ in what they call, the second
        one is called name_v2.
        """
        for other in kernel.dependencies:
            self.use(other)
        key = (kernel.name, *(f"{what}={name}" for what, name in names.items()))
        if key not in self._names:
            wanted = "_".join([kernel.name, *(name for what, name in names.items() if what.isupper())])
            variants = sum(name == wanted or name.startswith(f"{wanted}_v") for name in self._names.values())
            name = f"{wanted}_v{variants + 1}" if variants else wanted
            self._names[key] = name
            self._texts.append(Template(kernel.text).substitute(names, name=name))
        return self._names[key]

    @property
    def text(self) -> str:
        """C text of all functions, in order."""
        return "\n".join(text.strip("\n") + "\n" for text in self._texts)
