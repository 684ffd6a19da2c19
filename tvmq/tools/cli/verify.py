"""`tvmq verify`: is the compiled model bit for bit what the NumPy definition, or a described chip, says?

Tests: tests/tools/cli/test_commands.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.runtime.sample_runs import batch_size
from tvmq.tools.cli.arguments import Json, Quiet
from tvmq.tools.cli.console import print_result, step
from tvmq.tools.cli.exit_codes import FAILED
from tvmq.tools.cli.files import Arrays, Batches, batch_of, read_arrays, refuse_float_model, split_shared
from tvmq.tools.cli.picture_inputs import check_inputs, read_inputs


def verify(
    model: Path, *, data: Path, samples: Annotated[int, typer.Option(min=1)] = 8, backend: str | None = None,
    tokenizer: Path | None = None, invariance: bool = False, mask: str | None = None, left: bool = False,
    sha256: str | None = None, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Compare a saved model with the definition of its operators, or with a described chip, value by value.

    Prints "exact: yes" ("equal: yes" for a chip) and exits with 0, or says where they differ and exits with 1.

    With --invariance samples are instead run alone and in other surroundings: in batches, in another order, by several
    threads, with other values and more positions behind the mask. Prints a line for each of them, and the first layer
    where a sample's result depends on more than itself.

    Example: tvmq verify resnet18.tvmq --data pictures.npz
    Example: tvmq verify minilm.tvmq --data texts.npz --invariance --mask attention_mask

    data     Pictures or arrays, as `tvmq run` takes them; of a model with a state an .npz of sequences or first calls.
    samples  Number of samples to compare; the NumPy definition is slow.
    backend  Compare with an emulated chip instead: a description in a JSON file, its name, or "module:object".
    invariance  Compare samples run alone with the same in batches, in other orders, by several threads, and padded.
    mask  With --invariance: the input that is 0 where a position is padding; the only one with "mask" in its name.
    left  With --invariance: put padding in front as well, of models that count positions by the mask.
    """
    check_inputs(data)
    refuse_float_model(model)
    exe = tvmq.load(model, sha256=sha256)
    if exe.states:
        _verify_sequences(exe, data, invariance=invariance, samples=samples, as_json=as_json, quiet=quiet)
        return
    arrays, _ = read_inputs(exe, data, most=max(samples, batch_of(exe)), tokenizer=tokenizer, quiet=quiet)
    if invariance:
        _check_invariance(exe, arrays, mask, left=left, samples=samples, as_json=as_json, quiet=quiet)
        return
    arrays, shared = split_shared(exe, arrays)
    size = batch_size([info for info in exe.input_info if info.name not in shared])
    batches = Batches({name: array[: max(samples, size)] for name, array in arrays.items()}, size)
    with step("verify", len(batches), quiet=quiet) as advance:
        batches.advance = advance
        result = tvmq.verify(exe, [{**feed, **shared} for feed in batches] if shared else batches, backend=backend)
    print_result(result, as_json=as_json)
    if not result.exact:
        raise typer.Exit(FAILED)


def _verify_sequences(
    exe: Any, data: Path, *, invariance: bool, samples: int, as_json: bool, quiet: bool
) -> None:
    """Compare a model that hands a state to its next call, over the sequences of an .npz file."""
    sequences = _single_calls(exe, data, samples)
    if invariance:
        _check_invariance(exe, sequences or data, None, left=False, samples=samples, as_json=as_json, quiet=quiet)
        return
    result = tvmq.verify(exe, sequences or data)
    print_result(result, as_json=as_json)
    if not result.exact:
        raise typer.Exit(FAILED)


def _single_calls(exe: Any, data: Path, samples: int) -> list[list[Arrays]]:
    """Samples as `tvmq quantize` takes them, each a sequence of one call from the first state; none where the file
    holds sequences.
    """
    wanted = dict(exe.states.inputs)
    arrays = read_arrays(data, list(wanted))
    if any(array.ndim != len(wanted[name]) or wanted[name][:1] != (1,) for name, array in arrays.items()):
        return []
    count = min(samples, *(len(array) for array in arrays.values()))
    return [[{name: array[row : row + 1] for name, array in arrays.items()}] for row in range(count)]


def _check_invariance(
    exe: Any, arrays: Arrays | Path | list[list[Arrays]], mask: str | None, *, left: bool, samples: int,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    with step("verify", quiet=quiet) as advance:
        result = tvmq.check_invariance(exe, arrays, mask=mask, left=left, samples=samples, advance=advance)
    print_result(result, as_json=as_json)
    if not result.holds:
        raise typer.Exit(FAILED)
