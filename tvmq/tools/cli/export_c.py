"""`tvmq export-c`: a model as C for microcontrollers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import tvmq
from tvmq.errors import CalibrationError, ConfigError
from tvmq.tools.cli.arguments import Count, Json, OutputPath, Quiet, ReadOptions
from tvmq.tools.cli.console import print_json, print_rows, size_text, step
from tvmq.tools.cli.model import check_model
from tvmq.tools.cli.opening import open_model_and_data
from tvmq.tools.cli.options import with_options, with_qconfig_options
from tvmq.tools.cli.picture_options import PictureOptions
from tvmq.tools.cli.quantize import check_files, quantize_with_progress
from tvmq.tools.cli.trust import load_without_code


@with_qconfig_options
def export_c(
    model: Path, *, config: tvmq.QConfig, output: OutputPath, name: str | None = None, data: str | None = None,
    samples: Count = None, reading: ReadOptions, sha256: str | None = None, pictures: PictureOptions,
    as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write a model as one C file and one header for microcontrollers: integers only, no heap, no libraries.

    NAME_run takes and returns codes; the header documents their scales and the RAM that the arena needs.

    Example: tvmq export-c keywords.tvmq -o firmware/

    Example: tvmq export-c keywords.onnx --data samples.npz -o firmware/

    model   Model saved by `tvmq quantize --partition-conversions fully_integral`, or a float model (.onnx, .pt2), which
            is quantized that way.
    output  Folder to write NAME.c and NAME.h to.
    name    Prefix of files, functions and macros. Default: name of the model.
    data    Samples for a float model, in any form that `tvmq quantize` takes.
    """
    check_files(data, None, None, ())
    check_model(model, saved=True)
    c_name = name if name is not None else _to_c_name(model)
    if model.suffix == ".tvmq":
        if data is not None:
            raise ConfigError("export-c: --data is for a float model; a saved model is quantized already")
        module = load_without_code(model, sha256).module
        _check_core(model, module)
    else:
        try:
            job = open_model_and_data(
                model, data, _with_integral_core(config), reading=reading, pictures=pictures, samples=samples,
                held_out=0, quiet=quiet,
            )  # fmt: skip
        except CalibrationError as error:
            if data is None:
                raise ConfigError(f"export-c: '{model}' is a float model; give samples with --data") from error
            raise
        module = quantize_with_progress(job.mod, job.params, job.calibration, job.config, quiet=quiet)
    with step("export", quiet=quiet):
        export = tvmq.export_c(module, output, name=c_name)
    _report(export, as_json=as_json)


def _with_integral_core(config: tvmq.QConfig) -> tvmq.QConfig:
    """The options with those added that make an integer-only core, where they were not given."""
    rounding = {"requantize": "fixed_point"} if config.requantize == "float" else {}
    return with_options(config, partition_conversions="fully_integral", **rounding)


def _check_core(model: Path, module: Any) -> None:
    """Refuse a saved model that was not quantized for integers alone, in the command's words. raises ConfigError"""
    from tvmq.graph.module_functions import is_partitioned  # loads TVM

    if not is_partitioned(module):
        raise ConfigError(
            f"export-c: '{model}' also computes in float; quantize it again with --partition-conversions "
            "fully_integral --requantize fixed_point, or export the float model: tvmq export-c MODEL.onnx --data ..."
        )


def _to_c_name(model: Path) -> str:
    """The model's name as one in C.

    >>> _to_c_name(Path("models/key-words.v2.onnx")), _to_c_name(Path("2.tvmq"))
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
