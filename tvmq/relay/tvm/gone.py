"""Modules of TVM that went with Relay: importing one does no harm, using it says what to do."""

from __future__ import annotations

from typing import Any, NoReturn

_TILES = "kernels are chosen by tvmq.build; tvmq.build(qmod, tune=seconds) measures them on this machine"

# Module, without "tvm." -> what to do
GONE = {
    "auto_scheduler": _TILES,
    "driver": "the command line is `tvmq`: tvmq quantize, tvmq bench, tvmq run",
    "meta_schedule": _TILES,
    "micro": "microcontrollers are not what tvmq compiles for; tvmq.to_onnx writes the integer model",
}


class Gone:
    """In the place of a module: every name of it raises AttributeError with what to do.

    >>> Gone("tvm.micro", "use something else").Session
    Traceback (most recent call last):
        ...
    AttributeError: tvm.micro.Session went with Relay; use something else
    """

    def __init__(self, name: str, advice: str) -> None:
        self._name, self._advice = name, advice

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self._name}.{name} went with Relay; {self._advice}")

    def __repr__(self) -> str:
        return f"Gone({self._name})"


def refuse(module: str, name: str, advice: str) -> Any:
    """Raise what `Gone` raises, from the `__getattr__` of a module of which something is left."""
    return getattr(Gone(module, advice), name)
