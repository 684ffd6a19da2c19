"""Arguments and options that several commands share.

Tests: tests/tools/cli/test_formats.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tvmq.base.memory import parse_bytes
from tvmq.errors import ConfigError


def _bytes(text: str) -> int:
    """Parse a size for typer; exit code 2 for invalid text."""
    try:
        return parse_bytes(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error


SavedModel = Annotated[
    Path,
    typer.Argument(help="Model saved by `tvmq quantize`. It contains machine code: load only files that you trust."),
]
Inputs = Annotated[
    Path,
    typer.Option("--data", help="Inputs: an .npz with one array per input, or an .npy for a model with one input."),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help='Target to compile for: "llvm", the default, is this CPU, "cuda" this GPU. Repeat it for a file with code '
        "for several CPUs, from which loading picks the best. Examples: x86-64-v3, avx512-vnni, arm-dotprod, "
        '"llvm -mcpu=core-avx2", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "cuda -arch=sm_90"',
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        "--shape", help="Shape of an input; repeatable. Example: x=1,3,32,32 (? keeps a dimension, x= is a scalar)"
    ),
]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Batch size, if the model has a dynamic one.")]
MaxBytes = Annotated[
    int | None,
    typer.Option(
        "--max-bytes",
        parser=_bytes,
        metavar="SIZE",
        help="Refuse a model with a larger tensor (input, result or weight), before memory is allocated; the "
        "error names the layer. Default: the memory of this machine. Examples: 500MB, 8GB",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no notices to stderr.")]
Sha256 = Annotated[
    str | None, typer.Option("--sha256", help="Refuse the file unless this is its SHA-256 (64 hex digits).")
]


def parse_targets(texts: list[str] | None) -> str | list[str]:
    """Target for `tvmq.build` from --target; raises TargetError for an unknown one, before any work.

    >>> parse_targets(None), parse_targets(["cuda"]), parse_targets(["avx2", "avx-vnni"])
    ('llvm', 'cuda', ['avx2', 'avx-vnni'])
    """
    from tvmq.codegen.target.cpu import resolve_target  # loads TVM
    from tvmq.codegen.target.cuda import is_cuda

    texts = texts or ["llvm"]
    for text in texts:
        if not is_cuda(text):
            resolve_target(text)
    return texts[0] if len(texts) == 1 else texts
