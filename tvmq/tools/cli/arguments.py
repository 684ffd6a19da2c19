"""Arguments and options that several commands share; these texts are their help unless a command has its own.

model         Model saved by `tvmq quantize`. It contains machine code: load only files that you trust.
data          Inputs: an .npz with one array per input, or an .npy for a model with one input.
output        File to save the executable to. Default: MODEL.tvmq in the current folder.
target        Target to compile for: "llvm", the default, is this CPU, "cuda" this GPU. Repeat it for a file with code
              for several CPUs, from which loading picks the best. Examples: x86-64-v3, avx512-vnni, arm-dotprod,
              "llvm -mcpu=core-avx2", "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", "cuda -arch=sm_90"
shape         Shape of an input; repeatable. Example: x=1,3,32,32 (? keeps a dimension, x= is a scalar)
batch         Batch size, if the model has a dynamic one.
max_bytes     Refuse a model with a larger tensor (input, result or weight), before memory is allocated; the error names
              the layer. Default: the memory of this machine. Examples: 500MB, 8GB
as_json       Print the result as one JSON object.
quiet         Print no progress and no notices to stderr.
tokenizer     Tokenizer of a model of texts, the tokenizer.json beside it: for --data texts.txt (a text in each line) or
              texts.csv (columns text and label). Needs tvmq[text].
sha256        Refuse the file unless this is its SHA-256 (64 hex digits).
samples       Calibrate on this many samples, the first ones. Default: up to 256.
held_out      Samples held out to judge the result. Default: a fifth, or all beyond 256, at most 500; none if there are
              fewer than 50 samples.
onnx          Also write the integer model as ONNX with QuantizeLinear and DequantizeLinear.
dialect       Dialect of --onnx: onnxruntime (also for OpenVINO), or tensorrt (symmetric int8, float biases).
backend       Backend whose arithmetic to quantize for: a name, a JSON description (`tvmq backend show cpu` prints
              one), or the "module:object" of a tvmq.Backend. It sets the defaults of other options. Default: the CPU of
              --target if that names one, else cpu. Example: mychip.json

Tests: tests/tools/cli/test_formats.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tvmq.base.memory import parse_bytes
from tvmq.errors import ConfigError

RESULT = "Result"  # panel of the help


def _bytes(text: str) -> int:
    """Parse a size for typer; exit code 2 for invalid text."""
    try:
        return parse_bytes(text)
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error


Texts = list[str] | None
Count = Annotated[int | None, typer.Option(min=1)]
HeldOut = Annotated[int | None, typer.Option(min=0, rich_help_panel=RESULT)]
Output = Annotated[Path | None, typer.Option("--output", "-o")]
OutputPath = Annotated[Path, typer.Option("--output", "-o")]
Batch = Annotated[int, typer.Option(min=1)]
MaxBytes = Annotated[int | None, typer.Option(parser=_bytes, metavar="SIZE")]
Json = Annotated[bool, typer.Option("--json")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q")]


@dataclass(frozen=True)
class ReadOptions:
    """How a model is read and imported, as options of a command."""

    batch: Batch = 1
    max_bytes: MaxBytes = None
    shape: Texts = None
    tokenizer: Path | None = None


def check_targets(texts: list[str] | None) -> None:
    """Refuse, before TVM is imported, what is no target by its first word. raises TargetError"""
    from tvmq.codegen.target.cpu import resolve_target, write_out_aliases
    from tvmq.codegen.target.cuda import is_cuda

    for text in texts or ():
        if not is_cuda(text) and write_out_aliases(text, "x86").split(maxsplit=1)[:1] != ["llvm"]:
            resolve_target(text)


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
