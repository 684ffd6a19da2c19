"""`tvmq replay`: does a receipt of `tvmq.generate` say what the model computes?

Tests: tests/tools/generation/test_replay_receipt.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import Json, Quiet
from tvmq.tools.cli.console import print_result, step
from tvmq.tools.cli.exit_codes import FAILED
from tvmq.tools.generation.replay_receipt import replay as check_receipt


def replay(
    receipt: Path, *, model: Annotated[Path, typer.Option()], positions: str | None = None, compiled: bool = False,
    sha256: str | None = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Compute again what a language model wrote, and name the first position that differs from its receipt.

    Prints "receipt: holds" and exits with 0, or the first position whose logits, caches or token differ and exits with
    1. The NumPy definition needs neither the machine nor the CPU that wrote the receipt; it is slow.

    Example: tvmq replay receipt.json --model smollm2.tvmq --positions 0:8,31

    receipt  File that tvmq.generate(receipt=...) wrote.
    model  The model, saved; its code is not run without --compiled.
    positions  Positions to compare, counted from the first token of the prompt, as 17 or 0:8,31; all without it.
    compiled  Compute by the compiled code instead of the NumPy definition.
    """
    wanted = None if positions is None else read_positions(positions)
    exe = tvmq.load(model, sha256=sha256, code=compiled)
    with step("replay", None if wanted is None else len(wanted), quiet=quiet) as advance:
        result = check_receipt(receipt, exe, positions=wanted, compiled=compiled, advance=advance)
    print_result(result, as_json=as_json)
    if not result.holds:
        raise typer.Exit(FAILED)


def read_positions(text: str) -> list[int]:
    """Numbers and ranges, the end of a range left out.

    raises  ConfigError for other text

    >>> read_positions("0:3,31")
    [0, 1, 2, 31]
    """
    places: list[int] = []
    for part in text.split(","):
        begin, colon, end = part.partition(":")
        if not begin.strip().isdecimal() or (colon and not end.strip().isdecimal()):
            raise ConfigError(f"replay: positions are numbers and ranges such as 0:8,31. Got '{text}' instead")
        places += range(int(begin), int(end)) if colon else [int(begin)]
    return places
