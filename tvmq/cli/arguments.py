"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tvmq.errors import ConfigError
from tvmq.memory import parse_bytes


def _bytes(text: str) -> int:
    """Parse a size for typer; exit code 2 for a text that is none."""
    try:
        return parse_bytes(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error


Artefact = Annotated[
    Path,
    typer.Argument(help="A model saved by `tvmq quantize`. It holds machine code: load only what you trust."),
]
Inputs = Annotated[
    Path, typer.Option("--data", help="Inputs: an .npz with one array for each, or an .npy for a single one.")
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help='Compile for it; "llvm", the default: this CPU, "cuda": this GPU. Repeatable for CPUs: one file holds '
        "all codes, and loading takes the best that the CPU can run. Examples: x86-64-v3, avx512-vnni, arm-dotprod, "
        '"llvm -mcpu=core-avx2", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "cuda -arch=sm_90"',
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option("--shape", help="Shape of an input; repeatable. Example: x=1,3,32,32 (? keeps one, x= is a scalar)"),
]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Samples in a run, where the model leaves that free.")]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        "--max-bytes",
        parser=_bytes,
        metavar="SIZE",
        help="Refuse a model in which one tensor (input, result or weight) is larger, before memory is asked for; the "
        "error names the layer. Default: the memory of this machine. Examples: 500MB, 8GB",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the whole result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notices on stderr.")]
Sha256 = Annotated[
    str | None, typer.Option("--sha256", help="Refuse the file unless this is its SHA-256 (64 hex digits).")
]


def target_of(texts: list[str] | None) -> str | list[str]:
    """Target that `tvmq.build` takes for --target; raises TargetError for an unknown one, before there is any work.

    >>> target_of(None), target_of(["cuda"]), target_of(["avx2", "avx-vnni"])
    ('llvm', 'cuda', ['avx2', 'avx-vnni'])
    """
    from tvmq.target.cpu import resolve_target  # loads TVM
    from tvmq.target.cuda import is_cuda

    texts = texts or ["llvm"]
    for text in texts:
        if not is_cuda(text):
            resolve_target(text)
    return texts[0] if len(texts) == 1 else texts
