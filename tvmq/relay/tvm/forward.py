"""Names of TVM as it is today, for scripts that were written for an older one.

Modules of TVM that went with Relay: importing one does no harm, using it says what to do.

Tests: tests/relay/test_imports.py
"""

from __future__ import annotations

import fnmatch
import importlib
from functools import reduce
from importlib.util import find_spec
from typing import Any, NoReturn

# Pattern of names -> what to do; the first that fits counts
ADVICE = {
    "tvm.contrib.*": "look for it in the packages of TVM's makers; graph_executor and debugger are here",
    "tvm.lower": "schedules and their lowering are tvm.s_tir today; tvmq.build needs neither",
    "tvm.runtime.*": "look for it in tvm.runtime of today",
    "tvm.target.*": "name the CPU: tvmq.build(qmod, target='llvm -mcpu=...'), or 'cuda'",
    "tvm.te.*": "use tvm.te and tvm.s_tir of today",
    "tvm.tir": "it is tvm.tirx today",
    "tvm.transform.*": "look for it in tvm.relax.transform, or in relay.transform",
}


# Name, without "tvm." -> the module that has it today
MOVED = {
    "convert": "tvm_ffi",
    "ir.get_first_structural_mismatch": "tvm_ffi",
    "ir.structural_equal": "tvm_ffi",
    "ir.structural_hash": "tvm_ffi",
}


def forward(place: str, name: str) -> Any:
    """An attribute or module of TVM's module `place`.

    raises  AttributeError, with what to do, for one that is not there; so for Python's own names (__path__, ...)

    >>> forward("tvm", "cpu")(0).type
    'cpu'
    """
    value = None if name.startswith("__") and name != "__version__" else _look_up(place, name)
    if value is not None:
        return value
    raise AttributeError(f"{place}.{name}: {_advice(f'{place}.{name}')}")


def _look_up(place: str, name: str) -> Any:
    """The attribute, or the module that nobody has loaded yet; None where there is neither."""
    path = [*place.split(".")[1:], name]
    if ".".join(path) in MOVED:
        return getattr(importlib.import_module(MOVED[".".join(path)]), name)
    return reduce(inside, path, importlib.import_module("tvm"))


def inside(module: Any, name: str) -> Any:
    """An attribute of a module of TVM, which may be a module that nobody has loaded yet; None if it has none."""
    if not hasattr(module, name) and hasattr(module, "__path__") and find_spec(f"{module.__name__}.{name}"):
        importlib.import_module(f"{module.__name__}.{name}")
    return getattr(module, name, None)


def _advice(name: str) -> str:
    fitting = (text for pattern, text in ADVICE.items() if fnmatch.fnmatchcase(name, pattern))
    return next(fitting, "neither TVM nor tvmq has it; docs: MIGRATING.md")


_TILES = "kernels are chosen by tvmq.build; tvmq.build(qmod, tune=seconds) measures them on this machine"

# Module, without "tvm." -> what to do
GONE = {
    "auto_scheduler": _TILES,
    "driver": "the command line is `tvmq`: tvmq quantize, tvmq bench, tvmq run",
    "meta_schedule": _TILES,
    "micro": "tvmq.export_c(qmod) writes C99 of the integer model for microcontrollers",
}


class RemovedModule:
    """Stand-in for a module: every name of it raises AttributeError with what to do.

    >>> RemovedModule("tvm.micro", "use something else").Session
    Traceback (most recent call last):
        ...
    AttributeError: tvm.micro.Session went with Relay; use something else
    """

    __path__: tuple[str, ...] = ()  # a package for Python's import, which then asks for its names; see paths.py
    __spec__ = None

    def __init__(self, name: str, advice: str) -> None:
        self._name, self._advice = name, advice
        self.__name__ = f"tvmq.relay.{name}"

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self._name}.{name} went with Relay; {self._advice}")

    def __repr__(self) -> str:
        return f"RemovedModule({self._name})"


def refuse(module: str, name: str, advice: str) -> Any:
    """Raise what `RemovedModule` raises, from the `__getattr__` of a module of which something is left."""
    return getattr(RemovedModule(module, advice), name)
