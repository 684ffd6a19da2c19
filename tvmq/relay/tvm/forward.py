"""Names of TVM as it is today, for scripts that were written for an older one."""

from __future__ import annotations

import fnmatch
import importlib
from functools import reduce
from importlib.util import find_spec
from typing import Any

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


def forward(place: str, name: str) -> Any:
    """An attribute or module of TVM's module `place`.

    raises  AttributeError, with what to do, for one that is not there; so for Python's own names (__path__, ...)

    >>> forward("tvm", "cpu")(0).type
    'cpu'
    """
    found = None if name.startswith("__") and name != "__version__" else _found(place, name)
    if found is not None:
        return found
    raise AttributeError(f"{place}.{name}: {_advice(f'{place}.{name}')}")


def _found(place: str, name: str) -> Any:
    """The attribute, or the module that nobody has loaded yet; None where there is neither."""
    return reduce(_inside, [*place.split(".")[1:], name], importlib.import_module("tvm"))


def _inside(module: Any, name: str) -> Any:
    if not hasattr(module, name) and hasattr(module, "__path__") and find_spec(f"{module.__name__}.{name}"):
        importlib.import_module(f"{module.__name__}.{name}")
    return getattr(module, name, None)


def _advice(name: str) -> str:
    fitting = (text for pattern, text in ADVICE.items() if fnmatch.fnmatchcase(name, pattern))
    return next(fitting, "neither TVM nor tvmq has it; docs: MIGRATING.md")
