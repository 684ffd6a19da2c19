"""`tvmq quantize`: from a trained float model to a saved integer executable, and its comparison with float.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.backends import backend_named
from tvmq.backends.consistency import why_not_compiled
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import (
    RESULT,
    Count,
    HeldOut,
    Json,
    Output,
    Quiet,
    ReadOptions,
    Texts,
    check_targets,
    parse_targets,
)
from tvmq.tools.cli.bound import check_bound, refuse_on_guard, resolve_guard
from tvmq.tools.cli.console import notice, print_json, step
from tvmq.tools.cli.data import check_data
from tvmq.tools.cli.doubts import doctor_command, find_doubts
from tvmq.tools.cli.exit_codes import DOUBTFUL
from tvmq.tools.cli.files import check_output
from tvmq.tools.cli.formats import Formats
from tvmq.tools.cli.measure import Measurements, measure
from tvmq.tools.cli.metrics import check_labels, metric_named
from tvmq.tools.cli.model import check_model
from tvmq.tools.cli.opening import QuantizationJob, open_model_and_data
from tvmq.tools.cli.options import with_qconfig_options
from tvmq.tools.cli.picture_inputs import keep_preprocessing
from tvmq.tools.cli.picture_options import PictureOptions
from tvmq.tools.cli.samples import Feeds
from tvmq.tools.cli.summary import choose_output, next_steps, summary_lines

# Weight of a batch in each of at most three reads of the data, about its time: outlier channels, ranges and
# histograms, moments of the products. Measured on two residual networks: 4, 60, 4 and 4, 14, 2.
READ_WEIGHTS = (1, 6, 1)
DEFAULT_GUARD = "sqnr >= 20"
MADE_FOR = ("portable", "this-machine")


@with_qconfig_options
def quantize(
    model: Path, *, config: tvmq.QConfig, output: Output = None, data: str | None = None, random_data: bool = False,
    samples: Count = None, held_out: HeldOut = None, measurements: Measurements,
    guard: Annotated[str, typer.Option(rich_help_panel=RESULT)] = DEFAULT_GUARD,
    max_drop: Annotated[float | None, typer.Option(min=0, rich_help_panel=RESULT)] = None, force: bool = False,
    reading: ReadOptions, formats: Formats, target: Texts = None, backend: str | None = None,
    made_for: Annotated[str | None, Enum("MadeFor", [(name, name) for name in MADE_FOR]), typer.Option("--for")] = None,
    tune: Annotated[float | None, typer.Option(min=0)] = None, pictures: PictureOptions, as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Quantize a trained ONNX or torch model and save it as an executable for this CPU.

    Then int8 is compared with float on held-out samples: agreement, accuracy if there are labels, and speed.

    Example: tvmq quantize resnet18.onnx --data pictures/

    Example: tvmq quantize encoder.onnx --data texts.npz --output encoder.tvmq --rule "*/head/*=float"

    Example: tvmq quantize detector.onnx --data my_data.py:batches --metric my_data.py:mean_precision

    model        Trained float model: an .onnx file, or a .pt2 program of torch.export.
    data         About 100 typical samples: a folder of pictures (subfolders are classes); an .npz with one array per
                 input, or an .npy for a single input, samples first and preprocessed; or a function, as module:function
                 or file.py:function, that yields batches: arrays, {input: array}, or tuples with the label last. Not
                 needed if the model is quantized already, or with --calibrate-mode global_scale. Without data, scales
                 are computed at run time (--activations dynamic).
    random_data  Calibrate on random values, to measure speed. Accuracy suffers.
    guard        Lowest SQNR of the outputs against float, in dB, or 'none'. Where 8 bits do not reach it, layers get
                 more precision; if that is not enough, the model is not saved and the exit code is 3.
    max_drop     Bound the drop of --metric from float instead of the SQNR: in points for top1 and top5, else in units
                 of the metric. Example: --metric top1 --max-drop 0.5
    made_for     CPUs that the weights are chosen for. portable, the default: 8 bits, fast on every CPU; this-machine:
                 the finest 8 bits if this CPU has VNNI, else 7 bits, a little faster and less accurate.
    force        Overwrite an output file that is not a saved model; save a model below the bound of --guard.
    tune         Measure for this many seconds which layers are faster in float on this machine, and keep them float.
    """
    start = time.perf_counter()
    labels, metric = measurements.labels, measurements.metric
    check_files(data, labels, metric, (*formats.files, measurements.save_samples))
    check_targets(target)
    chosen = choose_output(model, output, force=force)
    check_model(model)
    if output is None and not quiet:
        notice(f"output: {chosen} (--output chooses another)")
    requested_guard = check_bound(guard, metric, max_drop)
    built_for = parse_targets(target)
    quantize_target = backend_for(formats.backend(backend), built_for, made_for)
    config = formats.with_required_options(config)
    job = open_model_and_data(
        model, data, config, backend=quantize_target, tune=tune, reading=reading, pictures=pictures,
        random=random_data, samples=samples, held_out=held_out, quiet=quiet,
    )  # fmt: skip
    doctor = doctor_command(model, data, reading.tokenizer)
    find_doubts(job, labels, doctor, run=measurements.compare, quiet=quiet)
    used_guard = resolve_guard(
        requested_guard, job, metric, max_drop, labels, outputs=measurements.outputs, quiet=quiet
    )
    with refuse_on_guard(force=force):
        qmod = quantize_with_progress(
            job.mod, job.params, job.calibration, job.config, backend=quantize_target, quiet=quiet, tune=tune,
            guard=used_guard,
        )  # fmt: skip
    outputs = Outputs(model, chosen, formats, built_for)
    facts = save_measured(qmod, outputs, job, replace(measurements, doctor=doctor), quiet=quiet)
    facts["seconds"] = time.perf_counter() - start
    report(facts, model, chosen, data, job, tokenizer=reading.tokenizer, as_json=as_json, quiet=quiet)


def backend_for(backend: str | None, target: str | list[str], made_for: str | None = None) -> str | None:
    """Target for `tvmq.quantize`; None for "llvm" alone, so that the model does not depend on this machine.

    made_for  of MADE_FOR; "this-machine": "llvm", whose weights are those that this CPU multiplies fastest
    raises    ConfigError for a backend with arithmetic that compiled code lacks, since commands save compiled code, and
              for this machine beside a backend or another CPU
    """
    if made_for == "this-machine":
        if backend is not None or target != "llvm":
            raise ConfigError(
                f"--for: this-machine chooses weights for this CPU, and {(backend or target)!r} is named too; leave "
                "out --for, or --backend and --target"
            )
        return "llvm"
    if backend is not None and backend.endswith(".json"):  # code is loaded later, by `tvmq.quantize`
        described = backend_named(backend)
        if (why := why_not_compiled(described)) is not None:
            raise ConfigError(
                f"quantize: backend {described.name}: {why}, but saved models are compiled; "
                "use tvmq.quantize and tvmq.emulate in Python"
            )
    return backend or (target if isinstance(target, str) and target.startswith("llvm ") else None)


@dataclass(frozen=True)
class Outputs:
    """Model file, output files, and the target to compile for."""

    model: Path
    output: Path
    formats: Formats
    target: str | list[str]


def save_measured(
    qmod: Any, files: Outputs, job: QuantizationJob, options: Measurements, *, quiet: bool
) -> dict[str, Any]:
    """Save and measure the model; returns the facts of the summary except the seconds."""
    qmod = keep_preprocessing(qmod, job)
    files.formats.write(qmod)
    with step("build", quiet=quiet):
        exe = tvmq.build(qmod, target=files.target)
    exe.save(files.output)
    return {
        "model": str(files.model), "output": str(files.output),
        "model_bytes": job.model_bytes, "output_bytes": files.output.stat().st_size,
        "exported": {str(path): path.stat().st_size for path in files.formats.files if path is not None},
        "about_files": files.formats.remarks(files.output),
        **measured_facts(qmod, exe, job, options, quiet=quiet),
    }  # fmt: skip


def measured_facts(
    qmod: Any, exe: Any, job: QuantizationJob, options: Measurements, *, quiet: bool
) -> dict[str, Any]:
    """Facts of the summary that do not depend on files: data, agreement, speed, layers."""
    from tvmq.tools.analysis.lane_products import describe_weights  # loads TVM

    return {
        "inputs": {info.name: f"{info.dtype} {info.shape}" for info in exe.input_info},
        **job.facts(), **measure(exe, job, options, quiet=quiet), "weights": describe_weights(qmod),
        **tvmq.explain(qmod).to_dict(), "doubts": list(job.doubts),
        "without_data": job.samples is None and not job.is_prequantized,
    }  # fmt: skip


def check_files(data: str | None, labels: Path | None, metric: str | None, outputs: Sequence[Path | None]) -> None:
    """Check files before the model is read.

    raises   DataError for data and labels that cannot be opened, ConfigError for an unknown metric, OutputError for
             outputs that cannot be written
    """
    if data is not None:
        check_data(data)
    if labels is not None:
        check_labels(labels)
    if metric is not None:
        metric_named(metric)
    for path in outputs:
        if path is not None:
            check_output(path)


def quantize_with_progress(
    mod: Any, params: Any, data: Any, config: tvmq.QConfig, *, backend: str | None = None, quiet: bool = False,
    tune: float | None = None, guard: tvmq.Guard | None = None,
) -> Any:  # fmt: skip
    """Quantize to an integer module, with a progress bar over the reads of the data.

    data   batches that know their length and call `advance` after each, or None
    """
    total = None if data is None else count_weighted(data)
    with step("quantize", total, quiet=quiet, counted=False) as advance, config:
        if data is not None:
            data.advance = count_by_weight(advance, len(data))
        return tvmq.quantize(mod, params, data, target=backend, tune=tune, guard=guard)


def count_weighted(data: Feeds) -> int:
    """Total of `count_by_weight`."""
    return sum(READ_WEIGHTS) * len(data)


def count_by_weight(advance: Callable[[], None], batches: int) -> Callable[[], None]:
    """Progress callback for batches: counts each with the weight of its pass over the data.

    >>> calls = []
    >>> count = count_by_weight(lambda: calls.append(1), 2)
    >>> for _ in range(4):
    ...     count()
    >>> len(calls)  # two of the first read, two of the second
    14
    """
    done = 0

    def call() -> None:
        nonlocal done
        for _ in range(READ_WEIGHTS[min(done // batches, len(READ_WEIGHTS) - 1)]):
            advance()
        done += 1

    return call


def data_options(job: QuantizationJob, data: str | None, tokenizer: Path | None) -> str:
    """Options that give the same sounds or texts to the saved model; "" for other data."""
    if data is None or job.preprocessing is None or isinstance(job.preprocessing, PicturePreprocessing):
        return ""
    return shlex.join(["--data", data, *(["--tokenizer", str(tokenizer)] if tokenizer else [])])


def report(
    facts: dict[str, Any], model: Path, output: Path, data: str | None, job: QuantizationJob, *,
    tokenizer: Path | None = None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Print the facts and the next steps, as text or as JSON; a doubt about the data is an exit code of its own."""
    saved = facts.get("samples_saved")
    steps = next_steps(facts, model, output, saved or data, data_options(job, data, tokenizer))
    if as_json:
        print_json({**facts, "next": [line.split("  # ")[0].strip() for line in steps]})
    else:
        print("\n".join(summary_lines(facts)))
        if not quiet:
            notice("next:\n" + "\n".join(steps))
    if facts.get("doubts"):
        raise typer.Exit(DOUBTFUL)
