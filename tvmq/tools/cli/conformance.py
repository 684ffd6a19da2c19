"""`tvmq conformance`: test vectors for a described chip, and checks of the answers of a device."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Json, Output, Quiet
from tvmq.tools.cli.console import print_json, print_result, step
from tvmq.tools.cli.exit_codes import FAILED


def conformance(
    backend: str, *, output: Output = None, check: Path | None = None, seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write test vectors for every operator and branch of a described chip, or check the answers of a device.

    If the device differs, the report names the rule or mistake that would explain all of its answers, and the exit code
    is 1.

    Example: tvmq conformance mychip.json -o vectors/

    Example: tvmq conformance vectors/ --check answers/

    backend  Chip description: a JSON file, a name such as cpu, or "module:object"; with --check, the vectors.
    output   Folder to write the vectors to.
    check    Answers of the device by case: a folder of .npy files, or an .npz.
    seed     Seed of the random values.
    """
    if (output is None) == (check is None):
        raise ConfigError("conformance: give --output to write vectors, or --check to judge answers")
    if output is not None:
        with step("vectors", quiet=quiet):
            written = tvmq.conformance(backend, output, seed=seed)
        if as_json:
            print_json({"folder": str(written.folder), "cases": written.cases, "values": written.values})
        else:
            print(f"{written.folder}: {written}")
        return
    assert check is not None
    with step("check", quiet=quiet):
        verdict = tvmq.check_conformance(backend, check)
    print_result(verdict, as_json=as_json)
    if not verdict.conforms:
        raise typer.Exit(FAILED)
