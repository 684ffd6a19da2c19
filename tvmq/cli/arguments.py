"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Artefact = Annotated[
    Path,
    typer.Argument(help="A model saved by `tvmq quantize`. It holds machine code: load only what you trust."),
]
Inputs = Annotated[
    Path, typer.Option("--data", help="Inputs: an .npz with one array for each, or an .npy for a single one.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the whole result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notices on stderr.")]
Sha256 = Annotated[
    str | None, typer.Option("--sha256", help="Refuse the file unless this is its SHA-256 (64 hex digits).")
]
