"""A torch module as a program of torch.export in a file.

Tests: tests/test_outputs.py
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

import torch
import tvm

from tvmq.base.whole_file import write_file
from tvmq.formats.torch.exporter.to_torch import to_torch


def save_program(
    qmod: tvm.IRModule, inputs: Sequence[tuple[tuple[int | str, ...], str]], path: str | os.PathLike[str], *, form: str
) -> None:
    """Write what `to_torch` gives as a .pt2 file; half of one is not left behind.

    inputs  shape and element type of each; sizes are numbers
    form    as of `to_torch`
    raises  OutputError
    """
    example = tuple(torch.zeros(shape, dtype=getattr(torch, dtype)) for shape, dtype in inputs)
    program = torch.export.export(to_torch(qmod, form=form), example)
    write_file(path, partial(torch.export.save, program), "to_torch")
