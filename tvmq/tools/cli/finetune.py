"""`tvmq finetune`: quantize, then train the integers on the float model's outputs, without labels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import tvmq
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import (
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
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.doubts import doctor_command, find_doubts
from tvmq.tools.cli.formats import Formats
from tvmq.tools.cli.measure import Measurements
from tvmq.tools.cli.model import check_model
from tvmq.tools.cli.opening import QuantizationJob, open_model_and_data
from tvmq.tools.cli.options import with_qconfig_options
from tvmq.tools.cli.picture_options import PictureOptions
from tvmq.tools.cli.quantize import (
    Outputs,
    backend_for,
    check_files,
    count_by_weight,
    count_weighted,
    report,
    save_measured,
)
from tvmq.tools.cli.samples import Feeds
from tvmq.tools.cli.summary import choose_output

if TYPE_CHECKING:
    from tvmq import training

MINUTES = 5.0
PANEL = "Training"


@with_qconfig_options
def finetune(
    model: Path, *, config: tvmq.QConfig, data: str, output: Output = None,
    minutes: Annotated[float | None, typer.Option(min=0, rich_help_panel=PANEL)] = None,
    steps: Annotated[int | None, typer.Option(min=1, rich_help_panel=PANEL)] = None,
    seed: Annotated[int, typer.Option(min=0, rich_help_panel=PANEL)] = 0,
    accumulators: Annotated[int | None, typer.Option(min=8, max=32, rich_help_panel=PANEL)] = None,
    samples: Count = None, held_out: HeldOut = None, measurements: Measurements, force: bool = False,
    reading: ReadOptions, onnx: Path | None = None, dialect: str = "onnxruntime", target: Texts = None,
    backend: str | None = None, pictures: PictureOptions, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Quantize a trained model and train its integers on the float model's outputs; no labels are needed.

    Useful for low bit widths, where rounding alone costs accuracy. The output file is a valid model at any time: first
    the untrained one, then each better one, so little is lost if the process is killed. Ctrl-C saves the best so far.
    Needs tvmq[torch].

    Example: tvmq finetune resnet18.onnx --data pictures/ --nbit-weight 4 --minutes 10

    Example: tvmq finetune keywords.onnx --data samples.npz --nbit-weight 4 --nbit-input 4 --steps 2000 -o keywords.tvmq

    model         Trained float model: an .onnx file, or a .pt2 program of torch.export.
    data          100 to 1000 samples, in any form that `tvmq quantize` takes. Labels are ignored.
    minutes       Training time. Default: 5 if --steps is not given.
    steps         Number of training steps. Unlike --minutes, it makes the result reproducible.
    seed          Seed of the sample order.
    accumulators  Bits of the accumulators that all sums must fit in. 16 makes 8-bit weights fast without VNNI.
    force         Overwrite an output file that is not a saved model.
    """
    start = time.perf_counter()
    check_files(data, measurements.labels, measurements.metric, (onnx, measurements.save_samples))
    check_targets(target)
    chosen = choose_output(model, output, force=force)
    check_model(model)
    check_torch()
    if output is None and not quiet:
        notice(f"output: {chosen} (--output chooses another)")
    built_for = parse_targets(target)
    job = open_model_and_data(
        model, data, config, backend=backend_for(backend, built_for), reading=reading, pictures=pictures,
        samples=samples, held_out=held_out, dynamic_batch=True, quiet=quiet,
    )  # fmt: skip
    if job.is_prequantized or job.samples is None:
        raise ConfigError("finetune: the model is quantized already; give the float model")
    measurements = replace(measurements, doctor=doctor_command(model, data, reading.tokenizer))
    find_doubts(job, measurements.labels, measurements.doctor, run=False, quiet=quiet)
    files = Outputs(model, chosen, Formats(onnx, dialect=dialect), built_for)
    seconds = 60 * MINUTES if minutes is None and steps is None else None if minutes is None else 60 * minutes
    how = tvmq.training.Distill(steps=steps, seconds=seconds, seed=seed, accumulators=accumulators)
    qmod, learned = train_and_save(job, files, backend_for(backend, built_for), how, reading.batch, quiet=quiet)
    job.mod = with_batch(job.mod, reading.batch)
    facts = save_measured(qmod, files, job, measurements, quiet=quiet)
    facts.update(finetune=asdict(learned), seconds=time.perf_counter() - start)
    report(facts, model, chosen, data, job, tokenizer=reading.tokenizer, as_json=as_json, quiet=quiet)


def check_torch() -> None:
    """Check before anything is read that torch is installed. raises ConfigError"""
    try:
        import tvmq.training  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(f"finetune: {error}") from error


def train_and_save(
    job: QuantizationJob, files: Outputs, backend: str | None, how: training.Distill, batch: int, *, quiet: bool
) -> tuple[Any, Any]:
    """Train, and save each better state to the output at once; returns the integer module and the training's result."""
    from tvmq import training

    calibration = job.calibration
    assert job.samples is not None and calibration is not None
    with step("quantize", count_weighted(calibration), quiet=quiet, counted=False) as advance:
        calibration.advance = count_by_weight(advance, len(calibration))
        net = training.prepare(
            job.mod, job.params, calibration, target=backend, config=job.config, accumulators=how.accumulators
        )

    def keep(better: Any) -> None:
        module = with_batch(training.convert(better), batch)
        tvmq.build(module, target=files.target).save(files.output)

    apart = job.split.comparison if job.split.apart else ()
    learn = Feeds(job.samples, np.setdiff1d(np.arange(len(job.samples)), apart), job.size)
    with step("finetune", 100, quiet=quiet, counted=False) as advance:
        learned = training.finetune(net, learn, replace(how, keep=keep, watch=count_hundredths(advance)))
    if learned.interrupted and not quiet:
        notice(f"finetune: interrupted after {learned.steps} steps; the best state so far was saved")
    return with_batch(training.convert_with_note(net, learned), batch), learned


def with_batch(mod: Any, batch: int) -> Any:
    """The module with a dynamic batch fixed to this size."""
    from tvmq.graph.symbolic import dynamic_dimensions, with_sizes

    return with_sizes(mod, {name: batch for name, (_, axis) in dynamic_dimensions(mod).items() if axis == 0})


def count_hundredths(advance: Callable[[], None]) -> Callable[[Any], None]:
    """Progress callback of the training: calls `advance` after each hundredth of it."""
    reported = 0

    def watch(progress: Any) -> None:
        nonlocal reported
        while reported < int(100 * progress.done):
            reported += 1
            advance()

    return watch
