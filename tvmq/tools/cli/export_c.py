"""`tvmq export-c`: a model as C for microcontrollers."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.errors import CalibrationError, ConfigError
from tvmq.tools.cli.arguments import Batch, Json, MaxBytes, Quiet, Sha256, Shapes
from tvmq.tools.cli.console import print_json, print_rows, size_text, step
from tvmq.tools.cli.opening import open_model_and_data
from tvmq.tools.cli.options import with_qconfig_options
from tvmq.tools.cli.picture_options import (
    Colors,
    Crops,
    Layouts,
    Means,
    Normalizes,
    Resizes,
    Scales,
    Stds,
    picture_options,
)  # fmt: skip
from tvmq.tools.cli.quantize import check_files, quantize_with_progress
from tvmq.tools.cli.quantize_options import Count
from tvmq.tools.cli.samples import Feeds
from tvmq.tools.cli.trust import load_without_code


@with_qconfig_options
def export_c(
    model: Annotated[
        Path,
        typer.Argument(
            help="Model saved by `tvmq quantize --partition-conversions fully_integral`, or a float model (.onnx, "
            ".pt2), which is quantized that way."
        ),
    ],
    config: tvmq.QConfig,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write NAME.c and NAME.h to.")],
    name: Annotated[
        str | None,
        typer.Option("--name", help="Prefix of files, functions and macros. Default: name of the model."),
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="Samples for a float model, in any form that `tvmq quantize` takes.")
    ] = None,
    samples: Count = None,
    batch: Batch = 1,
    max_bytes: MaxBytes = None,
    shape: Shapes = None,
    sha256: Sha256 = None,
    normalize: Normalizes = None,
    mean: Means = None,
    std: Stds = None,
    scale: Scales = None,
    color: Colors = None,
    layout: Layouts = None,
    resize: Resizes = None,
    crop: Crops = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a model as one C file and one header for microcontrollers: integers only, no heap, no libraries.

    NAME_run takes and returns codes; the header documents their scales and the RAM that the arena needs.

    Example: tvmq export-c keywords.tvmq -o firmware/

    Example: tvmq export-c keywords.onnx --data samples.npz -o firmware/
    """
    c_name = name if name is not None else _to_c_name(model)
    if model.suffix == ".tvmq":
        if data is not None:
            raise ConfigError("export-c: --data is for a float model; a saved model is quantized already")
        module = load_without_code(model, sha256).module
    else:
        check_files(data, None, None, ())
        pictures = picture_options(normalize, mean, std, scale, color, layout, resize, crop)
        try:
            job = open_model_and_data(
                model, data, _with_integral_core(config), pictures=pictures, random=False, samples=samples, held_out=0,
                shape=shape or (), batch=batch, max_bytes=max_bytes, quiet=quiet,
            )  # fmt: skip
        except CalibrationError as error:
            if data is None:
                raise ConfigError(f"export-c: '{model}' is a float model; give samples with --data") from error
            raise
        feeds = None if job.samples is None else Feeds(job.samples, job.split.calibration, job.size)
        module = quantize_with_progress(job.mod, job.params, feeds, job.config, quiet=quiet)
    with step("export", quiet=quiet):
        export = tvmq.export_c(module, output, name=c_name)
    _report(export, as_json=as_json)


def _with_integral_core(config: tvmq.QConfig) -> tvmq.QConfig:
    """The options with those added that make an integer-only core, where they were not given."""
    wanted = {"partition_conversions": "fully_integral"}
    if config.requantize == "float":
        wanted["requantize"] = "fixed_point"
    return replace(config, **wanted, given=(config.given or frozenset()) | wanted.keys())  # type: ignore[arg-type]


def _to_c_name(model: Path) -> str:
    """The model's name as one in C.

    >>> _name_of(Path("models/key-words.v2.onnx")), _name_of(Path("2.tvmq"))
    ('key_words_v2', 'model_2')
    """
    text = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in model.stem)
    return text if text[:1].isalpha() else f"model_{text}"


def _report(export: Any, *, as_json: bool) -> None:
    if as_json:
        print_json({key: str(value) if isinstance(value, Path) else value for key, value in asdict(export).items()})
        return
    rows = [
        ["written", f"{export.source} and {export.header.name}"],
        ["constants", f"{size_text(export.constant_bytes)} of flash, in addition to the code"],
        ["arena", f"{export.arena_bytes} bytes of RAM; no plan needs less than {export.least_bytes}"],
        ["function", f"{export.source.stem}_run, {export.steps} steps"],
    ]
    print_rows(rows)
