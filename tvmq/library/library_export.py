"""`export_library`: a model as a shared library with a header, for programs in C and what calls C.

Tests: tests/library/test_export_library.py
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tvm

from tvmq.base.whole_file import write_file, write_files
from tvmq.codegen.compile.external_code import take_external_modules
from tvmq.codegen.custom_lowering.fused_functions import write_out
from tvmq.errors import BuildError, ConfigError
from tvmq.graph.ledger import get_ledger, why_emulated
from tvmq.graph.module_functions import plain_module
from tvmq.library.bill_of_materials import bill_text, check_package
from tvmq.library.compile_library import compile_library
from tvmq.library.library_files import example_text, facts_text, header_text
from tvmq.library.machines import check_machines
from tvmq.library.model_wheel import check_wheel, make_wheel
from tvmq.library.operator_file import operator_file
from tvmq.passes.prepare import prepare
from tvmq.runtime.executable import Executable

NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class LibraryExport:
    """Files that `export_library` wrote, and what they are.

    library          the shared library
    header, facts, example   the files beside it; None where the library was to be alone
    library_bytes    of the shared library
    constant_bytes   of weights and other constants in it
    undefined        functions that a program with the library has to have
    targets          names of the CPUs that it has code for
    wheel            the package for pip, if one was asked for
    archive          the static library, if one was asked for
    bom              the bill of materials, if one was asked for
    onnx             the file for onnxruntime, if one was asked for
    """

    library: Path
    header: Path | None
    facts: Path | None
    example: Path | None
    library_bytes: int
    constant_bytes: int
    undefined: tuple[str, ...]
    targets: tuple[str, ...]
    wheel: Path | None = None
    archive: Path | None = None
    bom: Path | None = None
    onnx: Path | None = None

    def __str__(self) -> str:
        code = f"{self.library_bytes} bytes for {' '.join(self.targets)}"
        asks = ", ".join(self.undefined) or "nothing"
        header = f", {self.header.name}" if self.header else ""
        return f"{self.library}{header}: {code}; it asks a program for {asks}"


def export_library(
    model: Executable | tvm.IRModule,
    folder: str | os.PathLike[str],
    *,
    name: str | None = None,
    params: Mapping[str, np.ndarray] | None = None,
    target: Any = None,
    core: bool = False,
    selftest: bool = True,
    static: bool = False,
    wheel: bool = False,
    version: str = "0.1.0",
    bom: bool = False,
    onnxruntime: bool = False,
) -> LibraryExport:
    """Write a model as a library for C: NAME.h, libNAME.so, NAME.json and example.c in a folder, or one .so alone.

    The library computes what `build` and `run` give, bit for bit, without Python, TVM or a heap: NAME_run takes
    pointers to inputs, outputs and a workspace. It needs memcpy and memset of the C library, and what
    `LibraryExport.undefined` lists beyond.

    model    an executable that was built or loaded, or a module as `build` takes it; sizes may be dynamic
    folder   made if it is not there; all files are written under other names and renamed. A path that ends in ".so" is
             that of the library, which `tvmq.load` and other programs open under any name; nothing is put beside it
    name     begins the names of files, functions and macros: lower-case letters, digits and "_". Default: the folder's
    params   weights that are still parameters of the module
    target   as `build` takes it; of a list NAME_init chooses the best that the CPU can run. Default: that of the
             executable, or this CPU
    core     the integer core alone: it takes and gives codes, whose scales and zero points the library and NAME.json
             tell, and leaves the conversions at the ends to the program
    selftest  put in what the definition gives for golden inputs, for NAME_selftest; it is run once for that
    static   also write libNAME.a, for programs that are linked statically
    wheel    also write the model as a package for pip that needs NumPy alone: `import NAME; NAME.run(x)`
    version  of that package
    bom      also write NAME.cdx.json, an ML-BOM of CycloneDX 1.6: hashes of model, library and calibration data,
             targets, versions of what made it. Needs pip install "tvmq[bom]"
    onnxruntime  make the library an operator of onnxruntime too, and write NAME.onnx, a model of that one node
    raises   ConfigError for a name, a version, a missing package, or further files of a library alone, IntegralError
             naming a layer at an end of the core that is no code, BuildError naming the layer that cannot be held,
             TargetError for other systems than Linux on x86-64 and aarch64, OutputError if the files cannot be written
    """
    folder = Path(folder)
    is_alone = folder.suffix == ".so" and not folder.is_dir()
    name = _check_name(name if name is not None else _name_of(folder))
    if is_alone and (wheel or static or bom or onnxruntime):
        raise ConfigError(f"export_library: further files need a folder; '{folder}' names a library alone")
    if wheel:
        check_wheel(name, version)
    if bom:
        check_package()
    is_built = isinstance(model, Executable)
    mod = model.module if is_built else model
    machines = check_machines(target if target is not None else model.targets if is_built else "llvm")
    mod = _prepare(mod, params)
    compiled = compile_library(mod, name, machines, core=core, selftest=selftest, onnxruntime=onnxruntime)
    assembly, interface = compiled.assembly, compiled.interface
    facts = facts_text(interface, assembly.library, compiled.facts, assembly.undefined)
    texts = {f"{name}.h": header_text(interface), f"{name}.json": facts, "example.c": example_text(interface)}
    further: dict[str, tuple[str, bytes]] = {}  # by their fields of LibraryExport
    if bom:
        bill = bill_text(interface, assembly.library, compiled.targets, get_ledger(mod).data_hash)
        further["bom"] = f"{name}.cdx.json", bill.encode()
    if onnxruntime:
        further["onnx"] = f"{name}.onnx", operator_file(interface)
    if wheel:
        bills = dict([further["bom"]]) if bom else {}
        further["wheel"] = make_wheel(name, version, assembly.library, facts, json.loads(facts), bills)
    if static:
        further["archive"] = f"lib{name}.a", assembly.archive()
    path = folder if is_alone else folder / f"lib{name}.so"
    if is_alone:
        write_file(path, assembly.library, "export_library")
    else:
        files = {file: text.encode() for file, text in texts.items()}
        write_files(folder, {path.name: assembly.library, **files, **dict(further.values())}, "export_library")
    header, facts_file, example = (None if is_alone else folder / file for file in texts)
    counts = len(assembly.library), compiled.constant_bytes
    paths: dict[str, Any] = {field: folder / file for field, (file, _) in further.items()}
    return LibraryExport(path, header, facts_file, example, *counts, assembly.undefined, compiled.targets, **paths)


def _name_of(folder: Path) -> str:
    """The name of a folder or of a .so as one in C.

    >>> _name_of(Path("out/Key-Words.v2")), _name_of(Path("2")), _name_of(Path("out/libdigits.so"))
    ('key_words_v2', 'model_2', 'digits')
    """
    name = folder.resolve().name.lower()
    text = re.sub(r"[^a-z0-9_]", "_", name.removesuffix(".so").removeprefix("lib") if name.endswith(".so") else name)
    return text if text[:1].isalpha() else f"model_{text}"


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"export_library: name must be lower-case letters, digits and '_' and begin with a letter. Got {name!r} "
            "instead"
        )
    return name


def _prepare(mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None) -> tvm.IRModule:
    """The module as `build` compiles it."""
    if (why := why_emulated(mod)) is not None:
        raise BuildError(f"export_library: {why}: compiled code would give other codes than the device")
    mod, existing = take_external_modules(plain_module(mod))
    mod, composites = write_out(mod)
    if existing.modules or composites:
        raise BuildError("export_library: the module has functions for code generators; export it without them")
    return prepare(mod, params) if params or get_ledger(mod).stage == "imported" else mod
