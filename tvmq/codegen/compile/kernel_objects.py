"""Every kernel as an object file of its own: from the cache, or compiled on all CPUs; linked, they are the library.

So equal kernels are compiled once on a machine, whatever model they are in, and a saved file has the same bytes
whether they came from the cache or not. For Linux on x86-64; code for other systems is one module of LLVM.

What calibration runs is never saved: loops of such a model share object files (`BuildOptions.is_brief`).

Compiled kernels on disk, by what they were compiled from: a later build takes them from there.

    <TVMQ_CACHE>/kernels/<sha256 of the source>     sha256 of that name and the object file, object file

Any number of processes may read and write at once: entries appear whole, by renaming. One that is damaged, stands
under another name or belongs to another user is removed and built anew. Reading an entry makes it young; beyond
MOST_BYTES the oldest ones go.

Tests: tests/codegen/compile/test_kernel_cache.py
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx

from tvmq.base.cache import replace_file, trusted_folder
from tvmq.base.cpus import ALLOWED_CPUS
from tvmq.base.tvm_internals import SYMBOL
from tvmq.codegen.compile.llvm_workarounds import with_whole_stores
from tvmq.codegen.schedule.generic import KERNEL
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.elf_object import MACHINE_NAMES, UNDEFINED, ObjectFile, merge_objects, read_object
from tvmq.runtime.artifact.link.shared_object import link_objects
from tvmq.runtime.artifact.memory_file import object_file
from tvmq.runtime.artifact.native_library import is_linux_x86

FOLDER = "kernels"
MOST_BYTES = 256 * 2**20
KEPT = 0.75  # share of MOST_BYTES that is left after old entries went
DIGEST = 32


def read(key: str) -> bytes | None:
    """The object file; None if there is none, or it is damaged."""
    path = _place(key)
    if path is None:
        return None
    try:
        data = _own_file(path)
    except FileNotFoundError:
        return None
    except OSError:
        data = b""
    if _digest(key, data[DIGEST:]) != data[:DIGEST]:
        remove(key)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return data[DIGEST:]


def remove(key: str) -> None:
    """Forget an entry."""
    path = _place(key)
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink()


def write(key: str, data: bytes) -> None:
    """Keep an object file; nothing happens where nothing can be written."""
    path = _place(key)
    if path is not None:
        with contextlib.suppress(OSError):
            replace_file(path, _digest(key, data) + data)


def trim() -> None:
    """Remove the entries that were read longest ago, if there are too many bytes."""
    folder = trusted_folder(FOLDER)
    with contextlib.suppress(OSError):
        entries = _entries(folder) if folder else []
        total = sum(size for _, size, _ in entries)
        if total <= MOST_BYTES:
            return
        for _, size, path in sorted(entries):
            with contextlib.suppress(OSError):  # another process was faster
                os.unlink(path)
            total -= size
            if total <= KEPT * MOST_BYTES:
                return


def _entries(folder: Path) -> list[tuple[float, int, str]]:
    """(time of the last use, bytes, path) of all entries."""
    entries = []
    with os.scandir(folder) as listing:
        for entry in listing:
            with contextlib.suppress(FileNotFoundError):
                facts = entry.stat()
                entries.append((facts.st_mtime, facts.st_size, entry.path))
    return entries


def _place(key: str) -> Path | None:
    folder = trusted_folder(FOLDER)
    return folder / key if folder else None


def _digest(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + data).digest()


def _own_file(path: Path) -> bytes:
    """Content of a file of this user; OSError for a link, a pipe and a file of another user."""
    # does not wait for the other end of a pipe
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or (hasattr(os, "geteuid") and facts.st_uid != os.geteuid()):
            raise OSError(f"'{path}' is no file of this user")
        return file.read()


FORM = 2  # of what is done to the code behind LLVM (compile/llvm_workarounds.py): other code, another number
MOST_WORKERS = 8  # each holds LLVM's memory of a kernel
MOST_TOGETHER = 24  # functions of loops; an object file of its own takes 20 ms, which is half of the time of most

Options = Mapping[str, Any]  # of a PassContext
_grouped: set[str] = set()  # keys of functions that were compiled with others


def native_kernels(
    mod: tvm.IRModule,
    target: CpuTarget,
    compiler: Any,
    options: Options,
    more: Sequence[ObjectFile] = (),
    is_brief: bool = False,
) -> bytes | None:
    """A shared library of all functions of loops; None where there are none, or this system cannot load it.

    compiler  the target as TVM takes it
    options   of the PassContext in which they are compiled
    more      object files that come along
    is_brief  loops without a template share object files
    raises    BuildError for those that cannot
    """
    here = sys.platform == "linux" and platform.machine() == "x86_64"
    functions = {gvar.name_hint: func for gvar, func in mod.functions_items() if isinstance(func, tirx.PrimFunc)}
    if more and not (here and is_linux_x86(target)):
        raise BuildError(
            "build: object files of lowerings and code generators are linked for Linux on x86-64 alone; make them a "
            "shared library (.so)"
        )
    if not (functions or more) or not here or not is_linux_x86(target):
        return None
    objects = compile_objects(functions, target, compiler, options, is_brief)
    try:
        return link_objects(merge_objects([*objects, *more]))
    except BuildError as error:  # something that our linker does not know: LLVM's own way always works
        if more:
            fact = str(error).partition(";")[0].removeprefix("link: ")
            raise BuildError(
                f"build: object files of lowerings and code generators cannot be linked ({fact}); make them a shared "
                "library (.so)"
            ) from error
        return None


def compile_objects(
    functions: Mapping[str, Any], target: CpuTarget, compiler: Any, options: Options, is_brief: bool = False
) -> list[ObjectFile]:
    """Object files of functions of loops in the order of their names; behind them those of several functions.

    The other arguments as in `native_kernels`.
    """
    keys = {name: _key(functions[name], compiler, options) for name in sorted(functions)}
    places: dict[tuple[str, ...], str] = {(name,): key for name, key in keys.items()}
    kernels = {names: _read_kernel(names, key) for names, key in places.items()}
    if is_brief:
        # loops that no template of ours made belong to this model, and are short
        alone = [name for name in keys if kernels[name,] is None and KERNEL not in (functions[name].attrs or {})]
        for names in _groups(alone, keys):
            places[names] = hashlib.sha256("".join(keys[name] for name in names).encode()).hexdigest()
            kernels = {one: kernel for one, kernel in kernels.items() if one[0] not in names}
            kernels[names] = _read_kernel(names, places[names])
    missing = [names for names, kernel in kernels.items() if kernel is None]
    if missing:

        def compile_these(names: tuple[str, ...]) -> bytes:
            return _compile_kernels({name: functions[name] for name in names}, target, compiler, options)

        with ThreadPoolExecutor(min(len(ALLOWED_CPUS), len(missing), MOST_WORKERS)) as workers:
            for names, data in zip(missing, workers.map(compile_these, missing), strict=True):
                kernels[names] = read_object(data, MACHINE_NAMES)
                write(places[names], data)
        trim()
    return [kernel for kernel in kernels.values() if kernel is not None]


def _groups(names: Sequence[str], keys: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Functions to be compiled together: those that were not before, so that one in many modules is compiled alone."""
    fresh = [name for name in names if keys[name] not in _grouped]
    if len(_grouped) > MOST_HASHES:
        _grouped.clear()
    for begin in range(0, len(fresh) - 1, MOST_TOGETHER):
        together = tuple(fresh[begin : begin + MOST_TOGETHER])
        _grouped.update(keys[name] for name in together)
        yield together


def _read_kernel(names: Sequence[str], key: str) -> ObjectFile | None:
    """Kernels from the cache; an entry that lacks one of these is removed."""
    data = read(key)
    if data is None:
        return None
    try:
        kernel = read_object(data, MACHINE_NAMES)
        if {SYMBOL + name for name in names} <= {one.name for one in kernel.symbols if one.section != UNDEFINED}:
            return kernel
    except (BuildError, ValueError, IndexError, struct.error):  # what is no object file
        pass
    remove(key)
    return None


def _compile_kernels(functions: Mapping[str, Any], target: CpuTarget, compiler: Any, options: Options) -> bytes:
    with compiler, tvm.transform.PassContext(**options):  # both belong to a thread
        library = tvm.tirx.build(tvm.IRModule(dict(functions)), target=compiler)
    whole = with_whole_stores(library, target)
    return object_file(whole)


def _key(func: Any, compiler: Any, options: Options) -> str:
    """Hash of all that the code depends on: the function, the target, the options, and who compiles."""
    facts = {
        "form": FORM,
        "tvm": str(tvm.__version__),
        "tvm_ffi": str(tvm_ffi.__version__),
        "llvm": int(tvm.target.codegen.llvm_version_major()),
        "target": {str(key): str(value) for key, value in compiler.export().items()},
        "options": {key: str(value) for key, value in options.items()},
        "attributes": str(tvm.ir.save_json(func.attrs)),
        "function": _code_hash(func),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


MOST_HASHES = 1024
_hashes: dict[tuple[int, ...], tuple[Any, str]] = {}


def _code_hash(func: Any) -> str:
    """Hash of a function without its attributes. Text of thousands of statements takes 10 ms: it is written once for
    the same object, which is held so that no other one gets its address."""
    parts = (func.body, *func.params)
    key = tuple(part.__chandle__() for part in parts)
    if key not in _hashes:
        if len(_hashes) >= MOST_HASHES:
            _hashes.clear()
        plain = tirx.PrimFunc(func.params, func.body, func.ret_type)
        _hashes[key] = parts, hashlib.sha256(str(tvm.ir.save_json(plain)).encode()).hexdigest()
    return _hashes[key][1]
