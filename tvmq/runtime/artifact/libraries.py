"""Libraries that a model calls: opened before its kernels, which find the symbols in the process then.

A saved model names them, and what it calls of each:

    {"file": "libmychip.so", "path": "/opt/chip/libmychip.so", "symbols": ["my_conv"], "convention": "pointers"}

They are looked for beside the saved model, where they were when it was built, and where the system looks for libraries.
A symbol that another library of the process has already is refused: the wrong one would be called.

Tests: tests/codegen/custom_lowering/test_libraries.py
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tvmq.base.tvm_internals import LOAD_LIBRARY, SYMBOL, global_function
from tvmq.base.tvm_runtime import runtime_function
from tvmq.errors import ArtifactError, BuildError, TvmqError
from tvmq.runtime.artifact.native_library import ONE_LOAD

Need = Mapping[str, Any]
PACKED = "packed"
_opened: dict[str, Any] = {}  # {real path: library}, for the life of the process: code may call them at any time


def open_libraries(needs: Iterable[Need], where: str, folder: Path | None = None) -> list[Any]:
    """Open all that a model needs; modules of TVM for those with packed functions.

    where    begins the messages: "build" or "load: 'm.tvmq'"
    folder   of the saved model, looked at first
    raises   BuildError, of a saved model ArtifactError, for a library or a symbol that is not there
    """
    error = BuildError if where == "build" else ArtifactError
    modules = []
    for need in needs:
        if not need["file"]:
            _check_process(need, where, error)
        elif need["convention"] == PACKED:
            modules.append(_packed_module(need, where, folder, error))
        else:
            _open(need, where, folder, error)
    return modules


def _places(need: Need, folder: Path | None) -> list[str]:
    """Where a library may be, best first; a name without a folder is left to the system."""
    beside = [str(folder / need["file"])] if folder is not None else []
    return [place for place in (*beside, need["path"]) if os.path.isfile(place)] + [need["file"]]


def _open(need: Need, where: str, folder: Path | None, error: type[TvmqError]) -> None:
    places, why = _places(need, folder), ""
    for place in places:
        try:
            if os.path.isfile(place):
                _refuse_others(need["symbols"], place, where, error)
            library = _library(place)
        except OSError as failure:
            why = why or str(failure)
            continue
        missing = [symbol for symbol in need["symbols"] if not hasattr(library, symbol)]
        if missing:
            raise error(f"{where}: library '{place}' has no symbol '{missing[0]}'; {_remedy(need)}")
        return
    raise error(_absent(need, where, why))


def _absent(need: Need, where: str, why: str) -> str:
    symbols = ", ".join(need["symbols"])
    return (
        f"{where}: the model calls {symbols} of library '{need['file']}', which cannot be opened ({why}); put it "
        f"beside the model or at '{need['path']}'"
    )


def _remedy(need: Need) -> str:
    return f'compile it with {", ".join(need["symbols"])} as functions of C (extern "C" in C++), not static'


def _library(place: str) -> Any:
    """Open a library so that others find its symbols; once."""
    real = os.path.realpath(place) if os.path.sep in place else place
    with ONE_LOAD:
        if real not in _opened:
            _opened[real] = ctypes.CDLL(place, ctypes.RTLD_GLOBAL)
    return _opened[real]


def _refuse_others(symbols: Sequence[str], place: str, where: str, error: type[TvmqError]) -> None:
    """Refuse a symbol that another library has brought into the process."""
    for symbol in symbols:
        owner = _owner(symbol)
        if owner and owner != os.path.realpath(place):
            raise error(
                f"{where}: symbol '{symbol}' of '{place}' is also one of '{owner}', which would be called instead; "
                "rename it, or load this model in a process of its own"
            )


class _Place(ctypes.Structure):
    """Structure Dl_info, which dladdr fills for an address."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    )


def _owner(symbol: str) -> str:
    """The library whose symbol all of the process see; "" if none has it."""
    process = ctypes.CDLL(None)
    if not hasattr(process, symbol):
        return ""
    place = _Place()
    known = process.dladdr(ctypes.cast(getattr(process, symbol), ctypes.c_void_p), ctypes.byref(place))
    return os.path.realpath(os.fsdecode(place.file)) if known and place.file else "the program itself"


def _check_process(need: Need, where: str, error: type[TvmqError]) -> None:
    """Symbols of no library: the process must have them."""
    for symbol in need["symbols"]:
        if need["convention"] == PACKED:
            if not _is_global(symbol):
                raise error(
                    f"{where}: the model calls the global function '{symbol}' of TVM, and there is none; register it "
                    "with tvm_ffi.register_global_func, or name the library that has it"
                )
        elif not hasattr(ctypes.CDLL(None), symbol):
            raise error(
                f"{where}: the model calls '{symbol}', which no library of this process has; name the one that has it "
                "with library="
            )


def _is_global(name: str) -> bool:
    try:
        return runtime_function(name) is not None
    except Exception:  # TVM's errors of a name that is not there have no common class
        return False


def _packed_module(need: Need, where: str, folder: Path | None, error: type[TvmqError]) -> Any:
    """A library of packed functions as a module of TVM."""
    why = ""
    for place in _places(need, folder):
        try:
            with ONE_LOAD:
                plain = ctypes.CDLL(place)
                missing = [symbol for symbol in need["symbols"] if not hasattr(plain, SYMBOL + symbol)]
                if not missing:
                    return global_function(LOAD_LIBRARY)(place, "so")
        except OSError as failure:
            why = why or str(failure)
            continue
        raise error(
            f"{where}: library '{place}' has no packed function '{missing[0]}' (the symbol {SYMBOL}{missing[0]}); use "
            "convention='pointers' for a function of C"
        )
    raise error(_absent(need, where, why))
