"""A torch module as a program of torch.export in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import torch
import tvm

from tvmq.exporters.torch.to_torch import to_torch


def save_program(
    qmod: tvm.IRModule, inputs: Sequence[tuple[tuple[int | str, ...], str]], path: str | os.PathLike[str], *, form: str
) -> None:
    """Write what `to_torch` gives as a .pt2 file; half of one is not left behind.

    inputs  shape and element type of each; sizes are numbers
    form    as of `to_torch`
    """
    example = tuple(torch.zeros(shape, dtype=getattr(torch, dtype)) for shape, dtype in inputs)
    program = torch.export.export(to_torch(qmod, form=form), example)
    path = Path(path)
    temporary = path.with_name(f".{os.getpid()}.{path.stem}.pt2")
    try:
        torch.export.save(program, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
