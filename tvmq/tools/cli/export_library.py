"""`tvmq export-library`: a saved model as a shared library for programs in C.

Tests: tests/tools/cli/test_export_library_command.py
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import tvmq
from tvmq.tools.cli.arguments import Json, OutputPath, Quiet
from tvmq.tools.cli.console import print_json, print_rows, size_text, step
from tvmq.tools.cli.trust import load_without_code


def export_library(
    model: Path, *, output: OutputPath, name: str | None = None, target: str | None = None,
    static: bool = False, wheel: bool = False, version: str = "0.1.0", bom: bool = False, sha256: str | None = None,
    as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write a model as a shared library with a C header: no Python, no TVM, no heap where it runs.

    Linux on x86-64 and aarch64. NAME_run computes what `tvmq run` gives, bit for bit; example.c shows how to call it.

    Example: tvmq export-library digits.tvmq -o digits/

    Example: tvmq export-library digits.tvmq -o digits/ --target x86-64-v3

    Example: tvmq export-library digits.tvmq -o digits/ --target arm-dotprod --static

    Example: tvmq export-library digits.tvmq -o digits/ --wheel --version 1.2.0

    model    A model saved by `tvmq quantize`, all sizes fixed.
    output   Folder to write NAME.h, libNAME.so, NAME.json and example.c to.
    name     Prefix of files, functions and macros. Default: name of the folder.
    target   CPU to build for, as `tvmq build` takes it. Default: that of the model.
    static   Also write libNAME.a, for programs that are linked statically.
    wheel    Also write a package for pip that needs NumPy alone: import NAME; NAME.run(x).
    version  Version of that package.
    bom      Also write an ML-BOM of CycloneDX, NAME.cdx.json: hashes, targets, versions of tools.
    """
    exe = load_without_code(model, sha256)
    with step("export", quiet=quiet):
        export = tvmq.export_library(
            exe, output, name=name, target=target, static=static, wheel=wheel, version=version, bom=bom
        )
    if as_json:
        print_json({key: str(value) if isinstance(value, Path) else value for key, value in asdict(export).items()})
        return
    rows = [
        ["written", f"{export.library}, {export.header.name}, {export.facts.name} and {export.example.name}"],
        ["size", f"{size_text(export.library_bytes)}, {size_text(export.constant_bytes)} of them constants"],
        ["code", " ".join(export.targets)],
        ["asks for", ", ".join(export.undefined) or "nothing"],
    ]
    if export.archive:
        rows.append(["static", str(export.archive)])
    if export.wheel:
        rows.append(["package", str(export.wheel)])
    if export.bom:
        rows.append(["materials", str(export.bom)])
    print_rows(rows)
