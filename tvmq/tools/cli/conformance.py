"""`tvmq conformance`: test vectors for a described chip, and checks of the answers of a device."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Json, Quiet
from tvmq.tools.cli.console import print_json, step
from tvmq.tools.cli.exit_codes import FAILED


def conformance(
    backend: Annotated[
        str,
        typer.Argument(
            help='Chip description: a JSON file, a name such as cpu, or "module:object"; with --check, the vectors.'
        ),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder to write the vectors to.")] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Answers of the device by case: a folder of .npy files, or an .npz."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random values.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write test vectors for every operator and branch of a described chip, or check the answers of a device.

    If the device differs, the report names the rule or mistake that would explain all of its answers, and the exit code
    is 1.

    Example: tvmq conformance mychip.json -o vectors/

    Example: tvmq conformance vectors/ --check answers/
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
    if as_json:
        print_json(verdict.to_dict())
    else:
        print(verdict)
    if not verdict.conforms:
        raise typer.Exit(FAILED)
