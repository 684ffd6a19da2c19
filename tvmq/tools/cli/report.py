"""`tvmq report`: a page about a quantized model.

Tests: tests/tools/report/test_report.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.errors import ConfigError, DataError, TargetError
from tvmq.tools.cli.arguments import Count, Json, OutputPath, Quiet, ReadOptions
from tvmq.tools.cli.bench import read_first_batch
from tvmq.tools.cli.bound import check_bound, refuse_on_guard, resolve_guard
from tvmq.tools.cli.console import notice, print_json, size_text, step, time_text
from tvmq.tools.cli.doubts import doctor_command, find_doubts
from tvmq.tools.cli.exit_codes import DOUBTFUL
from tvmq.tools.cli.extras import check_extra
from tvmq.tools.cli.files import check_output, write_output
from tvmq.tools.cli.measure import Measurements, measure
from tvmq.tools.cli.metrics import format_metric
from tvmq.tools.cli.model import check_model, load_executable
from tvmq.tools.cli.opening import QuantizationJob, open_model_and_data
from tvmq.tools.cli.options import with_qconfig_options
from tvmq.tools.cli.picture_options import PictureOptions
from tvmq.tools.cli.quantize import DEFAULT_GUARD, check_files, quantize_with_progress
from tvmq.tools.cli.samples import Feeds

SAVED = ".tvmq"
COMPARED = 32  # samples; figures of layers hardly change with more
REPEAT = 20
WITHOUT_FLOAT = (
    "This page covers a saved model alone: errors by layer and histograms need the float model; give it with "
    "--quantized and --data."
)
WITHOUT_DATA = "There are no errors by layer and no histograms: they need data; give --data."


@with_qconfig_options
def report(
    model: Path, *, config: tvmq.QConfig, output: OutputPath = Path("report.html"), data: str | None = None,
    quantized_model: Annotated[Path | None, typer.Option("--quantized")] = None, search: Path | None = None,
    samples: Count = None, held_out: Annotated[int | None, typer.Option(min=0)] = None, labels: Path | None = None,
    guard: str = DEFAULT_GUARD, threads: Annotated[int, typer.Option(min=1)] = 1, reading: ReadOptions,
    pictures: PictureOptions, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write one page about a quantized model: its network as a picture, errors and times of its layers, histograms.

    Color the network by precision, error or time; select a layer to see its histogram between the thresholds, and its
    entry in the ledger. The page is a single self-contained file, and says what could not be measured, and why.

    Example: tvmq report resnet18.onnx --data pictures/ -o report.html

    Example: tvmq report resnet18.onnx --quantized resnet18.tvmq --data samples.npz

    Example: tvmq report resnet18.tvmq

    model            Trained float model (.onnx, .pt2), which is quantized as `tvmq quantize` does; or a saved .tvmq,
                     which is shown as it is.
    output           HTML page to write.
    data             Samples in any form that `tvmq quantize` takes: a folder of pictures, an .npz or .npy, or
                     file.py:function. Needed for errors by layer and histograms.
    quantized_model  Report on this .tvmq, which was made from MODEL; MODEL and --data measure its error. Without this
                     option MODEL is quantized now, with the options below.
    search           front.json of a search, whose Pareto front the page shows as well.
    samples          Calibrate on this many samples, the first ones.
    held_out         Samples held out to judge the result.
    labels           Labels in the order of the samples (.npy, .txt), or a .csv.
    guard            Lowest SQNR of the outputs against float, in dB, or 'none'.
    threads          Threads of the measurements.
    """
    check_output(output)
    check_extra("report", "jinja2", "which writes the page", "report")
    check_files(data, labels, None, ())
    for path in filter(None, (model, quantized_model)):
        check_model(path, saved=True)
    from tvmq.tools.report.assemble_report import assemble  # loads TVM
    from tvmq.tools.report.front import read_front

    front = read_front(search) if search is not None else None
    doubts: list[str] = []
    if model.suffix == SAVED:
        facts = _saved_facts(model, data, quantized_model, threads, quiet=quiet)
    else:
        exe = load_executable(quantized_model) if quantized_model else None
        requested_guard = check_bound(guard, None, None)
        job = open_model_and_data(
            model, data, config, reading=reading, pictures=pictures, samples=samples, held_out=held_out, quiet=quiet,
        )  # fmt: skip
        doctor = doctor_command(model, data, reading.tokenizer)
        find_doubts(job, labels, doctor, run=True, quiet=quiet)
        doubts = job.doubts
        if exe is None:
            exe = _build_int8(job, requested_guard, quiet=quiet)
        facts = _float_facts(exe, job, Measurements(threads=threads, labels=labels, doctor=doctor), quiet=quiet)
    title = (quantized_model or model).name
    page = assemble(title=title, front=front, **facts)
    text = page.html().encode("utf-8")
    write_output(output, text)
    if as_json:
        print_json({"output": str(output), "bytes": len(text), "title": title, "missing": page.missing,
                    "guard": page.guard, "layers": page.rows})  # fmt: skip
    else:
        for sentence in page.missing:
            if not quiet and sentence not in doubts:
                notice(sentence)
        print(f"  saved      {output} ({size_text(len(text))}, {len(page.rows)} layers)")
    if doubts:
        raise typer.Exit(DOUBTFUL)


def write_report(path: Path, exe: Any, job: QuantizationJob, *, title: str) -> None:
    """Write the page about a model that was just quantized, with the job's samples."""
    check_extra("report", "jinja2", "which writes the page", "report")
    from tvmq.tools.report.assemble_report import assemble  # loads TVM

    facts = _float_facts(exe, job, Measurements(bench=False), quiet=True)
    write_output(path, assemble(title=title, **facts).html().encode("utf-8"))


def _saved_facts(model: Path, data: str | None, other: Path | None, threads: int, *, quiet: bool) -> dict[str, Any]:
    """Facts about a saved model alone."""
    if other is not None:
        raise ConfigError(f"--quantized: MODEL is '{model}', a saved model already; give the float model as MODEL")
    exe = load_executable(model)
    file = Path(data) if data is not None and Path(data).suffix in (".npz", ".npy") else None
    facts = {"exe": exe, "missing": [WITHOUT_FLOAT], "tiles": [("saved", size_text(model.stat().st_size), "")]}
    return _time_layers(facts, file, threads, quiet=quiet)


def _build_int8(job: QuantizationJob, requested_guard: tvmq.Guard | None, *, quiet: bool) -> Any:
    """Quantize and build as `tvmq quantize` does; a model below its guard is reported all the same."""
    used_guard = resolve_guard(requested_guard, job, None, None, None, quiet=quiet)
    with refuse_on_guard(force=True):
        qmod = quantize_with_progress(job.mod, job.params, job.calibration, job.config, quiet=quiet, guard=used_guard)
    with step("build", quiet=quiet):
        return tvmq.build(qmod)


def _float_facts(exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool) -> dict[str, Any]:
    """Facts about the quantized model, from the float model and its data."""
    if job.samples is None:
        return _time_layers({"exe": exe, "missing": [WITHOUT_DATA]}, None, options.threads, quiet=quiet)
    index, size = job.split.comparison, job.size
    tiles = _tiles(measure(exe, job, options, quiet=quiet))
    with step("compare layers", quiet=quiet):
        most = max(1, COMPARED // size) * size
        comparison = tvmq.compare((job.mod, job.params), exe, Feeds(job.samples, index[:most], size))
    facts = {"exe": exe, "tiles": tiles, "comparison": comparison, "missing": list(job.doubts)}
    facts |= _measure_layers(exe, job.samples.take(index[:1].repeat(size)), options.threads, facts, quiet=quiet)
    return facts | _collect_histograms(exe, job, facts, quiet=quiet)


def _time_layers(facts: dict[str, Any], file: Path | None, threads: int, *, quiet: bool) -> dict[str, Any]:
    """The facts with times of the layers, on the data of a file or on random values; or with why there are none."""
    try:
        inputs = read_first_batch(facts["exe"], file)
    except DataError as error:
        return {**facts, "missing": [*facts["missing"], f"Times were not measured: {error}."]}
    return {**facts, **_measure_layers(facts["exe"], inputs, threads, facts, quiet=quiet)}


def _measure_layers(
    exe: Any, inputs: Mapping[str, Any], threads: int, facts: Mapping[str, Any], *, quiet: bool
) -> dict[str, Any]:
    """Profile of the layers, or why there is none."""
    try:
        with step("measure layers", quiet=quiet):
            return {"profile": exe.profile(inputs, repeat=REPEAT, threads=threads)}
    except (TargetError, ConfigError) as error:
        return {"missing": [*facts["missing"], f"Times of layers were not measured: {error}."]}


def _collect_histograms(exe: Any, job: QuantizationJob, facts: Mapping[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Statistics for histograms, or why there are none."""
    from tvmq.tools.report.histograms import statistics_of

    why = None
    if job.is_prequantized:
        why = "the model has its own scales, so nothing was calibrated"
    elif exe.ledger.config.get("activations", "static") != "static":
        why = "scales are computed at run time, so there are no thresholds"
    if why is not None:
        return {"missing": [*facts["missing"], f"There are no histograms: {why}."]}
    assert job.samples is not None
    with step("count values", quiet=quiet):
        return {"statistics": statistics_of(job.mod, job.params, job.calibration, exe.ledger)}


def _tiles(facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Agreement, accuracy and speed for the head of the page."""
    compared, speed = facts.get("comparison") or {}, facts.get("speed")
    tiles = []
    one = next(iter(compared.get("outputs", {}).values()), None)
    if one is not None:
        on = f"{compared['samples']} samples, {compared['data']}"
        if "same_class" in one:
            tiles.append(("same class as float", f"{one['same_class']:.2%}", on))
        if one["sqnr_db"] is not None:
            tiles.append(("signal to error", f"{one['sqnr_db']:.1f} dB", on))
    if "metric" in compared:
        ours, theirs = (format_metric(compared["metric"], compared[kind]) for kind in ("int8", "float"))
        tiles.append((compared["metric"], ours, f"float {theirs}"))
    if speed and speed["steady"] and speed["ratio"] is not None:
        both = f"float {time_text(speed['float_seconds'])}, int8 {time_text(speed['int8_seconds'])}"
        tiles.append(("speed", f"{speed['ratio']:.2f}x", both))
    return tiles
