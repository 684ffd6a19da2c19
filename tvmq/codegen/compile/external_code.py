"""Code that is not tvmq's: what code generators of TVM make, object files and libraries of lowerings.

Object files, and what a generator gives as LLVM code or as C, become part of the model's kernels. Shared libraries stay
files of their own, which a saved model names. Other modules of a generator run here, but cannot be saved.

Tests: tests/codegen/custom_lowering/test_generators.py
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, NamedTuple

import tvm
import tvm_ffi
from tvm import relax

from tvmq.base.foreign_errors import reason
from tvmq.base.tvm_internals import SYMBOL
from tvmq.codegen.custom_lowering.lowering import Codegen, Extern, Lowering
from tvmq.errors import BuildError
from tvmq.runtime.artifact.link.elf_object import UNDEFINED, ObjectFile, read_object
from tvmq.runtime.artifact.memory_file import object_file

GENERATOR = "relax.ext."  # before the name of a code generator, as a global function


@dataclass(frozen=True)
class ExternalCode:
    """Code and constants that a module needs beside its own functions.

    objects    object files that are linked in
    libraries  what artifact/libraries.py opens
    modules    of code generators, of kinds that cannot be linked in
    constants  that these ask for
    """

    objects: tuple[ObjectFile, ...] = ()
    libraries: tuple[dict[str, Any], ...] = ()
    modules: tuple[Any, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


NOTHING = ExternalCode()


class ExternalModules(NamedTuple):
    """Modules and constants of a module on which the user ran RunCodegen."""

    modules: tuple[Any, ...] = ()
    constants: Mapping[str, Any] = MappingProxyType({})


def take_external_modules(mod: tvm.IRModule) -> tuple[tvm.IRModule, ExternalModules]:
    """Split a module from the modules and constants that RunCodegen left in its attributes."""
    attributes = dict(mod.attrs.items()) if mod.attrs else {}
    modules = attributes.pop("external_mods", ())
    constants = attributes.pop("const_name_to_constant", {})
    if not modules:
        return mod, ExternalModules()
    plain = tvm.IRModule(dict(mod.functions_items()), attrs=attributes)
    return plain, ExternalModules(tuple(modules), dict(constants.items()))


def external_code(
    lowerings: Iterable[Lowering],
    used: Iterable[str],
    generated: Mapping[str, relax.Function],
    existing: ExternalModules = ExternalModules(),  # noqa: B008  frozen
) -> ExternalCode:
    """Object files, libraries and modules that the lowerings in use need.

    used       names of those that matched something
    generated  {symbol: function} for code generators
    existing    what the module has of them already
    raises     BuildError for a file, symbol or generator that is not there, and for one that fails
    """
    names = frozenset(used)
    active = [lowering for lowering in lowerings if lowering.name in names]
    externs = [lowering.to for lowering in active if isinstance(lowering.to, Extern)]
    options = {one.to.name: dict(one.to.options) for one in active if isinstance(one.to, Codegen)}
    objects = [_object(extern) for extern in externs if Path(extern.library or "").suffix == ".o"]
    modules, constants = generate(generated, options)
    module_objects = [(module, _as_object(module)) for module in (*existing.modules, *modules)]
    linked = [read_object(data) for _, data in module_objects if data is not None]
    others = [module for module, data in module_objects if data is None]
    constants = {**existing.constants, **constants}
    return ExternalCode((*objects, *linked), tuple(_libraries(externs)), tuple(others), constants)


def _libraries(externs: Sequence[Extern]) -> list[dict[str, Any]]:
    """Manifest entries, one for each library and convention."""
    symbols: dict[tuple[str, str], list[str]] = {}
    for extern in externs:
        if Path(extern.library or "").suffix != ".o":
            path = str(Path(extern.library).absolute()) if extern.library is not None else ""
            symbols.setdefault((path, extern.convention), []).append(extern.symbol)
    return [
        {"file": Path(path).name, "path": path, "symbols": list(dict.fromkeys(names)), "convention": convention}
        for (path, convention), names in symbols.items()
    ]


def _object(extern: Extern) -> ObjectFile:
    """An object file that has the symbol."""
    path = Path(extern.library or "")
    try:
        elf = read_object(path.read_bytes())
    except OSError as error:
        raise BuildError(f"build: object file '{path}' cannot be read: {error.strerror}; check the path") from error
    symbol = SYMBOL + extern.symbol if extern.convention == "packed" else extern.symbol
    defined = [one.name for one in elf.symbols if one.section != UNDEFINED and one.bind]
    if symbol not in defined:
        raise BuildError(
            f"build: object file '{path}' does not define '{symbol}', it has {', '.join(defined) or 'none'}; compile "
            'it with that function of C (extern "C" in C++), not static'
        )
    return elf


def generate(functions: Mapping[str, relax.Function], options: Mapping[str, Mapping[str, Any]]) -> tuple[Any, Any]:
    """(modules, constants) that code generators make of functions with attributes "Codegen" and "global_symbol".

    raises   BuildError naming the generator that is not there, or fails
    """
    if not functions:
        return [], {}
    for symbol, func in functions.items():
        _check_generator(str(func.attrs["Codegen"]), symbol)
    try:
        mod = relax.transform.RunCodegen({name: dict(values) for name, values in options.items()})(_calling(functions))
    except Exception as error:  # the generator's own, and TVM's
        names = ", ".join(dict.fromkeys(str(func.attrs["Codegen"]) for func in functions.values()))
        raise BuildError(f"build: code generator '{names}' fails: {reason(error)}") from error
    attributes = mod.attrs or {}
    return list(attributes.get("external_mods", [])), dict(attributes.get("const_name_to_constant", {}))


def _check_generator(name: str, symbol: str) -> None:
    if tvm_ffi.get_global_func(GENERATOR + name, allow_missing=True) is None:
        raise BuildError(
            f"build: function '{symbol}' is for the code generator '{name}', and TVM has no {GENERATOR}{name}; import "
            "what registers it, or leave annotate_codegen=True out"
        )


def _calling(functions: Mapping[str, relax.Function]) -> tvm.IRModule:
    """A module whose main calls each function once: RunCodegen starts there."""
    builder = relax.BlockBuilder()
    gvars = {symbol: builder.add_func(func, symbol) for symbol, func in functions.items()}
    params = {
        symbol: [relax.Var(f"{symbol}_{param.name}", param.ty) for param in func.params]
        for symbol, func in functions.items()
    }
    with builder.function("main", [param for group in params.values() for param in group]):
        with builder.dataflow():
            results = [builder.emit(relax.Call(gvars[symbol], group)) for symbol, group in params.items()]
            output = builder.emit_output(relax.Tuple(results))
        builder.emit_func_output(output)
    return builder.get()


def _as_object(module: Any) -> bytes | None:
    """A module of a code generator as an object file; None for kinds that cannot be linked."""
    if module.kind == "llvm" and not list(module.imports):
        return object_file(module)
    return _compiled_c(module.inspect_source()) if module.kind == "c" else None


def _compiled_c(source: str) -> bytes:
    """Source of C as an object file, by the C compiler of the system."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise BuildError(
            "build: a code generator gave source of C, and there is no C compiler (cc, gcc, clang); install one"
        )
    include = [f"-I{path}" for path in _include_folders()]
    with TemporaryDirectory(prefix="tvmq-") as folder:
        path, result = Path(folder, "generated.c"), Path(folder, "generated.o")
        path.write_text(source)
        command = [compiler, "-c", "-O2", "-fPIC", "-fno-stack-protector", *include, str(path), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or ["it does not say why"]
            raise BuildError(f"build: the C that a code generator gave does not compile: {lines[0]}")
        return result.read_bytes()


def _include_folders() -> list[str]:
    """Where the headers of TVM are, as far as they are installed."""
    roots = [Path(module.__file__ or "").parent for module in (tvm_ffi, tvm)]
    folders = [root / name for root in roots for name in ("include", "3rdparty/dlpack/include")]
    return [str(folder) for folder in folders if folder.is_dir()]
